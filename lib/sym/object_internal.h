/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of an object share. Not for use outside object*.c. */
#pragma once

#include "lib/base/buf.h"
#include "lib/sym/answers.h"
#include "lib/sym/dwarf.h"
#include "lib/sym/gopclntab.h"
#include "lib/sym/object.h"
#include "lib/sym/plt.h"
#include "lib/sym/symindex.h"
#include "lib/sym/symtab.h"

struct outer_memo { /* the last function of an outermost frame, and what it was made of */
	const char *symbol; /* NULL: none */
	uint32_t given, start_line, function;
	bool has_linkage;
};

/* What was copied already, by its number in the index: our number + 1, 0 = not yet. */
struct taken {
	uint32_t *locations, *functions, *strings;
};

struct object {
	const struct sym_paths *paths;
	char *path, *build_id; /* as the profile has them */
	struct build_id id;
	enum sym_reason state;
	bool kernel;
	uint64_t kernel_base;	   /* where in the file its mapping starts */
	bool verified, go, opened; /* opened: the sources below are as good as they get */
	struct found_file bin, debug, alt;
	uint64_t
		debug_bias; /* add to an address of the binary for one of the debug file */
	struct intern strings;
	struct dwarf *dwarf;
	struct gopclntab *go_table;
	struct symtab *symtab, *debug_symtab, *mini_symtab, *dynsym;
	struct symnames *names; /* of the kernel's file, once asked for */
	struct elf_file *dwp;	/* the package of split units */
	struct elf_file *mini;	/* what .gnu_debugdata holds */
	struct plt *plt;
	/* what was made already, while the sources or the index stay open */
	struct u64map plain_functions; /* see object_answer.c */
	struct outer_memo outer;
	struct symindex *index; /* answers instead of the files */
	struct taken taken;	/* of the index */
	bool index_alone;  /* and there is no binary: `bin` is what the index has of it */
	bool index_lines;  /* it has lines, or had while it was open */
	bool index_failed; /* to be made */
	bool index_doubted; /* damage was found: from now on only a whole one counts */
	char *index_damage, *index_trouble; /* or NULL */
	uint64_t max_bytes;	  /* of files and tables; see object_sources.c */
	struct elf_budget budget; /* of its files, for the source at hand */
	uint64_t allowed;	  /* for all, while that is opened */
	struct {		  /* sources that were left out for want of memory */
		bool symbols, go, dwarf;
	} over;
	unsigned threads; /* 0 = 1 */
	bool last;	  /* nothing is asked after the next look-up */
	struct answers answers;
	struct buf tried; /* files looked at, as in found_file.log */
	struct buf trouble, scratch, scratch2;
};

/* The best that the sources have for an address; d and v: what DWARF says, or NULL. */
struct sym_answer object_answer(struct object *o, uint64_t vaddr,
				const struct dwarf_answer *d,
				const struct dwarf_frame *v);

void object_forget_memos(struct object *o);

void object_add_trouble(struct object *o, const char *path, const char *what);
void object_note_trouble(struct object *o, const struct found_file *f);

/* One of its files from debuginfod, in place of a worse one. */
enum found object_fetch(struct object *o, enum debuginfod_kind kind,
			const struct build_id *id, bool module, struct found_file *into);

/* object_kernel.c: what makes a kernel's object another one. */
void object_find_kernel(struct object *o);
enum sym_reason object_kernel_vaddr(const struct object *o, uint64_t start,
				    uint64_t limit, uint64_t offset, uint64_t addr,
				    uint64_t *vaddr);

/* Read what the files offer, if it is not there. */
void object_open_sources(struct object *o);

/*
 * object_index.c: o->index from the cache, if it is as good as the files that were found; in place
 * of a binary that was not, its segments. Again, when the files have changed. An answer from it.
 */
void object_find_index(struct object *o);
void object_drop_index(struct object *o);
void object_reconsider_index(struct object *o);
/* And make one if there is none, and nobody else is making it. */
bool object_need_index(struct object *o);
struct sym_answer object_answer_by_index(struct object *o, uint64_t vaddr);
/* It had a damaged answer. True: it is gone; false: there is nothing else. */
bool object_leave_index(struct object *o);
