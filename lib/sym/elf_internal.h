/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the parts of the ELF reader share. Not for use outside elf*.c.
 */
#pragma once

#include <stdint.h>

#include "lib/sym/elf.h"

/* All n bytes at off, or an error; opens a suspended file again. */
int elf_read_at(struct elf_file *f, void *p, uint64_t n, uint64_t off, struct err *e);

/* Is it a file that elf_unpack() knows? That: a descriptor of its contents, at most max bytes. */
bool elf_is_packed(int fd);
int elf_unpack(int fd, uint64_t size, uint64_t max, struct err *e);

/* Free the contents of a section. */
void elf_drop_section(struct elf_file *f, struct elf_section *s);

/* elf_module.c: give the code of a relocatable file its addresses. */
void elf_place_code(struct elf_file *f);
/* The section's relocations, or NULL; write what they say into its contents in memory. */
const struct elf_section *elf_relocations(const struct elf_file *f,
					  const struct elf_section *s);
int elf_relocate(struct elf_file *f, struct elf_section *s, struct err *e);

/* A supplementary file of DWARF 5 has its id in .debug_sup. */
void elf_supplementary_id(struct elf_file *f);

/* Look for build ids in the notes at [off, off + n); the first of each kind is kept. */
void elf_note_scan(struct elf_file *f, uint64_t off, uint64_t n, uint64_t align);
