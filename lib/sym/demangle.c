/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/sym/demangle.h"

#include <ctype.h>
#include <setjmp.h>
#include <string.h>
#include <libiberty/demangle.h>

#include "lib/sym/simplify.h"

#define MANGLED_MAX (16u << 10) /* bytes of a name that is worth decoding */

bool demangle_parse_mode(const char *s, enum demangle_mode *out)
{
	static const char *const names[] = {"none", "simple", "templates", "full"};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (strcmp(s, names[i]))
			continue;
		*out = (enum demangle_mode)i;
		return true;
	}
	return false;
}

struct sink {
	struct buf *out;
	jmp_buf full;
};

static void add(const char *p, size_t n, void *ctx)
{
	struct sink *s = ctx;

	/* there is no other way to stop a demangler */
	if (buf_put(s->out, p, n))
		longjmp(s->full, 1);
}

/*
 * The callback forms work on the stack, so that leaving by longjmp loses nothing (but for Rust
 * v0, the buffer of one identifier in punycode).
 */
static bool decode(const char *name, bool rust, int options, struct buf *out)
{
	struct sink s = {.out = out};
	int r;

	buf_clear(out);
	if (setjmp(s.full))
		return false;
	r = rust ? rust_demangle_callback(name, options, add, &s)
		 : cplus_demangle_v3_callback(name, options, add, &s);
	return r && out->len;
}

static bool is_rust_v0(const char *name)
{
	return !strncmp(name, "_R", 2);
}

/* _ZN…17h<16 hex digits>E, maybe with a suffix: Rust's older mangling, in C++ clothes. */
static bool is_rust_legacy(const char *name)
{
	const char *h;
	size_t i;

	if (strncmp(name, "_ZN", 3))
		return false;
	for (h = strstr(name, "17h"); h; h = strstr(h + 1, "17h")) {
		for (i = 0; i < 16 && isxdigit((unsigned char)h[3 + i]); i++)
			;
		if (i == 16 && h[19] == 'E' && (!h[20] || h[20] == '.'))
			return true;
	}
	return false;
}

static bool is_cxx(const char *name)
{
	return !strncmp(name, "_Z", 2) || !strncmp(name, "___Z", 4);
}

static bool demangle_rust(const char *name, enum demangle_mode mode, struct buf *out)
{
	if (!decode(name, true, DMGL_NO_OPTS, out))
		return false;
	if (mode == DEMANGLE_SIMPLE)
		simplify_rust(out);
	return true;
}

static bool demangle_any(const char *name, enum demangle_mode mode, struct buf *out)
{
	if (is_rust_v0(name) || is_rust_legacy(name)) {
		if (demangle_rust(name, mode, out))
			return true;
		if (is_rust_v0(name))
			return false;
	}
	if (!is_cxx(name))
		return false;
	if (mode == DEMANGLE_FULL)
		return decode(name, false, DMGL_PARAMS | DMGL_ANSI, out);
	if (!decode(name, false, DMGL_NO_OPTS, out))
		return false;
	simplify_cxx(out, mode == DEMANGLE_TEMPLATES);
	return true;
}

bool demangle(const char *name, enum demangle_mode mode, struct buf *out)
{
	size_t n = strnlen(name, MANGLED_MAX), plt = strlen(DEMANGLE_PLT);
	char base[MANGLED_MAX];

	buf_clear(out);
	if (mode == DEMANGLE_NONE || n == MANGLED_MAX)
		return false;
	if (n <= plt || strcmp(name + n - plt, DEMANGLE_PLT))
		return demangle_any(name, mode, out);
	memcpy(base, name, n - plt);
	base[n - plt] = 0;
	return demangle_any(base, mode, out) && !buf_puts(out, DEMANGLE_PLT);
}

/* Length of the clone suffix at the end of the name; 0. */
static size_t clone_suffix(const char *name, size_t n)
{
	static const struct {
		const char *word;
		bool number; /* must be followed by .N */
	} kinds[] = {
		{".isra", true}, {".part", true},     {".constprop", true},
		{".llvm", true}, {".lto_priv", true}, {".cold", false},
	};
	size_t end = n, digits = n, i, len;

	while (digits && isdigit((unsigned char)name[digits - 1]))
		digits--;
	if (digits < n && digits > 1 && name[digits - 1] == '.')
		end = digits - 1;
	for (i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		len = strlen(kinds[i].word);
		if (kinds[i].number && end == n)
			continue;
		if (end > len && !memcmp(name + end - len, kinds[i].word, len))
			return n - end + len;
	}
	return 0;
}

size_t demangle_clone_base(const char *name, size_t n)
{
	size_t s;

	while ((s = clone_suffix(name, n)))
		n -= s;
	return n;
}
