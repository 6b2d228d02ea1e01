/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Build ids without an ELF library: prof-capture is privileged and must not parse foreign files
 * beyond the one note it needs. Reads a fixed number of bounded pieces, follows nothing.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define BUILD_ID_MAX 64 /* bytes; longer ones are taken for none */

struct build_id {
	uint8_t data[BUILD_ID_MAX];
	uint8_t n; /* 0: none */
};

/* The GNU build id among the notes [p, p + n): 1 and *id, or 0. Notes are padded to `align`. */
int build_id_from_notes(const uint8_t *p, size_t n, size_t align, struct build_id *id);

/* That of an ELF file or image, by its program headers: 1, 0 if it has none or is no ELF. */
int build_id_from_fd(int fd, struct build_id *id);
int build_id_from_image(const uint8_t *p, size_t n, struct build_id *id);

/* Lower-case hex of id; out has room for 2 * BUILD_ID_MAX + 1. */
void build_id_hex(const struct build_id *id, char *out);
