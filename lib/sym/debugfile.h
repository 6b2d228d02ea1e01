/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finding the files that belong to a mapping: the binary, its separate debug information, and
 * dwz's supplementary file. A file whose build id differs from the wanted one is never used.
 *
 * Binary: each --binary whose build id is the wanted one (or, for a mapping without a build id,
 * whose base name is the mapping's), then the mapping's path below each sysroot, then the path
 * itself if it is absolute (for a mapping without a build id only when there is no sysroot), then by build
 * id AB CDEF… D/.build-id/ab/cdef… for each debug directory D. " (deleted)" is cut off, and such
 * a path is only used with a build id.
 *
 * Debug file, by build id AB CDEF…: D/.build-id/ab/cdef….debug and D/ab/cdef….debug for each
 * debug directory D, given ones and /usr/lib/debug of each sysroot; then by the binary's
 * .gnu_debuglink NAME: beside the binary, in .debug/ beside it, and in D/dir/, where dir is the
 * binary's directory as it is in its sysroot, whose own /usr/lib/debug comes last. There the build
 * ids must be equal where the binary has one; else the CRC must be right.
 *
 * What debuginfod gives is checked in the same way.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/sym/debuginfod.h"
#include "lib/sym/elf.h"

/* Modules of kernels below the debug directories and sysroots, listed when one is asked for. */
struct module_files {
	struct module_file {
		const char *root; /* as in sym_paths, or NULL */
		char *path;	  /* seen from there */
	} * v;
	size_t n, cap;
	bool listed;
};

void module_files_release(struct module_files *l);

struct sym_paths { /* nothing owned */
	const char *const *debug_dirs, *const *sysroots, *const *binaries;
	size_t ndebug_dirs, nsysroots, nbinaries;
	const char *cache; /* directory of indexes, or NULL */
	uint64_t
		max_memory; /* bytes of one object's files and tables in memory; 0 = any */
	struct debuginfod *debuginfod; /* to be asked last, or NULL */
	struct module_files *modules;  /* listed for all objects, or NULL: for each */
};

/* A build id as profiles write it. */
struct build_id {
	uint8_t bytes[BUILD_ID_MAX];
	size_t n;	  /* 0: not hexadecimal, or empty */
	const char *text; /* not owned; "" = none */
};

struct build_id build_id_parse(const char *text); /* keeps the pointer */
bool build_id_matches(const struct build_id *id, const struct elf_file *f);
/*
 * What its debug file has to have: bin's own build id, if it has one (it has been checked against
 * the profile's), else id.
 */
struct build_id build_id_of(const struct elf_file *bin, const struct build_id *id);

enum found {
	FOUND_NOTHING, /* no such file */
	FOUND_FILE,
	FOUND_MISMATCH, /* only files with another build id (or CRC) */
	FOUND_UNUSABLE, /* only files that are not ELF programs, or cannot be read */
};

struct found_file {
	struct elf_file *elf; /* owned by the caller; NULL unless FOUND_FILE */
	char *path; /* of the file, or of the first that was not right; owned; may be NULL */
	struct buf *
		log; /* may be set before: path, NUL, result, NUL of each file looked at */
	struct err
		why; /* not FOUND_FILE: what was wrong with it; code 0 if nothing was there */
};

void found_file_release(struct found_file *f);

enum found debugfile_binary(const struct sym_paths *p, const char *path,
			    const struct build_id *id, struct found_file *out);
/* bin may be NULL when id has bytes. */
enum found debugfile_debug(const struct sym_paths *p, struct elf_file *bin,
			   const char *bin_path, const struct build_id *id,
			   struct found_file *out);
/*
 * Of the kernel or, with its name, of a module, by build id: a --binary, a debug file, and then
 * D/boot/vmlinux* or NAME.ko anywhere below D/lib/modules. Modules are relocatable files, which are
 * not taken for others. These files may be packed whole, by xz, zstd or gzip.
 */
enum found debugfile_kernel(const struct sym_paths *p, const char *module,
			    const struct build_id *id, struct found_file *out);
/*
 * From debuginfod, by build id; FOUND_NOTHING if that is not to be asked. Relocatable: a module's
 * is wanted.
 */
enum found debugfile_fetch(const struct sym_paths *p, enum debuginfod_kind kind,
			   const struct build_id *id, bool relocatable,
			   struct found_file *out);
/*
 * The package of split units beside the file at `path`, with .dwp behind its name; and one split
 * unit's file `name`: where it was compiled (`dir`), below the sysroots if there are any, else
 * beside `path`. NULL: not there, or unusable. What is in them is checked by the units' ids.
 */
struct elf_file *debugfile_dwp(const char *path);
struct elf_file *debugfile_dwo(const struct sym_paths *p, const char *path,
			       const char *dir, const char *name, struct buf *log);

/* The supplementary file that `debug` (at debug_path) refers to; FOUND_NOTHING if to none. */
enum found debugfile_alt(const struct sym_paths *p, struct elf_file *debug,
			 const char *debug_path, struct found_file *out);
