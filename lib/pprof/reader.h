/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading one pprof message, in two steps, without an object per sub-message.
 *
 * reader_open() walks the whole message, fills scratch tables (strings, functions, mappings,
 * locations, wherever they stand) and checks everything that CheckValid of google/pprof checks;
 * after it the header can be looked at, and nothing in the message can fail any more but sums.
 * reader_into() then adds the samples to a profile; what is not referenced by a sample is never
 * interned. Errors name the byte offset in the message and the field.
 *
 * A reader is reused from message to message; its scratch memory grows to the largest.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/err.h"
#include "lib/pprof/model.h"

#define SAMPLE_DROP ID_NONE

/*
 * What happens to samples on their way into a profile; each function may be NULL. They are
 * called once per sample, so implementations remember by id. They may add to the store.
 */
struct sample_hooks {
	void *ctx;
	uint32_t (*labelset)(void *ctx, struct store *st,
			     uint32_t labelset); /* or SAMPLE_DROP */
	uint32_t (*stack)(void *ctx, struct store *st,
			  uint32_t stack); /* or SAMPLE_DROP */
	/* what is kept, as it is about to be added */
	void (*sample)(void *ctx, uint32_t stack, uint32_t labelset,
		       const int64_t *values);
	bool drop_zero; /* leave out samples whose values are all 0 */
	int64_t times;	/* values count so many times; 0 is 1 */
};

struct reader;

/* st must outlive the reader; max_size bounds a message's decoded form (4 times that; 0: default) */
struct reader *reader_new(struct store *st, uint64_t max_size);
/* From here on samples are not decoded: only headers are good, and the tables are checked. */
void reader_headers_only(struct reader *r);
void reader_free(struct reader *r);

/* msg must stay as it is until the next reader_open(). */
int reader_open(struct reader *r, const uint8_t *msg, size_t n, struct err *e);

/* The same of what message_decode() or source_message() gave; it must stay, too. */
struct message;
void reader_open_decoded(struct reader *r, struct message *m);

/* Header of the open message; strings are interned in the store. Valid until the next open. */
const struct header *reader_header(const struct reader *r);

/*
 * Add the samples of the open message to p, whose types must be as many as the message's.
 * The header of p is the caller's business.
 */
int reader_into(struct reader *r, struct profile *p, const struct sample_hooks *hooks,
		struct err *e);

/* One message to one new profile in st, header and all, by a reader of its own. */
int profile_decode(struct store *st, const uint8_t *msg, size_t n, struct profile **out,
		   struct err *e);
