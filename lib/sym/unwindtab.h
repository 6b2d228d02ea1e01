/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The unwind table of an ELF file, from its .eh_frame and, where that says nothing, its
 * .debug_frame: rows sorted by pc, each good up to the next. x86-64 and AArch64, little-endian.
 *
 * A function ends where the next one begins, whatever its size says: so do run-time unwinders,
 * which look for the last beginning. Of two that begin together the first in the file counts.
 * After a function comes a row UNWIND_NONE, unless another one begins within 16 bytes: those
 * are padding, and the row before is good there.
 *
 * Some rows no call frame information gives. A file's entry routine is outermost: where nothing
 * is said of it (ld.so's _start), it has a row UNWIND_END; so has Go's first function. arm64's vDSO, which has no call frame
 * information, has UNWIND_SIGNAL for its return from signal handlers.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "bpf/row.h"
#include "lib/base/err.h"
#include "lib/sym/elf.h"

/* A PT_LOAD segment with PF_X: which addresses a mapping of the file's bytes holds. */
struct unwind_segment {
	uint64_t offset, size; /* in the file, bytes */
	uint64_t pc;	       /* of its first byte, as in rows */
};

#define UNWIND_SEGMENTS_MAX 16

struct unwind_table {
	struct unwind_row *rows; /* allocated */
	size_t nrows;
	struct unwind_segment segments[UNWIND_SEGMENTS_MAX];
	size_t nsegments;
	uint16_t machine;    /* EM_X86_64, EM_AARCH64 */
	size_t nunsupported; /* of the rows */
};

struct unwind_limits {
	size_t max_rows; /* more: -E2BIG */
};

/*
 * Build the table of a file. 0, or negative errno with the cause in e: -ENOEXEC not such a
 * file, -ENODATA no unwind information, -EBADMSG damaged, -E2BIG too many rows. Only sections
 * of unwind information are read; elf_suspend() or elf_free() frees what f holds of them. A
 * file that is only in memory (vDSO) can be had through memfd_create().
 */
int unwind_table_build(struct elf_file *f, const struct unwind_limits *lim,
		       struct unwind_table *out, struct err *e);
/* The address that pc 0 stands for: of the lowest loaded page. */
uint64_t unwind_base(const struct elf_file *f);
void unwind_table_release(struct unwind_table *t);

/* The row for pc: NULL if there is none. */
const struct unwind_row *unwind_table_find(const struct unwind_table *t, uint32_t pc);
