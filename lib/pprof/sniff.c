/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/pprof/sniff.h"

#include <stdbool.h>
#include <string.h>

#include "lib/pprof/collapsed.h"
#include "lib/pprof/perfscript.h"

#define LEGACY "convert it with `go tool pprof -proto`"

static const struct {
	const char *magic;
	size_t n;
	const char *what;
} formats[] = {
#define MAGIC(text) text, sizeof(text) - 1
	{MAGIC("PERFILE2"), "a perf.data file: print it with perf script, which is read"},
	{MAGIC("2ELIFREP"), "a perf.data file: print it with perf script, which is read"},
	{MAGIC("FLR\0"), "a Java Flight Recorder file: convert it with jfrconv -o pprof"},
	{MAGIC("heap profile:"), "a gperftools or Go text heap profile: " LEGACY},
	{MAGIC("heap_v2/"), "a jemalloc heap dump: convert it with jeprof --raw"},
	{MAGIC("goroutine profile:"),
	 "a Go text profile (debug=1): fetch it without debug="},
	{MAGIC("threadcreate profile:"),
	 "a Go text profile (debug=1): fetch it without debug="},
	{MAGIC("--- threadz"), "a gperftools thread profile: " LEGACY},
	{MAGIC("--- Thread"), "a gperftools thread profile: " LEGACY},
	{MAGIC("--- contention"), "a text contention profile: " LEGACY},
	{MAGIC("--- mutex:"), "a text mutex profile: " LEGACY},
	{MAGIC("--- heapz"), "a text heap profile: " LEGACY},
	{MAGIC("--- growthz"), "a text heap growth profile: " LEGACY},
	{MAGIC("{"), "JSON, not pprof: export it as pprof from the tool that made it"},
	{MAGIC("<"), "a page or picture, not pprof: fetch the profile itself"},
	{MAGIC("\x7f"
	       "ELF"),
	 "a program, not a profile"},
	{MAGIC("\x28\xb5\x2f\xfd"), "zstd data: decompress it first (zstd -dc)"},
	{MAGIC("BZh"), "bzip2 data: decompress it first (bzip2 -dc)"},
	{MAGIC("\xfd"
	       "7zXZ"),
	 "xz data: decompress it first (xz -dc)"},
	{MAGIC("\xef\xbb\xbf"), "text with a byte order mark: take it off"},
	{MAGIC("\xff\xfe"), "text in UTF-16: make it UTF-8"},
	{MAGIC("\xfe\xff"), "text in UTF-16: make it UTF-8"},
	{MAGIC("PK\x03\x04"), "a zip archive: unpack it first"},
};

/*
 * gperftools' binary CPU profile: words of 4 or 8 bytes in either order: 0, 3, 0, period, 0
 * (its header: count 0, 3 words follow, version 0, period, padding).
 */
static bool is_gperftools_cpu(const uint8_t *p, size_t n, size_t word, bool big)
{
	uint64_t v;
	size_t i, k;

	if (n < 3 * word)
		return false;
	for (i = 0; i < 3; i++) {
		for (v = k = 0; k < word; k++)
			v |= (uint64_t)p[i * word + k] << 8 * (big ? word - 1 - k : k);
		if (v != (i == 1 ? 3 : 0))
			return false;
	}
	return true;
}

/* All of the first bytes are printable ASCII, which no pprof message begins with. */
static bool is_text(const uint8_t *p, size_t n)
{
	size_t i;

	if (n > 256)
		n = 256;
	for (i = 0; i < n; i++) {
		if ((p[i] < 0x20 && p[i] != '\n' && p[i] != '\t' && p[i] != '\r') ||
		    p[i] > 0x7e)
			return false;
	}
	return n >= 8;
}

const char *sniff_foreign(const uint8_t *p, size_t n)
{
	size_t i;

	for (i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
		if (n < formats[i].n || memcmp(p, formats[i].magic, formats[i].n))
			continue;
		/* "<module> 3" is no page */
		return formats[i].n == 1 && collapsed_sniff(p, n) ? NULL
								  : formats[i].what;
	}
	if (is_gperftools_cpu(p, n, 8, false) || is_gperftools_cpu(p, n, 8, true) ||
	    is_gperftools_cpu(p, n, 4, false) || is_gperftools_cpu(p, n, 4, true))
		return "a gperftools binary CPU profile: " LEGACY;
	if (is_text(p, n) && !collapsed_sniff(p, n) && !perfscript_sniff(p, n))
		return "text of an unknown kind, not a pprof profile";
	return NULL;
}
