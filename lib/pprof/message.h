/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One pprof message decoded into flat arrays and checked, before it meets a store.
 *
 * Two passes: the tables (strings, functions, mappings, locations, wherever they stand), then
 * the samples. The arrays are reused from message to message; nothing is allocated per row. The
 * rules are those of google/pprof's decoder and its CheckValid; what differs is in
 * profpipe-stream(5). Strings point into the message's bytes, which must stay.
 *
 * Internal to lib/pprof: others use reader.h.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/err.h"
#include "lib/pprof/idmap.h"

struct raw_str {
	const uint8_t *p;
	uint32_t n;
};

/* In the rows below strings are indexes into strs, all checked. */
struct raw_type {
	uint32_t type, unit;
};

struct raw_mapping {
	uint64_t id, start, limit, offset;
	uint32_t file, build_id, flags;
};

struct raw_function {
	uint64_t id;
	int64_t start_line;
	uint32_t name, system_name, file;
};

struct raw_line {
	uint64_t function_id;
	int64_t line, column;
	uint32_t function; /* row */
};

struct raw_location {
	uint64_t id, mapping_id, address;
	uint32_t mapping; /* row or ID_NONE */
	uint32_t lines, nlines;
	bool folded;
};

struct raw_label {
	uint32_t key, str, unit; /* str 0: numeric */
	int64_t num;
};

/*
 * Labels of a sample, and of all those whose bytes are the same from the first label on: samples
 * of one producer have few different ones.
 */
struct raw_labelset {
	const uint8_t *bytes; /* NULL: other fields stand between these labels */
	size_t n;
	size_t labels, labels_end; /* rows */
};

/* Frames end where it says and begin where those of the sample before end. */
struct raw_sample {
	size_t frames_end;
	uint32_t labelset; /* row, or ID_NONE */
};

struct message {
	const uint8_t *start, *end;
	struct raw_str *strs;
	struct raw_type *types;
	struct raw_mapping *mappings;
	struct raw_function *functions;
	struct raw_line *lines;
	struct raw_location *locations;
	struct raw_sample *samples;
	uint32_t *frames; /* location rows, leaf first */
	int64_t *values;  /* ntypes per sample */
	struct raw_label *labels;
	struct raw_labelset *labelsets;
	uint32_t *comments;
	size_t nstrs, ntypes, nmappings, nfunctions, nlines, nlocations, nsamples,
		nframes, nvalues, nlabels, nlabelsets, ncomments;
	size_t strs_cap, types_cap, mappings_cap, functions_cap, lines_cap, locations_cap,
		samples_cap, frames_cap, values_cap, labels_cap, labelsets_cap,
		comments_cap;

	struct raw_type period_type;
	int64_t period, time_ns, duration_ns;
	uint32_t drop_frames, keep_frames, default_type, doc_url;

	bool tables_only; /* set by the user: leave the samples alone */

	/* scratch of the decoder */
	size_t sample_fields; /* seen in the first pass … */
	const uint8_t *samples_start,
		*samples_end;	   /* … and the first and behind the last */
	uint64_t max_str;	   /* largest string index seen in the first pass … */
	const uint8_t *max_str_at; /* … and where */
	const char *max_str_field;
	struct idmap function_ids, mapping_ids, location_ids;
	struct id_table labelset_ids;	   /* by bytes */
	uint64_t budget_bytes, used_bytes; /* of all arrays together */
};

/* What decoded forms of messages of max_size bytes may take. */
uint64_t message_budget(uint64_t max_size);

void message_init(struct message *m, uint64_t budget_bytes);
void message_release(struct message *m);

/* Decode and check: 0, or negative with the byte offset and the field in e. */
int message_decode(struct message *m, const uint8_t *p, size_t n, struct err *e);
