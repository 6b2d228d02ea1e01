/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One error: a status and one line of text, filled in once by the place that knows.
 *
 * Library functions take `struct err *e` last and return 0 (or a count) on success and a
 * negative errno on failure, with e filled in. Callers that know more (the file, the member)
 * put it in front with err_prefix(). Nobody in lib/ prints.
 */
#pragma once

#include <stdarg.h>

struct err {
	int code;	/* errno value, positive; 0 = no error */
	char msg[1024]; /* no newline, lower case; may hold bytes of hostile input: escape */
};

/* Set the message and return -code, so that `return err_set(e, EINVAL, "…")` reads well. */
int err_set(struct err *e, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* As err_set(), with ": strerror(code)" after the text. */
int err_errno(struct err *e, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Put "PREFIX: " in front of the message; returns -e->code. */
int err_prefix(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
