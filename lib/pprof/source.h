/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The profiles of a command's operands, one after another, as inflated pprof messages.
 *
 * Operands: files, `-` (standard input), directories (their *.pb.gz, recursively, in byte order
 * of path; one holding a .profpipe-store mark is refused). No operand is standard input.
 * Sniffed per file: gzip members, the text twin, a plain pprof message; known foreign formats
 * are refused by name with the command that converts them. Empty members are skipped; a regular
 * file of no bytes at all is an error, as a truncated one would be.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/err.h"
#include "lib/pprof/paths.h"

#define SOURCE_MAX_SIZE_DEFAULT (4ull << 30)

struct source;

/* `files` is copied. max_size bounds one inflated profile, in bytes; 0 = the default. */
struct source *source_new(char *const *files, size_t n, uint64_t max_size);
/* The same of a list, which it takes over and frees. */
struct source *source_new_paths(struct paths *paths, uint64_t max_size);
/* Before the first message: n threads read and decode ahead. Without them all is the same. */
void source_set_jobs(struct source *s, size_t n);
void source_free(struct source *s);

/*
 * The next message: 1, 0 at the end, negative on error. The bytes are good until the next call.
 * After an error the call may be repeated: it goes on with the next member where the member's
 * end is known, else with the next operand (--skip-bad).
 */
int source_next(struct source *s, const uint8_t **msg, size_t *n, struct err *e);

/* After source_next(): it is known that nothing follows. Of a pipe it may not be. */
bool source_is_last(const struct source *s);

/*
 * The last message decoded, for reader_open_decoded(), if threads have done that; msg and n of
 * source_next() are nothing then. Else NULL.
 */
struct message *source_message(const struct source *s);

/*
 * Where the message of the last source_next() came from: "a.pb.gz", "a.pb.gz: member 3" (when
 * it is not the first and only one so far), "standard input". Errors of source_next() have it
 * in front already.
 */
const char *source_name(const struct source *s);

/* The file alone, as its operand or directory gives it. */
const char *source_path(const struct source *s);

size_t source_count(const struct source *s); /* messages given so far */
