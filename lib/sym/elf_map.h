/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory for large sections: pages of a file, or large pages of nothing.
 *
 * Pages of a file that is cut short, or cannot be read, fault when they are touched. Only a
 * program that has called elf_map_guard() may use them: then they read as zeros instead.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct elf_map {
	void *p; /* NULL: nothing */
	size_t n;
};

/*
 * Handle SIGBUS, for the whole process and from now on. A fault of another kind ends the process
 * as before.
 */
void elf_map_guard(void);

/* n bytes of a file at off, to read; NULL if that fails or there is no guard. n > 0. */
const uint8_t *elf_map_file(struct elf_map *m, int fd, uint64_t off, size_t n);

/* n bytes to write to; NULL if that fails. */
uint8_t *elf_map_memory(struct elf_map *m, size_t n);

void elf_unmap(struct elf_map *m); /* and make it nothing */
