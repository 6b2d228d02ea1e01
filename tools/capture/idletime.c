/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/capture/idletime.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/buf.h"

#define TEXT_MAX                                                                         \
	(16u << 20) /* a line of some 100 bytes for each CPU, and one for interrupts */

void idletime_parse(const char *text, long ticks_per_s, uint64_t *ns, size_t ncpus)
{
	uint64_t idle, iowait;
	const char *line, *end;
	unsigned int cpu;

	memset(ns, 0, ncpus * sizeof(*ns));
	if (ticks_per_s <= 0)
		return;
	/* "cpu3 user nice system idle iowait ..." by CPU, after "cpu ...", which is their sum */
	for (line = text; line && !strncmp(line, "cpu", 3); line = end ? end + 1 : NULL) {
		end = strchr(line, '\n');
		if (line[3] != ' ' &&
		    sscanf(line, "cpu%u %*u %*u %*u %" SCNu64 " %" SCNu64, &cpu, &idle,
			   &iowait) == 3 &&
		    cpu < ncpus)
			ns[cpu] =
				(idle + iowait) * (1000000000ull / (uint64_t)ticks_per_s);
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
