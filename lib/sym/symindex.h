/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All that is known of one object, as one flat file: what each stretch of its addresses answers,
 * the locations and functions of those answers, names still mangled, and the segments, so that
 * profiles can be symbolized by it alone. Sorted, of fixed-size records, little-endian.
 *
 * A file is mapped where elf_map.h allows that. What is read is not trusted: sizes and the
 * header's checksum are checked at once, every number when it is used; a location's caller is
 * always of a lower number, so that chains end. Each block of some KiB has a checksum, which is
 * looked at when something in the block is: a look-up that comes to a damaged one has no answer.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/base/intern.h"
#include "lib/sym/elf.h"
#include "lib/sym/object.h"

#define SYMINDEX_MAX (2ull << 30) /* bytes of a file */

struct symindex;

/* The best that it was made from, worst first: exported symbols, symbols, debug information. */
enum symindex_quality { SYMINDEX_EXPORTS, SYMINDEX_SYMBOLS, SYMINDEX_LINES };

/* What identifies an index. */
struct symindex_key {
	uint8_t build_id[BUILD_ID_MAX];
	uint32_t build_id_n;
	uint64_t files; /* of the debug files that it was made from, see object_index.c */
};

/* Takes over the n bytes at p, on failure too. */
/* -ENOTSUP: of another version. -EBADMSG: damaged, or something else. */
int symindex_parse(uint8_t *p, size_t n, struct symindex **out, struct err *e);
int symindex_read(const char *path, struct symindex **out, struct err *e);
void symindex_free(struct symindex *x);
/* All its tables are as they were written: reads all of it. */
bool symindex_is_whole(const struct symindex *x);

struct symindex_key symindex_key(const struct symindex *x);
enum symindex_quality symindex_quality(const struct symindex *x);
/* The segments of the object: a file without sections and contents. The caller's. */
struct elf_file *symindex_elf(const struct symindex *x);

/* The answer for an address, in numbers of the index; SYM_DAMAGED: not as it was written. */
struct sym_answer symindex_find(const struct symindex *x, uint64_t vaddr);
/* False for a number that is none, and for damage. Strings end within the index. */
bool symindex_location(const struct symindex *x, uint32_t id, struct sym_location *out);
bool symindex_function(const struct symindex *x, uint32_t id, struct sym_function *out);
uint32_t symindex_nlocations(const struct symindex *x);
uint32_t symindex_nfunctions(const struct symindex *x);
uint32_t symindex_nstrings(const struct symindex *x);
bool symindex_string(const struct symindex *x, uint32_t id, struct str *out);
uint64_t symindex_bytes(const struct symindex *x);  /* memory in it, not what is mapped */
struct str symindex_file(const struct symindex *x); /* all of it as it was read */

/* Making one: the parts in order of their numbers. */
struct symindex_parts {
	struct symindex_key key;
	const struct elf_file *elf; /* segments and type */
	enum symindex_quality quality;
	const uint64_t *starts; /* sorted; the last answer holds to the end */
	const struct sym_answer *answers;
	size_t n;
	const struct object *object; /* whose numbers the answers are in */
	size_t nlocations, nfunctions, nstrings;
};

int symindex_write(const struct symindex_parts *p, struct buf *out, struct err *e);
/* Put the checksums of what looks like an index right. */
void symindex_seal(uint8_t *p, size_t n);
