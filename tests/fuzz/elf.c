/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a program: headers, notes, compressed sections, symbols, debug information and
 * names, by the way that prof-symbolize goes.
 */
#include <elf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/sym/demangle.h"
#include "lib/sym/elf.h"
#include "lib/sym/object.h"

#define ADDRESSES 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void names(const struct object *o, const struct sym_answer *a)
{
	struct buf b = BUF_INIT(DEMANGLED_MAX);
	uint32_t id = a->location;

	while (id != SYM_NONE) {
		struct sym_location l = object_location(o, id);
		struct sym_function f = object_function(o, l.function);

		demangle(object_string(o, f.name).p, DEMANGLE_SIMPLE, &b);
		if (l.caller != SYM_NONE && l.caller >= id)
			abort();
		id = l.caller;
	}
	buf_release(&b);
}

/* The file as that of the kernel, or of a module. */
static void as_kernel(const struct elf_file *f, const char *name, const char *path,
		      const uint64_t *addrs, size_t n)
{
	const struct sym_paths paths = {.binaries = &path, .nbinaries = 1};
	struct sym_answer answers[ADDRESSES];
	char id[2 * BUILD_ID_MAX + 1] = "";
	struct object *o;
	uint64_t vaddr;
	size_t i;

	for (i = 0; i < f->build_id_n; i++)
		snprintf(id + 2 * i, 3, "%02x", f->build_id[i]);
	o = object_new(&paths, name, id);
	object_vaddr(o, 0, UINT64_MAX, 0, 0x40, &vaddr);
	object_resolve(o, addrs, n, answers);
	for (i = 0; i < n; i++) {
		names(o, &answers[i]);
		if (answers[i].location != SYM_NONE)
			object_is_called(o, &answers[i], addrs[i], "f");
	}
	object_free(o);
}

/* Addresses all over the code. */
static size_t choose(const struct elf_file *f, uint64_t *out)
{
	size_t n = 0, i, k;

	for (i = 0; i < f->nexec && i < 8; i++) {
		uint64_t low = f->exec[i].low, step = (f->exec[i].high - low) / 8 + 1;

		for (k = 0; k < ADDRESSES / 8; k++)
			out[n++] = low + k * step;
	}
	return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct sym_paths paths;
	uint64_t addrs[ADDRESSES], vaddr;
	struct sym_answer answers[ADDRESSES];
	struct elf_file *f = NULL;
	struct object *o;
	char path[64];
	size_t n, i;
	struct err e;
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (write(fd, data, size) != (ssize_t)size || elf_open_fd(dup(fd), &f, &e))
		goto out;
	n = choose(f, addrs);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	o = object_new(&paths, path, "");
	for (i = 0; i < n; i++)
		object_vaddr(o, 0x7f0000000000, UINT64_MAX, 0x1000,
			     0x7f0000000000 + i * 0x40, &vaddr);
	object_resolve(o, addrs, n, answers);
	for (i = 0; i < n; i++)
		names(o, &answers[i]);
	object_free(o);
	as_kernel(f, f->type == ET_REL ? "[m]" : "[kernel.kallsyms]main", path, addrs, n);
	elf_free(f);
out:
	close(fd);
	return 0;
}
