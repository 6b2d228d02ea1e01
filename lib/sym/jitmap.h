/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of code that a program made while it ran, as its runtime wrote them down:
 *
 *	perf map	lines "START SIZE NAME", hexadecimal (tools/perf/Documentation/jit-interface.txt)
 *	jitdump		records of code that was loaded and moved, with lines
 *			(tools/perf/Documentation/jitdump-specification.txt)
 *
 * Both grow while they are read, so both are taken in pieces. Addresses are absolute. Where code
 * took the place of other code, the latest before the time asked for counts.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/base/err.h"

#define JITMAP_CODES_MAX (1u << 20)
#define JITMAP_LINES_MAX (4u << 20)
#define JITMAP_TEXT_MAX (64u << 20) /* bytes of names */

struct jit_line {
	uint64_t addr;
	const char *file;
	uint32_t line;
};

struct jit_code {
	uint64_t start, size;
	uint64_t time_ns; /* CLOCK_MONOTONIC; 0: from the beginning */
	uint64_t reach;	  /* the greatest end of this and all before it in order */
	const char *name;
	const char *file; /* "" where it is not told */
	uint32_t start_line;
	uint32_t seq;		/* in order of definition */
	uint32_t line0, nlines; /* in jitmap.lines, by address */
};

struct jitmap {
	struct arena text;
	size_t text_bytes;
	struct jit_code *codes;
	size_t n, cap;
	struct jit_line *lines;
	size_t nlines, lines_cap;
	uint64_t
		debug_addr; /* of the lines that wait for their code, from debug_line0 on */
	uint32_t debug_line0;
	uint32_t last_seq;
	bool sorted;
	bool headed; /* the header of a jitdump was read */
	bool timed;  /* its times are those of CLOCK_MONOTONIC */
	bool full;   /* there was more than we hold */
};

void jitmap_init(struct jitmap *m);
void jitmap_release(struct jitmap *m);

/* Bytes of memory that it takes. */
size_t jitmap_bytes(const struct jitmap *m);

/*
 * Take lines of a perf map from the n bytes at p: how many bytes were used, up to the last whole
 * line. A line that is none is passed over.
 */
size_t jitmap_feed_text(struct jitmap *m, const char *p, size_t n);

/*
 * Take records of a jitdump: how many bytes were used, up to the last whole record. -EBADMSG
 * for what is none: nothing more can be read from that file.
 */
int64_t jitmap_feed_dump(struct jitmap *m, const uint8_t *p, size_t n, struct err *e);

/* The code that held addr at a time; NULL if none is known. */
const struct jit_code *jitmap_find(struct jitmap *m, uint64_t addr, uint64_t time_ns);

/* Where in its source addr is; NULL if it is not told. */
const struct jit_line *jitmap_line(const struct jitmap *m, const struct jit_code *code,
				   uint64_t addr);
