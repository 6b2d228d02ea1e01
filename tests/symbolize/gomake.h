/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables of a Go program in each layout, for tests. Three functions at TEXT_ADDR:
 *
 *   0x1000 main.main    main.go:10 up to 0x1008, :11 up to 0x1010; up to 0x1018 main.inner at
 *                       lib.go:20, inlined into main.outer at lib.go:31, that at main.go:12
 *   0x1020 main.G[int]  nothing but a name
 *   0x1030 main.last    main.go:50 up to 0x1038, nothing up to 0x1040
 */
#pragma once

#include "tests/symbolize/elfmake.h"

enum gomake_kind { GOMAKE_1_2, GOMAKE_1_16, GOMAKE_1_18, GOMAKE_1_20, GOMAKE_1_26 };

#define GO_TABLE 0x10000
#define GO_TREES 0x20000
#define GO_DATA 0x30000
#define GO_END 0x1040

struct gomake {
	enum gomake_kind kind;
	struct buf table, trees, data;
	bool relocated; /* moduledata's words are in relocations */
	bool circular;	/* the inlined calls call one another */
};

static inline void gomake_uint(struct buf *b, uint64_t v, unsigned size)
{
	buf_put(b, &v, size);
}

static inline uint32_t gomake_str(struct buf *b, const char *s)
{
	uint32_t at = b->len;

	buf_put(b, s, strlen(s) + 1);
	return at;
}

/* A table of values: pairs of value and length, all small. */
static inline uint32_t gomake_values(struct buf *b, const int (*pairs)[2], size_t n)
{
	uint32_t at = b->len;
	int last = -1, change;
	size_t i;

	for (i = 0; i < n; i++) {
		change = pairs[i][0] - last;
		buf_putc(b, change < 0 ? -2 * change - 1 : 2 * change);
		buf_putc(b, pairs[i][1]);
		last = pairs[i][0];
	}
	buf_putc(b, 0);
	return at;
}

/* Offsets in the table; 0 = there is none. */
struct gomake_function {
	uint64_t entry;
	uint32_t name, files, lines, inlines;
};

static inline uint32_t gomake_record(struct gomake *g, const struct gomake_function *f)
{
	bool narrow = g->kind >= GOMAKE_1_18;
	unsigned size = narrow ? 4 : 8, before = g->kind == GOMAKE_1_2 ? 4 : 3;
	struct buf *b = &g->table;
	uint32_t at;

	while (b->len % 8)
		buf_putc(b, 0);
	at = b->len;
	gomake_uint(b, narrow ? f->entry - TEXT_ADDR : f->entry, size);
	gomake_uint(b, f->name, 4);
	gomake_uint(b, 0, 8);
	gomake_uint(b, 0, 4);
	gomake_uint(b, f->files, 4);
	gomake_uint(b, f->lines, 4);
	gomake_uint(b, f->inlines ? 3 : 0, 4);
	if (g->kind >= GOMAKE_1_16)
		gomake_uint(b, 0, 4); /* unit */
	if (g->kind >= GOMAKE_1_20)
		gomake_uint(b, 9, 4); /* start line */
	gomake_uint(b, 0, 3);
	gomake_uint(b, f->inlines ? before + 1 : 0, 1);
	if (!f->inlines)
		return at;
	gomake_uint(b, 0, 8);
	gomake_uint(b, f->inlines, 4);
	while (b->len % size)
		buf_putc(b, 0);
	while (before--)
		gomake_uint(b, 0, size);
	gomake_uint(b, narrow ? 8 : GO_TREES + 8, size);
	return at;
}

static inline void gomake_call(struct gomake *g, uint32_t name, uint32_t parent_pc)
{
	struct buf *b = &g->trees;
	bool old = g->kind < GOMAKE_1_20;

	gomake_uint(b, 0, old ? 8 : 4);
	gomake_uint(b, 0, old ? 4 : 0);
	gomake_uint(b, name, 4);
	gomake_uint(b, parent_pc, 4);
	if (!old)
		gomake_uint(b, 19, 4);
}

static inline void gomake_poke(struct buf *b, size_t at, uint64_t v, unsigned size)
{
	memcpy(b->data + at, &v, size);
}

/* The head of the table, and the list of functions behind it. */
static inline void gomake_head(struct gomake *g, const struct gomake_function *f,
			       const uint32_t *records, uint32_t units, uint32_t files)
{
	static const uint32_t magics[] = {0xfffffffb, 0xfffffffa, 0xfffffff0, 0xfffffff1,
					  0xfffffff1};
	bool narrow = g->kind >= GOMAKE_1_18, old = g->kind == GOMAKE_1_2;
	unsigned size = narrow ? 4 : 8, i, at = old ? 16 : 96, word = narrow ? 32 : 24;
	struct buf *b = &g->table;

	gomake_poke(b, 0, magics[g->kind], 4);
	gomake_poke(b, 6, 1, 1);
	gomake_poke(b, 7, 8, 1);
	gomake_poke(b, 8, 3, 8);
	if (!old) {
		if (narrow && g->kind < GOMAKE_1_26)
			gomake_poke(b, 24, TEXT_ADDR, 8);
		gomake_poke(b, word + 8, units, 8);
		gomake_poke(b, word + 16, files, 8);
		gomake_poke(b, word + 32, 96, 8);
	}
	for (i = 0; i < 4; i++, at += 2 * size) {
		gomake_poke(b, at,
			    i == 3 ? GO_END - (narrow ? TEXT_ADDR : 0)
				   : f[i].entry - (narrow ? TEXT_ADDR : 0),
			    size);
		if (i < 3)
			gomake_poke(b, at + size, records[i] - (old ? 0 : 96), size);
	}
	if (old)
		gomake_poke(b, 16 + 7 * 8, files, 4);
}

static inline void gomake_table(struct gomake *g)
{
	static const int files[][2] = {{0, 16}, {1, 8}, {0, 1}, {1, 7}},
			 files_1_2[][2] = {{1, 16}, {2, 8}, {1, 1}, {2, 7}},
			 lines[][2] = {{10, 8}, {11, 8}, {20, 8}, {12, 1}, {31, 7}},
			 last[][2] = {{50, 8}},
			 inlines[][2] = {{-1, 16}, {1, 8}, {-1, 1}, {0, 7}};
	struct gomake_function f[3] = {
		{.entry = 0x1000}, {.entry = 0x1020}, {.entry = 0x1030}};
	uint32_t inner, outer, main_go, lib_go, units, list, records[3], i;
	struct buf *b = &g->table;

	for (i = 0; i < 160; i++)
		buf_putc(b, 0);
	f[0].name = gomake_str(b, "main.main");
	f[1].name = gomake_str(b, "main.G[go.shape.int_0].func1");
	f[2].name = gomake_str(b, "main.last");
	inner = gomake_str(b, "main.inner");
	outer = gomake_str(b, "main.outer");
	main_go = gomake_str(b, "main.go");
	lib_go = gomake_str(b, "lib.go");
	f[0].files = f[2].files = g->kind == GOMAKE_1_2 ? gomake_values(b, files_1_2, 4)
							: gomake_values(b, files, 4);
	f[0].lines = gomake_values(b, lines, 5);
	f[2].lines = gomake_values(b, last, 1);
	f[0].inlines = gomake_values(b, inlines, 4);
	list = b->len; /* 1.2: their number, then where they are; later: by unit */
	units = b->len;
	if (g->kind == GOMAKE_1_2)
		gomake_uint(b, 3, 4);
	gomake_uint(b, g->kind == GOMAKE_1_2 ? main_go : 0, 4);
	gomake_uint(b, g->kind == GOMAKE_1_2 ? lib_go : lib_go - main_go, 4);
	for (i = 0; i < 3; i++)
		records[i] = gomake_record(g, &f[i]);
	gomake_head(g, f, records, units, g->kind == GOMAKE_1_2 ? list : main_go);
	/* two records: what is inlined into the function, and what into that */
	gomake_uint(&g->trees, 0, 8);
	gomake_call(g, outer, 0x18);
	gomake_call(g, inner, g->circular ? 0x10 : 0x19);
}

/* moduledata: what a reader wants of it. */
static inline void gomake_moduledata(struct gomake *g, struct buf *relocs)
{
	struct {
		unsigned word;
		uint64_t value;
	} words[] = {
		{0, GO_TABLE},	 {1, GO_TABLE},
		{20, TEXT_ADDR}, {21, GO_END},
		{22, TEXT_ADDR}, {g->kind == GOMAKE_1_18 ? 38 : 40, GO_TREES},
	};
	uint64_t type = R_X86_64_RELATIVE, where;
	size_t i;

	for (i = 0; i < 64; i++)
		gomake_uint(&g->data, i ? 0 : 0x1234, 8);
	for (i = 0; i < sizeof(words) / sizeof(*words); i++) {
		where = 16 + 8 * words[i].word;
		if (!g->relocated) {
			gomake_poke(&g->data, where, words[i].value, 8);
			continue;
		}
		gomake_uint(relocs, GO_DATA + where, 8);
		gomake_uint(relocs, type, 8);
		gomake_uint(relocs, words[i].value, 8);
	}
}

static inline void gomake_add(struct elfmake *m, const char *name, uint64_t addr,
			      struct buf *b, uint32_t type)
{
	elfmake_segment(m, 0x400 + m->body.len, addr, b->len, b->len, PF_R, 8);
	elfmake_section(m, name, type, SHF_ALLOC, addr, b->data, b->len);
	buf_release(b);
}

static inline void gomake_init(struct gomake *g, enum gomake_kind kind)
{
	*g = (struct gomake){.kind = kind};
	g->table = g->trees = g->data = (struct buf)BUF_INIT(1 << 20);
}

/* The file; named: the table's section has its own name. Releases g. */
static inline struct elf_file *gomake_open(struct gomake *g, bool named)
{
	struct buf relocs = BUF_INIT(1 << 16);
	struct elfmake m = elfmake_new();
	struct elf_file *f;

	gomake_moduledata(g, &relocs);
	gomake_add(&m, named ? ".gopclntab" : ".data.rel.ro", GO_TABLE, &g->table,
		   SHT_PROGBITS);
	gomake_add(&m, ".rodata", GO_TREES, &g->trees, SHT_PROGBITS);
	gomake_add(&m, ".data", GO_DATA, &g->data, SHT_PROGBITS);
	if (g->relocated)
		gomake_add(&m, ".rela.dyn", 0x40000, &relocs, SHT_RELA);
	elfmake_section(&m, ".go.buildinfo", SHT_PROGBITS, SHF_ALLOC, 0x50000, "x", 1);
	buf_release(&relocs);
	f = elfmake_open(&m, ET_DYN);
	return f;
}
