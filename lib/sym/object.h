/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One program or library with all that is known of it: finds its files, and answers many
 * addresses at once with the frames that lie there, best source first.
 *
 * Answers are kept, in the shape of an index (functions, locations that point at their caller,
 * one location per address): what was asked once costs a table look-up. Files and decoded
 * debug information can be dropped between look-ups and come back by themselves.
 *
 * Which name: the outermost frame has DWARF's linkage name; without one, the symbol that
 * covers the address if it is DWARF's plain name or, demangled, ends in it; else the plain name;
 * the symbol if DWARF has no name. Inlined frames have DWARF's names. Suffixes of clones
 * (demangle.h) stay in `system` and are cut from `name`, except in Go files, where they can be
 * names in their own right. So does the prefix of glibc's hidden aliases (`__GI_raise`).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/err.h"
#include "lib/base/intern.h"
#include "lib/sym/debugfile.h"

#define SYM_NONE UINT32_MAX

enum sym_source { /* of a location's outermost name and lines; best first */
		  SYM_DWARF,
		  SYM_GOPCLNTAB, /* before DWARF, in Go code */
		  SYM_SYMTAB,
		  SYM_DEBUGDATA, /* the symbols in .gnu_debugdata */
		  SYM_PLT,
		  SYM_DYNSYM,
		  SYM_NSOURCES,
};

enum sym_reason { /* why an address has no name, or less than it might */
		  SYM_OK,
		  SYM_NO_FILE,	     /* neither the binary nor its debug file was found */
		  SYM_UNUSABLE_FILE, /* found, but no ELF program, or unreadable */
		  SYM_BUILD_ID_MISMATCH, /* found, but another build */
		  SYM_NO_SEGMENT,	 /* the address is in no segment of the file */
		  SYM_AMBIGUOUS_SEGMENT, /* it is in two */
		  SYM_NEED_BINARY, /* only a debug file, whose segments cannot place addresses */
		  SYM_NO_SYMBOLS, /* the file has neither symbols nor debug information */
		  SYM_NO_FUNCTION, /* no function covers the address */
		  SYM_DWO_MISSING, /* named by symbol: the functions are in a .dwo file */
		  SYM_ALT_MISSING, /* named by symbol: the name is in a missing supplementary file */
		  SYM_DAMAGED, /* the file or the unit could not be read to its end */
		  SYM_MEMORY_LIMIT, /* what would tell takes too much memory */
		  SYM_NREASONS,
};

const char *sym_source_name(enum sym_source s);
const char *sym_reason_name(enum sym_reason r); /* as in reports: "build-id-mismatch" */

struct sym_function {
	uint32_t name, system; /* string ids; name: still mangled, without clone suffix */
	uint32_t start_line;   /* 0 = unknown */
};

struct sym_location {
	uint32_t function;
	uint32_t file; /* string id, 0 = unknown */
	uint32_t line, column;
	uint32_t caller; /* location that this is inlined into, or SYM_NONE */
};

struct sym_answer {
	uint32_t location; /* innermost, or SYM_NONE: no name */
	uint8_t source;	   /* enum sym_source, when there is a location */
	uint8_t reason;	   /* enum sym_reason */
};

struct object;

/*
 * build_id as in the profile, "" for none. Finds and opens the binary at once; never fails:
 * object_state() says what is wrong. `paths` must outlive the object.
 */
struct object *object_new(const struct sym_paths *paths, const char *path,
			  const char *build_id);
void object_free(struct object *o);

/*
 * Is a mapping of that name the kernel's, `[kernel.kallsyms]SYMBOL`, which starts where SYMBOL
 * lay, or a module's, `[NAME]`, which starts where its code lay? Their objects are looked for by
 * build id, and never have an index.
 */
bool object_is_kernel(const char *path);
/* Is `name` one of the symbols at vaddr, or what the outermost frame of its answer is called? */
bool object_is_called(struct object *o, const struct sym_answer *a, uint64_t vaddr,
		      const char *name);

enum sym_reason object_state(const struct object *o); /* SYM_OK: addresses can be asked */
bool object_is_verified(const struct object *o);      /* by build id */
const char *object_path(const struct object *o); /* file used for addresses, or NULL */
const char *object_debug_path(const struct object *o); /* separate debug file, or NULL */
/* What went wrong with a file on the way ("/x/y: build id differs"); "" if nothing. */
const char *object_trouble(const struct object *o);
/*
 * The files that were looked at for it, one after another: *at starts at 0. False at the end.
 * *result: "used", or what was wrong.
 */
bool object_tried(const struct object *o, size_t *at, const char **path,
		  const char **result);
bool object_has_lines(const struct object *o); /* there is debug information */

/*
 * Address in the file of a run-time address in a mapping; per address, by program headers.
 * SYM_OK or the reason against. A mapping without start, offset and a limit is none: addresses
 * are the file's own already.
 */
enum sym_reason object_vaddr(const struct object *o, uint64_t start, uint64_t limit,
			     uint64_t offset, uint64_t addr, uint64_t *vaddr);

/* Threads to use inside the object, 1 unless set; answers are the same for any number. */
void object_set_threads(struct object *o, unsigned threads);

/* Nothing more is going to be asked after the next object_resolve(), which then trims it. */
void object_set_last(struct object *o);

/* Is it so large that it should have all threads to itself? */
bool object_is_large(const struct object *o);

/* Answer addresses of the file; any order, repeats allowed. out: n answers. */
void object_resolve(struct object *o, const uint64_t *vaddrs, size_t n,
		    struct sym_answer *out);

/*
 * Make an index of the whole object and keep it in the cache of its paths, even if there is one,
 * unless that has more to say; waits for another process that does so. -ENODATA: there is none to
 * be made.
 */
int object_build_index(struct object *o, struct err *e);
/*
 * Put its index into the directory `dir`, which is like a cache: the one of the cache that it is
 * answered from, or a new one. -ENODATA as before.
 */
int object_export_index(struct object *o, const char *dir, struct err *e);
/* What is wrong with the index in the cache ("x.idx: damaged index: not used"); "" if nothing. */
const char *object_index_damage(const struct object *o);
/* Why no index was kept though there is a cache; "" if one was, or there is none to be made. */
const char *object_index_trouble(const struct object *o);

struct sym_location object_location(const struct object *o, uint32_t location);
struct sym_function object_function(const struct object *o, uint32_t function);
size_t object_nfunctions(const struct object *o);
struct str object_string(const struct object *o, uint32_t string);

/* Bytes of files and decoded tables in memory; drop them and close the files, answers stay. */
uint64_t object_bytes(const struct object *o);
bool object_is_open(const struct object *o);
void object_trim(struct object *o);
