/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/ui/progress.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define FIRST_NS 1000000000LL
#define EVERY_NS 200000000LL
#define LINE_MAX_BYTES 79 /* never wraps: it could not be taken back */

static int64_t monotonic_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

static void put(const char *line)
{
	/* a terminal that has gone is nobody's trouble here */
	if (write(STDERR_FILENO, line, strlen(line)) < 0)
		return;
}

void progress_start(struct progress *p, const struct cli *c)
{
	*p = (struct progress){.on = !c->quiet && isatty(STDERR_FILENO)};
	if (p->on)
		p->next_ns = monotonic_ns() + FIRST_NS;
}

void progress_show(struct progress *p, const char *fmt, ...)
{
	char text[LINE_MAX_BYTES + 1], line[LINE_MAX_BYTES + 16];
	va_list ap;
	int64_t now;

	if (!p->on)
		return;
	now = monotonic_ns();
	if (now < p->next_ns)
		return;
	p->next_ns = now + EVERY_NS;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	snprintf(line, sizeof(line), "\r%s\033[K", text);
	put(line);
	p->shown = true;
}

void progress_clear(struct progress *p)
{
	if (p->shown)
		put("\r\033[K");
	p->shown = false;
}
