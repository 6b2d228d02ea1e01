/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ELF files as a container: segments, sections (inflated when compressed), build id, debug
 * link. libelf reads the headers, in either class and byte order. Contents are read with pread,
 * so that a file cut short under us cannot kill the reader; debug sections are mapped where the
 * program has elf_map.h's guard against that.
 *
 * In a relocatable file (a kernel module) the executable sections are given addresses, as the
 * kernel lays them out: one after another from ELF_MODULE_BASE on, without those for its start. Debug sections
 * come relocated to them.
 *
 * Only regular files are opened. Offsets and sizes have been checked against the file when
 * they get out of here; contents are hostile all the same.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "lib/base/err.h"
#include "lib/sym/elf_map.h"

#define ELF_MODULE_BASE (1ull << 40) /* no value of a relocation is that by chance */

#define BUILD_ID_MAX 64 /* bytes; 20 are usual, Go's text form is not kept here */

struct elf_segment { /* PT_LOAD only, in file order */
	uint64_t vaddr, offset, filesz, memsz, align;
	bool exec;
};

struct elf_section {
	const char *name; /* "" when unreadable */
	uint64_t addr, offset, size, flags, entsize, align;
	uint32_t type, link, info;
	uint8_t *data; /* contents once asked for, owned */
	size_t data_n;
	struct elf_map map; /* where data lies, if that is no heap */
	uint64_t held;	    /* bytes of it that count in elf_file.data_bytes */
	int failed;	    /* -errno of the first attempt to read */
};

struct elf_range {
	uint64_t low, high;
};

/* What the section contents of several files together may take. */
struct elf_budget {
	uint64_t used, max; /* bytes */
};

struct elf_file {
	int fd;		   /* -1 while suspended */
	char *root, *path; /* how to open it again; NULL if it was given by descriptor */
	uint64_t size;
	uint64_t
		packed_size; /* on disk, of a file that was unpacked into memory; else 0 */
	uint64_t packed_max; /* what its contents may be */
	dev_t dev;
	ino_t ino;
	struct timespec mtime;
	bool is64, swap; /* swap: byte order is not ours */
	bool cut;	 /* ends before its section headers do */
	uint16_t machine, type;
	uint64_t entry;		       /* address of the first instruction, 0 = none */
	struct elf_range eh_frame_hdr; /* addresses of PT_GNU_EH_FRAME */
	struct elf_segment *segments;
	size_t nsegments;
	struct elf_section *sections;
	size_t nsections;
	char *names; /* section names */
	struct elf_range
		*exec; /* executable sections (segments when there are none), sorted */
	size_t nexec;
	uint8_t build_id[BUILD_ID_MAX];
	size_t build_id_n; /* 0 = none */
	char *go_build_id; /* text of Go's own note, or NULL */
	uint64_t
		data_bytes; /* memory in section contents, not what is mapped from the file */
	bool mapped;	    /* some are mapped */
	struct elf_budget *budget; /* that data_bytes count in, or NULL */
};

/* Limits on what one file may make us hold. */
#define ELF_SECTION_MAX (2ull << 30) /* bytes of one section, inflated */
#define ELF_DATA_MAX (4ull << 30)    /* bytes of all sections in memory */

/*
 * Open for reading: regular files only (-ENODEV otherwise), headers read. With a root, path
 * and all links on its way are taken as seen from there. The descriptor form takes fd over, on
 * failure too. -ENOEXEC: not an ELF file, or one that is refused.
 */
int elf_open(const char *root, const char *path, struct elf_file **out, struct err *e);
int elf_open_fd(int fd, struct elf_file **out, struct err *e);
/* Or a file packed whole by xz, zstd or gzip, whose contents are at most max bytes (-EFBIG). */
int elf_open_packed(const char *root, const char *path, uint64_t max,
		    struct elf_file **out, struct err *e);
void elf_free(struct elf_file *f);

/* Count what f has and will have in memory; b must outlive it. */
void elf_set_budget(struct elf_file *f, struct elf_budget *b);
/* Bytes that it has left; at most ELF_SECTION_MAX, and that without one. */
uint64_t elf_room(const struct elf_file *f);

/* The first section of that name with contents or not; NULL. */
struct elf_section *elf_section(struct elf_file *f, const char *name);

/*
 * Contents of a section, inflated, owned by f. SHT_NOBITS and absent ones (s == NULL) are
 * empty: 0 with *n = 0.
 */
int elf_data(struct elf_file *f, struct elf_section *s, const uint8_t **p, size_t *n,
	     struct err *e);

/* Contents of .debug_NAME or the older .zdebug_NAME. */
int elf_debug_data(struct elf_file *f, const char *name, const uint8_t **p, size_t *n,
		   struct err *e);
bool elf_has_debug(struct elf_file *f, const char *name);

/*
 * What the file has for the addresses from vaddr on, up to the end of their segment or max
 * bytes. *p is the caller's to free. -ENXIO: nothing.
 */
int elf_load(struct elf_file *f, uint64_t vaddr, size_t max, uint8_t **p, size_t *n,
	     struct err *e);

/* Is it no longer the file that was opened? What was mapped from it may not be what it was. */
bool elf_has_changed(struct elf_file *f);

/* Bytes of memory that hold the file itself. */
uint64_t elf_file_bytes(const struct elf_file *f);

/* Close the file, but keep headers and contents; it is opened again when more is asked for. */
void elf_close(struct elf_file *f);

/*
 * Free the contents of all sections and close the file, but keep its headers. Contents that
 * are asked for are read again, provided that the file is still the same one (else -ESTALE).
 */
void elf_suspend(struct elf_file *f);

/*
 * Free the contents of the sections whose names begin so: nothing may point into them. What was
 * too much before is tried again when it is asked for.
 */
void elf_forget(struct elf_file *f, const char *start);

/* Is there code at vaddr, going by section headers (else segments)? The end of it in *high. */
bool elf_is_code(const struct elf_file *f, uint64_t vaddr, uint64_t *high);

/* Name and CRC of .gnu_debuglink: true if there is a sound one. name points into f. */
bool elf_debuglink(struct elf_file *f, const char **name, uint32_t *crc);

/* Path and build id of .gnu_debugaltlink (dwz), or of .debug_sup (DWARF 5). */
bool elf_debugaltlink(struct elf_file *f, const char **name, const uint8_t **id,
		      size_t *n);

/*
 * The file within the file: .gnu_debugdata, an ELF file packed with xz that holds symbols.
 * It stays open, in memory, until freed. -ENODATA: none; -EFBIG: it is over the budget of f.
 */
int elf_open_debugdata(struct elf_file *f, struct elf_file **out, struct err *e);

/* CRC-32 of the whole file. */
int elf_crc32(struct elf_file *f, uint32_t *crc, struct err *e);

/*
 * Where the file offset of a mapping's address lies in the file's own addresses. Goes by
 * program headers, per address (symbolize(1) has the rules): executable segments first, exact
 * containment before that of the pages around. 0, -ENXIO when no segment holds it, -ENOTUNIQ
 * when two do with different results.
 */
int elf_vaddr(const struct elf_file *f, uint64_t file_offset, uint64_t *vaddr);
