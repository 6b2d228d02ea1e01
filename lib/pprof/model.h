/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one in-memory form of profiles, for all programs.
 *
 * A store holds what profiles are made of, each distinct thing once, under dense ids: strings,
 * mappings, functions, locations, stacks (whole sequences of location ids, leaf first) and
 * label sets. A profile is a header plus samples: (stack id, label set id) -> one value per
 * sample type. Many profiles may share a store; after reading, work on samples is work on
 * integers, and anything computed per stack or per label set can be remembered by its id.
 *
 * A store is made in one of two modes, which decide when two mappings are one:
 *   STORE_EXACT   all fields equal. Locations keep their run-time address. For one-profile
 *                 filters (symbolize, -f text): writing gives back what was read.
 *   STORE_MERGED  build ids equal, else file names equal. Locations hold the *position* in the
 *                 file (address - start + offset), so that one code address is one location in
 *                 every process. What the mapping spans is kept per profile.
 * Read addresses and mapping rows by profile_address() and profile_mapping(): right in both.
 *
 * Everything dies with the store. Pointers returned by accessors are good until the next
 * store_* call of the same kind; ids are good for ever.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/err.h"
#include "lib/base/idtable.h"
#include "lib/base/intern.h"

enum mapping_flags {
	MAPPING_HAS_FUNCTIONS = 1 << 0,
	MAPPING_HAS_FILENAMES = 1 << 1,
	MAPPING_HAS_LINE_NUMBERS = 1 << 2,
	MAPPING_HAS_INLINE_FRAMES = 1 << 3,
};

struct mapping {
	uint64_t start, limit,
		offset;		 /* [start, limit) at run time, offset in the file */
	uint32_t file, build_id; /* string ids */
	uint32_t flags;		 /* enum mapping_flags */
};

struct function {
	uint32_t name, system_name, file; /* string ids */
	int64_t start_line;
};

struct line {
	uint32_t function; /* function id */
	int64_t line, column;
};

struct location {
	uint64_t address; /* STORE_MERGED: position; see profile_address() */
	uint32_t mapping; /* mapping id or ID_NONE */
	uint32_t nlines;  /* innermost (most inlined) first; 0 = not symbolized */
	uint32_t lines;	  /* index of the first one in store.lines */
	bool folded;
};

struct label {
	uint32_t key, str; /* string ids; str counts unless numeric */
	uint32_t unit;	   /* string id, numeric labels only */
	bool numeric;
	int64_t num;
};

enum store_mode { STORE_EXACT, STORE_MERGED };

/* Sequences of fixed-size items in one pool: stacks (uint32_t) and label sets (struct label). */
struct seq {
	uint32_t off, n; /* in items of the pool */
};

struct store {
	enum store_mode mode;
	struct intern strings;
	struct mapping *mappings;
	struct function *functions;
	struct location *locations;
	struct line *lines;
	struct seq *stacks;
	uint32_t *frames; /* pool of the stacks: location ids, leaf first */
	struct seq *labelsets;
	struct label
		*labels; /* pool of the label sets: by key in byte order, then as read */
	size_t nmappings, nfunctions, nlocations, nlines, nstacks, nframes, nlabelsets,
		nlabels;
	size_t mappings_cap, functions_cap, locations_cap, lines_cap, stacks_cap,
		frames_cap, labelsets_cap, labels_cap;
	struct id_table mapping_ids, function_ids, location_ids, stack_ids, labelset_ids;
	/* pairs of label keys known to stand in order, by the first one's id */
	uint32_t *next_key;
	size_t next_key_n, next_key_cap;
};

struct store *store_new(enum store_mode mode);
void store_free(struct store *st);

static inline uint32_t store_puts(struct store *st, const char *s)
{
	return intern_puts(&st->strings, s);
}
static inline struct str store_str(const struct store *st, uint32_t id)
{
	return st->strings.strs[id];
}
/* The string up to its first NUL, for printf and friends. */
static inline const char *store_cstr(const struct store *st, uint32_t id)
{
	return st->strings.strs[id].p;
}

/* Each returns the id of the equal thing, made now if there was none. */
uint32_t store_mapping(struct store *st, const struct mapping *m);
uint32_t store_function(struct store *st, const struct function *f);
/* `address` is what goes into struct location: a position when the store is STORE_MERGED. */
uint32_t store_location(struct store *st, uint32_t mapping, uint64_t address, bool folded,
			const struct line *lines, uint32_t nlines);
/* Lines for a location that had none. From then on it is not found by what it is made of. */
void store_set_lines(struct store *st, uint32_t location, const struct line *lines,
		     uint32_t n);
uint32_t store_stack(struct store *st, const uint32_t *locations, uint32_t n);
/* Room for as many more, so that little moves while they come. */
void store_reserve(struct store *st, size_t locations, size_t stacks, size_t frames);
void store_reserve_lines(struct store *st, size_t lines);
uint32_t store_labelset(struct store *st, struct label *labels,
			uint32_t n); /* sorts labels */

/*
 * For batches, so that cache misses overlap: hash all and prefetch their slots of the table; get
 * the likely id of each, and prefetch what it stands for; then look up all. `likely` may be
 * ID_NONE, or any other id.
 */
uint64_t store_stack_hash(const uint32_t *locations, uint32_t n);
uint64_t store_function_hash(const struct function *f);
uint32_t store_function_hashed(struct store *st, uint64_t h, uint32_t likely,
			       const struct function *f);
uint64_t store_location_hash(uint32_t mapping, uint64_t address, bool folded,
			     const struct line *lines, uint32_t nlines);
uint32_t store_location_hashed(struct store *st, uint64_t h, uint32_t likely,
			       uint32_t mapping, uint64_t address, bool folded,
			       const struct line *lines, uint32_t nlines);
uint32_t store_stack_hashed(struct store *st, uint64_t h, uint32_t likely,
			    const uint32_t *locations, uint32_t n);

static inline const uint32_t *store_frames(const struct store *st, uint32_t stack,
					   uint32_t *n)
{
	*n = st->stacks[stack].n;
	return st->frames + st->stacks[stack].off;
}
static inline const struct label *store_labels(const struct store *st, uint32_t set,
					       uint32_t *n)
{
	*n = st->labelsets[set].n;
	return st->labels + st->labelsets[set].off;
}
static inline const struct line *store_lines(const struct store *st, uint32_t location)
{
	return st->lines + st->locations[location].lines;
}
/* Mappings with neither file nor build id keep raw addresses: positions mean nothing there. */
static inline bool store_mapping_is_raw(const struct store *st, uint32_t mapping)
{
	return !st->mappings[mapping].build_id && !st->mappings[mapping].file;
}
/* True for the kernel's and for pseudo mappings: "[kernel.kallsyms]…", "[vdso]"… and modules. */
bool store_is_kernel_mapping(const struct store *st, const struct mapping *m);

struct value_type {
	uint32_t type, unit; /* string ids */
};

struct header {
	struct value_type *types; /* owned */
	size_t ntypes;
	struct value_type period_type;
	int64_t period, time_ns, duration_ns;
	uint32_t default_type, drop_frames, keep_frames, doc_url; /* string ids */
	uint32_t *comments;					  /* string ids, owned */
	size_t ncomments;
};

void header_release(struct header *h);
void header_copy(struct header *dst, const struct header *src); /* dst: uninitialised */

/* What a merged mapping spans in one profile (STORE_MERGED). */
struct extent {
	uint64_t base;		   /* least start - offset; without a file: least start */
	uint64_t min_off, max_end; /* least offset, greatest offset + size (limit) */
	uint32_t file;	/* string id of the least non-empty name in byte order */
	uint32_t flags; /* or-ed enum mapping_flags */
	bool used;
};

struct sample {
	uint32_t stack, labelset;
};

struct profile {
	struct store *store; /* not owned */
	struct header h;
	struct sample *samples;
	int64_t *values; /* h.ntypes per sample */
	size_t nsamples, samples_cap, values_cap;
	struct id_table sample_ids;
	struct extent *extents; /* by mapping id, STORE_MERGED */
	size_t nextents, extents_cap;
	uint32_t
		main_mapping; /* STORE_EXACT: written first, also without samples; or ID_NONE */
};

struct profile *profile_new(struct store *st);
void profile_free(struct profile *p);

/* Room for as many more samples. */
void profile_reserve(struct profile *p, size_t samples);
/*
 * Add values to the sample (stack, labelset), made now if there was none. -EOVERFLOW names the
 * sample type and the leaf function; the profile is then good only for freeing.
 */
int profile_add(struct profile *p, uint32_t stack, uint32_t labelset,
		const int64_t *values, struct err *e);

/* Before profile_add(), for batches: stage 0 for all, then stage 1. */
void profile_prefetch(const struct profile *p, uint32_t stack, uint32_t labelset,
		      int stage);

/* Note in a STORE_MERGED profile that one of its samples came through this run-time mapping. */
void profile_extend(struct profile *p, uint32_t mapping, const struct mapping *row);

/* Run-time address of a location, and the row of a mapping, as this profile would write them. */
uint64_t profile_address(const struct profile *p, uint32_t location);
struct mapping profile_mapping(const struct profile *p, uint32_t mapping);

static inline const int64_t *profile_values(const struct profile *p, size_t sample)
{
	return p->values + sample * p->h.ntypes;
}

/* Index of the default sample type: by name, else the last one. Types must not be empty. */
size_t profile_default_type(const struct profile *p);

/* Give a the samples of b, and b those of a; their headers and mappings stay. */
void profile_swap_samples(struct profile *a, struct profile *b);

/* Drop the samples whose values are all 0 (as merge and diff do). */
void profile_drop_zero(struct profile *p);

/* Append a comment if it is not there; the "profpipe: KEY=VALUE" form for the second. */
void profile_comment(struct profile *p, const char *text);
void profile_comment_kv(struct profile *p, const char *key, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
