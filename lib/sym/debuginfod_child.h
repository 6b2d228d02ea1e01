/* SPDX-License-Identifier: Apache-2.0 */
/* What debuginfod.c and its child say to each other. Not for use elsewhere. */
#pragma once

#include <limits.h>
#include <stdint.h>

#include "lib/sym/elf.h"

struct debuginfod_request {
	uint32_t kind, n;
	uint64_t limit_ns; /* from when it is read */
	uint8_t id[BUILD_ID_MAX];
};

struct debuginfod_reply {
	int32_t code;	     /* 0 or an errno, positive */
	char text[PATH_MAX]; /* the path, or what is wrong; ends in NUL */
};

/*
 * Load the library, reply with how that went, then answer requests from the socket until its
 * other end is closed. Never returns.
 */
void debuginfod_child(int fd, const char *urls) __attribute__((noreturn));
