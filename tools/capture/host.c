/* SPDX-License-Identifier: Apache-2.0 */
/* The machine that is captured. */
#include "tools/capture/host.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "bpf/event.h"
#include "lib/base/xalloc.h"

#define CPUS_MAX 65536

static bool read_line(const char *path, char *out, size_t size)
{
	FILE *f = fopen(path, "re");
	bool ok = f && fgets(out, size, f);

	if (f)
		fclose(f);
	return ok;
}

/* "0-3,5,7-8" */
static int read_cpus(struct host *h, struct err *e)
{
	static const char path[] = "/sys/devices/system/cpu/online";
	char text[4096], *p = text;
	unsigned long first, last;

	if (!read_line(path, text, sizeof(text)))
		return err_errno(e, errno, "%s", path);
	for (;; p++) {
		first = last = strtoul(p, &p, 10);
		if (*p == '-')
			last = strtoul(p + 1, &p, 10);
		for (; first <= last && last < CPUS_MAX; first++) {
			XGROW(h->cpus, h->ncpus, h->cpus_cap);
			h->cpus[h->ncpus++] = first;
		}
		if (*p != ',')
			break;
	}
	return h->ncpus ? 0 : err_set(e, EINVAL, "%s: no CPU", path);
}

/* The value of the first line of /proc/cpuinfo that names the processor. */
static char *read_cpu_model(void)
{
	static const char *const keys[] = {"model name", "cpu model", "Processor"};
	FILE *f = fopen("/proc/cpuinfo", "re");
	char *line = NULL, *colon, *model = NULL;
	size_t size = 0, i;

	while (f && !model && getline(&line, &size, f) > 0) {
		line[strcspn(line, "\n")] = 0;
		colon = strstr(line, ": ");
		for (i = 0; colon && i < sizeof(keys) / sizeof(*keys); i++) {
			if (!strncmp(line, keys[i], strlen(keys[i])))
				model = xstrdup(colon + 2);
		}
	}
	free(line);
	if (f)
		fclose(f);
	return model ? model : xstrdup("unknown");
}

static unsigned int read_max_stack(void)
{
	char text[32];
	unsigned long n = EVENT_KERNEL_MAX;

	if (read_line("/proc/sys/kernel/perf_event_max_stack", text, sizeof(text)))
		n = strtoul(text, NULL, 10);
	return n < EVENT_KERNEL_MAX ? n : EVENT_KERNEL_MAX;
}

int host_init(struct host *h, struct err *e)
{
	struct utsname u;

	*h = (struct host){0};
	if (uname(&u) < 0)
		return err_errno(e, errno, "uname");
	h->name = xstrdup(u.nodename);
	h->kernel_release = xstrdup(u.release);
	h->cpu_model = read_cpu_model();
	h->max_stack = read_max_stack();
	return read_cpus(h, e);
}

void host_release(struct host *h)
{
	free(h->name);
	free(h->kernel_release);
	free(h->cpu_model);
	free(h->cpus);
	*h = (struct host){0};
}
