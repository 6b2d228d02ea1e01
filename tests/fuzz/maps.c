/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target: the text of /proc/PID/maps, and what names in it tell. */
#include <stdint.h>
#include <stdlib.h>

#include "lib/base/xalloc.h"
#include "lib/sym/cgroup.h"
#include "lib/sym/maps.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	const char *p = (const char *)data, *end = p + n;
	char out[CGROUP_NAME_MAX], *name;
	struct maps_line m;
	int r;

	while (n && (r = maps_next(&p, end, &m)) != 0) {
		if (r < 0)
			continue;
		if (m.start >= m.end || m.name < (const char *)data ||
		    m.name + m.name_len > end)
			abort();
		name = xstrndup(m.name, m.name_len);
		cgroup_container_id(name, out);
		cgroup_pod_uid(name, out);
		cgroup_systemd_unit(name, out);
		free(name);
	}
	return 0;
}
