/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/capture/idletime.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/buf.h"

#define TEXT_MAX                                                                         \
	(16u << 20) /* a line of some 100 bytes for each CPU, and one for interrupts */

/* The decimal number at *s, behind blanks: false when there is none on this line. */
static bool take_number(const char **s, uint64_t *v)
{
	char *end;

	while (**s == ' ')
		(*s)++;
	if (**s < '0' || **s > '9')
		return false;
	*v = strtoull(*s, &end, 10);
	*s = end;
	return true;
}

void idletime_parse(const char *text, long ticks_per_s, uint64_t *ns, size_t ncpus)
{
	/* "cpu3 user nice system idle iowait ..." by CPU, after "cpu ...", which is their sum */
	uint64_t v[6]; /* the CPU's number first */
	const char *line, *end, *s;
	size_t n;

	memset(ns, 0, ncpus * sizeof(*ns));
	if (ticks_per_s <= 0)
		return;
	for (line = text; line && !strncmp(line, "cpu", 3); line = end ? end + 1 : NULL) {
		end = strchr(line, '\n');
		s = line + 3;
		if (*s == ' ')
			continue;
		for (n = 0; n < 6 && take_number(&s, &v[n]); n++)
			;
		if (n == 6 && v[0] < ncpus)
			ns[v[0]] =
				(v[4] + v[5]) * (1000000000ull / (uint64_t)ticks_per_s);
	}
}

int idletime_read(uint64_t *ns, size_t ncpus)
{
	struct buf text = BUF_INIT(TEXT_MAX);
	int fd = open("/proc/stat", O_RDONLY | O_CLOEXEC), r = 0;
	ssize_t n;

	if (fd < 0)
		return -errno;
	do {
		r = buf_reserve(&text, 64 * 1024);
		if (r < 0)
			break;
		n = read(fd, text.data + text.len, 64 * 1024);
		if (n < 0)
			r = -errno;
		else
			text.len += (size_t)n;
	} while (r == 0 && n > 0);
	close(fd);
	if (r == 0)
		idletime_parse(buf_str(&text), sysconf(_SC_CLK_TCK), ns, ncpus);
	buf_release(&text);
	return r;
}
