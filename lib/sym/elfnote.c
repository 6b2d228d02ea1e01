/* SPDX-License-Identifier: Apache-2.0 */
/* Build ids from ELF notes, in bounded reads. */
#include "lib/sym/elfnote.h"

#include <elf.h>
#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#define PHDRS_MAX 256
#define NOTES_MAX (64 << 10)

/* Where the bytes come from: a file, or an image in memory. */
struct source {
	int fd; /* -1: p, n */
	const uint8_t *p;
	size_t n;
};

static bool read_at(const struct source *s, uint64_t off, void *out, size_t n)
{
	if (s->fd >= 0)
		return off <= INT64_MAX - n && pread(s->fd, out, n, off) == (ssize_t)n;
	if (off > s->n || n > s->n - off)
		return false;
	memcpy(out, s->p + off, n);
	return true;
}

int build_id_from_notes(const uint8_t *p, size_t n, size_t align, struct build_id *id)
{
	uint64_t name_end, desc_end;
	uint32_t namesz, descsz, type;
	size_t mask = align == 8 ? 7 : 3;

	while (n >= 12) {
		memcpy(&namesz, p, 4);
		memcpy(&descsz, p + 4, 4);
		memcpy(&type, p + 8, 4);
		name_end = (12 + (uint64_t)namesz + mask) & ~(uint64_t)mask;
		desc_end = name_end + descsz;
		if (desc_end > n)
			return 0;
		if (type == NT_GNU_BUILD_ID && namesz == 4 && !memcmp(p + 12, "GNU", 4) &&
		    descsz && descsz <= BUILD_ID_MAX) {
			memcpy(id->data, p + name_end, descsz);
			id->n = descsz;
			return 1;
		}
		desc_end = (desc_end + mask) & ~(uint64_t)mask;
		if (desc_end >= n)
			return 0;
		p += desc_end;
		n -= desc_end;
	}
	return 0;
}

static int from_segment(const struct source *s, uint64_t off, uint64_t size,
			uint64_t align, struct build_id *id)
{
	uint8_t notes[4096];
	size_t n;

	/* a bigger segment is read in part: the build id is always near its start */
	n = size < sizeof(notes) ? size : sizeof(notes);
	if (size > NOTES_MAX || !read_at(s, off, notes, n))
		return 0;
	return build_id_from_notes(notes, n, align, id);
}

static int from_phdrs64(const struct source *s, struct build_id *id)
{
	Elf64_Ehdr eh;
	Elf64_Phdr ph;
	unsigned int i;

	if (!read_at(s, 0, &eh, sizeof(eh)) || eh.e_phentsize != sizeof(ph))
		return 0;
	for (i = 0; i < eh.e_phnum && i < PHDRS_MAX; i++) {
		if (eh.e_phoff > INT64_MAX / 2 ||
		    !read_at(s, eh.e_phoff + i * sizeof(ph), &ph, sizeof(ph)))
			return 0;
		if (ph.p_type == PT_NOTE &&
		    from_segment(s, ph.p_offset, ph.p_filesz, ph.p_align, id))
			return 1;
	}
	return 0;
}

static int from_phdrs32(const struct source *s, struct build_id *id)
{
	Elf32_Ehdr eh;
	Elf32_Phdr ph;
	unsigned int i;

	if (!read_at(s, 0, &eh, sizeof(eh)) || eh.e_phentsize != sizeof(ph))
		return 0;
	for (i = 0; i < eh.e_phnum && i < PHDRS_MAX; i++) {
		if (!read_at(s, (uint64_t)eh.e_phoff + i * sizeof(ph), &ph, sizeof(ph)))
			return 0;
		if (ph.p_type == PT_NOTE &&
		    from_segment(s, ph.p_offset, ph.p_filesz, ph.p_align, id))
			return 1;
	}
	return 0;
}

static int from_source(const struct source *s, struct build_id *id)
{
	unsigned char ident[EI_NIDENT];
	/* what runs here has the byte order of here */
	int native = __BYTE_ORDER == __LITTLE_ENDIAN ? ELFDATA2LSB : ELFDATA2MSB;

	id->n = 0;
	if (!read_at(s, 0, ident, sizeof(ident)) || memcmp(ident, ELFMAG, SELFMAG) ||
	    ident[EI_DATA] != native)
		return 0;
	if (ident[EI_CLASS] == ELFCLASS64)
		return from_phdrs64(s, id);
	return ident[EI_CLASS] == ELFCLASS32 ? from_phdrs32(s, id) : 0;
}

int build_id_from_fd(int fd, struct build_id *id)
{
	struct source s = {.fd = fd};

	return from_source(&s, id);
}

int build_id_from_image(const uint8_t *p, size_t n, struct build_id *id)
{
	struct source s = {.fd = -1, .p = p, .n = n};

	return from_source(&s, id);
}

void build_id_hex(const struct build_id *id, char *out)
{
	static const char hex[] = "0123456789abcdef";
	unsigned int i;

	for (i = 0; i < id->n; i++) {
		out[2 * i] = hex[id->data[i] >> 4];
		out[2 * i + 1] = hex[id->data[i] & 15];
	}
	out[2 * id->n] = 0;
}
