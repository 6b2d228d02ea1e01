/* SPDX-License-Identifier: Apache-2.0 */
/* Names of kernel code. */
#include "tools/capture/kernel.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/xalloc.h"
#include "lib/sym/elfnote.h"

#define KERNEL_HALF (UINT64_C(1) << 63)
#define NOTES_MAX_BYTES 4096
#define PAGE_BYTES 4096

/* In place of addresses that are not to be told: where Linux is linked for, and far from it. */
#if defined(__aarch64__)
#define ANONYMOUS_CORE UINT64_C(0xffff800008000000)
#else
#define ANONYMOUS_CORE UINT64_C(0xffffffff81000000)
#endif
#define ANONYMOUS_MODULE(i) ((UINT64_C(0xffffc000) << 32) + ((uint64_t)(i) << 32))

static void free_mappings(struct kernel *k)
{
	size_t i;

	for (i = 0; k->mappings && i < k->syms.nmodules; i++) {
		free(k->mappings[i].file);
		free(k->mappings[i].build_id);
	}
	free(k->mappings);
	k->mappings = NULL;
}

void kernel_release(struct kernel *k)
{
	free_mappings(k);
	kallsyms_release(&k->syms);
	*k = (struct kernel){0};
}

static char *build_id_of(const char *notes_path)
{
	char hex[2 * BUILD_ID_MAX + 1] = "";
	uint8_t notes[NOTES_MAX_BYTES];
	struct build_id id;
	ssize_t n;
	int fd = open(notes_path, O_RDONLY | O_CLOEXEC);

	if (fd >= 0) {
		n = read(fd, notes, sizeof(notes));
		close(fd);
		if (n > 0 && build_id_from_notes(notes, n, 4, &id))
			build_id_hex(&id, hex);
	}
	return xstrdup(hex);
}

static void describe(struct kernel *k, size_t i)
{
	const struct kmodule *mod = &k->syms.modules[i];
	struct kernel_mapping *m = &k->mappings[i];
	char *path;

	m->start = mod->start;
	m->limit = (mod->end | (PAGE_BYTES - 1)) + 1;
	if (i == KALLSYMS_CORE) {
		m->file = xstrdup("[kernel.kallsyms]_stext");
		m->build_id = build_id_of("/sys/kernel/notes");
		if (k->syms.stext && k->syms.etext > k->syms.stext) {
			m->start = k->syms.stext;
			m->limit = k->syms.etext;
		}
		return;
	}
	m->file = xasprintf("[%s]", mod->name);
	path = xasprintf("/sys/module/%s/notes/.note.gnu.build-id", mod->name);
	/* the name came from the kernel, but a path is made of it */
	m->build_id = strchr(mod->name, '/') ? xstrdup("") : build_id_of(path);
	free(path);
}

/* One module: NAME SIZE REFS USERS STATE ADDRESS */
static void read_module_size(struct kernel *k, char *line)
{
	char *save = NULL, *name = strtok_r(line, " ", &save), *field = name;
	uint64_t size = 0, start = 0;
	size_t i;

	for (i = 1; i < 6 && field; i++) {
		field = strtok_r(NULL, " ", &save);
		if (i == 1 && field)
			size = strtoull(field, NULL, 10);
	}
	if (field)
		start = strtoull(field, NULL, 16);
	for (i = 1; start && i < k->syms.nmodules; i++) {
		struct kernel_mapping *m = &k->mappings[i];

		if (!strcmp(k->syms.modules[i].name, name) && m->start >= start &&
		    m->start - start < size) {
			m->start = start;
			m->limit = start + size;
		}
	}
}

/* Where the modules' code really begins and ends. */
static void read_module_sizes(struct kernel *k)
{
	FILE *f = fopen("/proc/modules", "re");
	char *line = NULL;
	size_t size = 0;

	while (f && getline(&line, &size, f) > 0)
		read_module_size(k, line);
	free(line);
	if (f)
		fclose(f);
}

void kernel_load(struct kernel *k)
{
	bool warned = k->warned, anonymous = k->anonymous;
	struct err e;
	size_t i;

	kernel_release(k);
	k->loaded = true;
	k->warned = warned;
	k->anonymous = anonymous;
	kallsyms_init(&k->syms);
	/* a file that cannot be read, or makes no sense, hides the names as zeros do */
	if (kallsyms_load(&k->syms, "/proc/kallsyms", &e) < 0 || k->syms.hidden ||
	    !k->syms.n) {
		k->hidden = true;
		return;
	}
	k->mappings = xcalloc(k->syms.nmodules, sizeof(*k->mappings));
	for (i = 0; i < k->syms.nmodules; i++)
		describe(k, i);
	read_module_sizes(k);
	for (i = 0; i < k->syms.nmodules; i++) {
		struct kernel_mapping *m = &k->mappings[i];

		m->shown = m->start;
		if (k->anonymous)
			m->shown =
				i == KALLSYMS_CORE ? ANONYMOUS_CORE : ANONYMOUS_MODULE(i);
	}
}

static uint32_t mapping_id(struct kernel_mapping *m, struct store *st, uint32_t epoch)
{
	struct mapping row = {
		.start = m->shown,
		.limit = m->shown + (m->limit - m->start),
		.file = store_puts(st, m->file),
		.build_id = store_puts(st, m->build_id),
		.flags = MAPPING_HAS_FUNCTIONS,
	};

	if (m->epoch != epoch) {
		m->mapping = store_mapping(st, &row);
		m->epoch = epoch;
	}
	return m->mapping;
}

/* All we can say when addresses are hidden: it is the kernel. */
static uint32_t hidden_mapping(struct store *st)
{
	struct mapping row = {
		.start = KERNEL_HALF,
		.limit = UINT64_MAX,
		.file = store_puts(st, "[kernel.kallsyms]"),
		.build_id = 0,
	};

	return store_mapping(st, &row);
}

static const struct ksym *find(const struct kernel *k, uint64_t addr)
{
	const struct ksym *s = kallsyms_find(&k->syms, addr);
	const struct kernel_mapping *m;

	if (!s)
		return NULL;
	m = &k->mappings[s->module];
	return addr >= m->start && addr < m->limit ? s : NULL;
}

bool kernel_is_tracing(struct kernel *k, uint64_t addr)
{
	static const char *const prefixes[] = {
		"bpf_",		"__bpf_", "call_trace_", "__traceiter_",
		"__probestub_", "trace_", "__trace_"};
	const struct ksym *s;
	size_t i;

	if (!k->loaded)
		kernel_load(k);
	s = k->hidden ? NULL : find(k, addr);
	for (i = 0; s && i < sizeof(prefixes) / sizeof(*prefixes); i++) {
		if (!strncmp(s->name, prefixes[i], strlen(prefixes[i])))
			return true;
	}
	return false;
}

uint32_t kernel_location(struct kernel *k, struct store *st, uint32_t epoch,
			 uint64_t addr)
{
	const struct ksym *s = NULL;
	const struct kernel_mapping *m;
	struct function f = {0};
	struct line line = {0};

	if (!k->loaded)
		kernel_load(k);
	if (!k->hidden) {
		s = find(k, addr);
		if (!s && k->stale) {
			kernel_load(k);
			s = k->hidden ? NULL : find(k, addr);
		}
	}
	if (!s && k->anonymous)
		addr = 0;
	if (k->hidden)
		return store_location(st, hidden_mapping(st), addr, false, NULL, 0);
	if (!s)
		return store_location(st, ID_NONE, addr, false, NULL, 0);
	f.name = f.system_name = store_puts(st, s->name);
	line.function = store_function(st, &f);
	m = &k->mappings[s->module];
	return store_location(st, mapping_id(&k->mappings[s->module], st, epoch),
			      addr - m->start + m->shown, false, &line, 1);
}
