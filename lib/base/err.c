/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/err.h"

#include <stdio.h>
#include <string.h>

/* ": tail" behind what is in msg; what is in front gives way, for the tail says the cause. */
static void append(struct err *e, const char *tail)
{
	size_t n = strlen(e->msg), tail_n = strlen(tail) + 2;

	if (tail_n >= sizeof(e->msg))
		n = 0;
	else if (n > sizeof(e->msg) - 1 - tail_n)
		n = sizeof(e->msg) - 1 - tail_n;
	snprintf(e->msg + n, sizeof(e->msg) - n, ": %s", tail);
}

int err_set(struct err *e, int code, const char *fmt, ...)
{
	va_list ap;

	e->code = code;
	va_start(ap, fmt);
	vsnprintf(e->msg, sizeof(e->msg), fmt, ap);
	va_end(ap);
	return -code;
}

int err_errno(struct err *e, int code, const char *fmt, ...)
{
	va_list ap;

	e->code = code;
	va_start(ap, fmt);
	vsnprintf(e->msg, sizeof(e->msg), fmt, ap);
	va_end(ap);
	append(e, strerror(code));
	return -code;
}

int err_prefix(struct err *e, const char *fmt, ...)
{
	char old[sizeof(e->msg)];
	va_list ap;

	memcpy(old, e->msg, sizeof(old));
	va_start(ap, fmt);
	vsnprintf(e->msg, sizeof(e->msg), fmt, ap);
	va_end(ap);
	append(e, old);
	return -e->code;
}
