/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames as a report shows them: what is left of (location, line) at the granularity asked
 * for, each distinct one once. The rules are those of google/pprof's graph nodes: a frame
 * without a function is known by its binary; "" names are told apart by file and line only.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/buf.h"
#include "lib/pprof/model.h"
#include "lib/query/query.h"

struct frame {
	/* the key; string ids, 0 where the granularity leaves it out */
	uint32_t name, file, binary;
	int64_t line;
	uint64_t address;
	bool inlined; /* somewhere it is inlined into another function */
	/* where it is, for details that are not part of the key: of several places the least */
	uint32_t where_file; /* string id */
	int64_t where_line;  /* of the function's start where that is known */
	uint32_t module;     /* string id of the mapping's file */
};

struct frames {
	const struct profile *p;
	enum granularity granularity;
	struct frame *v;
	size_t n, cap;
	struct id_table ids;
	uint32_t *pool; /* frame ids of the locations, outermost first */
	size_t npool, pool_cap;
	struct seq *by_location; /* n = 0: not used by any stack so far */
	size_t nlocations;
	uint32_t *
		clean_files; /* by string id: the path as reports write it; 0: not yet known */
	size_t nclean;
};

void frames_init(struct frames *f, const struct profile *p, enum granularity g);
void frames_release(struct frames *f);

/* Frame ids of a location, outermost first (at least one). Made when first asked for. */
const uint32_t *frames_of(struct frames *f, uint32_t location, uint32_t *n);

/* Append the name as pprof prints it: [address] [name] [file:line], "[binary]", "<unknown>". */
void frames_name(const struct frames *f, uint32_t frame, struct buf *out);

/* The last component of a path. */
struct str path_base(struct str path);
