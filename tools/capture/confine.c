/* SPDX-License-Identifier: Apache-2.0 */
/* What a child that reads the files of others gives up first. */
#include "tools/capture/confine.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

bool confine_files(int fd)
{
	/* out of the way of the first four */
	int kept = fcntl(fd, F_DUPFD, 4), null = open("/dev/null", O_RDWR), i;

	if (kept < 0 || null < 0)
		return false;
	for (i = 0; i < 3; i++) {
		if (dup2(null, i) < 0)
			return false;
	}
	return dup2(kept, 3) == 3 && syscall(SYS_close_range, 4, ~0u, 0) == 0;
}

bool confine_capabilities(uint32_t keep)
{
	struct __user_cap_header_struct h = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct d[2] = {{0}};

	if (syscall(SYS_capget, &h, d) < 0)
		return false;
	d[0].permitted &= keep;
	d[0].effective = d[0].permitted;
	d[0].inheritable = 0;
	memset(&d[1], 0, sizeof(d[1]));
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       syscall(SYS_capset, &h, d) == 0;
}
