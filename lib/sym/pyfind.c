/* SPDX-License-Identifier: Apache-2.0 */
/* Is a file a Python interpreter? */
#include "lib/sym/pyfind.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "lib/sym/cursor.h"
#include "lib/sym/unwindtab.h"

enum { RUNTIME, EVAL, VERSION, NAMES };

static const char *const names[NAMES] = {"_PyRuntime", "_PyEval_EvalFrameDefault",
					 "Py_Version"};

struct place {
	uint64_t addr, size;
};

/* Where the three are, as far as they are defined. */
static void scan(struct elf_file *f, struct elf_section *s, struct place out[NAMES])
{
	const uint8_t *p, *text;
	uint64_t addr, size;
	size_t n, text_n, i;
	struct cursor c;
	uint32_t name;
	uint16_t index;
	struct err e;

	if (s->link >= f->nsections || elf_data(f, s, &p, &n, &e) < 0 ||
	    elf_data(f, &f->sections[s->link], &text, &text_n, &e) < 0)
		return;
	c = cursor_at(p, n, 0, f->swap);
	while (cursor_left(&c) >= sizeof(Elf64_Sym)) {
		name = cursor_u32(&c);
		cursor_skip(&c, 2);
		index = cursor_u16(&c);
		addr = cursor_u64(&c);
		size = cursor_u64(&c);
		for (i = 0; i < NAMES && index != SHN_UNDEF; i++) {
			size_t len = strlen(names[i]) + 1;

			if (name < text_n && text_n - name >= len &&
			    !memcmp(text + name, names[i], len))
				out[i] = (struct place){addr, size};
		}
	}
}

bool python_find(struct elf_file *f, struct python_places *out)
{
	struct place found[NAMES] = {{0}};
	uint64_t base = unwind_base(f);
	uint8_t *p = NULL;
	struct err e;
	size_t i, n = 0;

	*out = (struct python_places){0};
	for (i = 1; f->is64 && i < f->nsections; i++) {
		if (f->sections[i].type == SHT_DYNSYM)
			scan(f, &f->sections[i], found);
	}
	for (i = 0; i < NAMES; i++) {
		if (found[i].addr < base || found[i].addr - base > UINT32_MAX ||
		    found[i].size > UINT32_MAX || !found[i].size)
			return false;
	}
	if (elf_load(f, found[VERSION].addr, sizeof(out->version), &p, &n, &e) < 0)
		return false;
	if (n >= sizeof(out->version))
		memcpy(&out->version, p, sizeof(out->version));
	free(p);
	if (f->swap)
		out->version = __builtin_bswap32(out->version);
	out->runtime = (uint32_t)(found[RUNTIME].addr - base);
	out->eval = (uint32_t)(found[EVAL].addr - base);
	out->eval_size = (uint32_t)found[EVAL].size;
	return out->version != 0;
}
