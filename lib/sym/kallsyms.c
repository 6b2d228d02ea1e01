/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel's symbols, from the text of /proc/kallsyms. */
#include "lib/sym/kallsyms.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/xalloc.h"

#define LINE_MAX_BYTES 1024
#define MODULES_MAX 65535

void kallsyms_init(struct kallsyms *k)
{
	*k = (struct kallsyms){.names = ARENA_INIT, .hidden = true};
	k->part = xmalloc(LINE_MAX_BYTES);
	XGROW(k->modules, k->nmodules, k->modules_cap);
	k->modules[k->nmodules++] = (struct kmodule){.name = "", .start = UINT64_MAX};
}

void kallsyms_release(struct kallsyms *k)
{
	arena_release(&k->names);
	free(k->syms);
	free(k->modules);
	free(k->part);
	*k = (struct kallsyms){0};
}

static int bad_line(const struct kallsyms *k, struct err *e)
{
	return err_set(e, EINVAL, "line %zu is no kernel symbol", k->lines);
}

/* The modules' symbols come in runs, so the last one is nearly always it. */
static int find_module(struct kallsyms *k, const char *name, size_t n, struct err *e)
{
	size_t i;

	for (i = k->nmodules; i-- > 1;) {
		if (!strncmp(k->modules[i].name, name, n) && !k->modules[i].name[n])
			return i;
	}
	if (k->nmodules >= MODULES_MAX)
		return err_set(e, E2BIG, "line %zu: too many modules", k->lines);
	XGROW(k->modules, k->nmodules, k->modules_cap);
	k->modules[k->nmodules] = (struct kmodule){
		.name = arena_bytes(&k->names, name, n),
		.start = UINT64_MAX,
	};
	return k->nmodules++;
}

static bool has_prefix(const char *s, size_t n, const char *prefix)
{
	size_t pn = strlen(prefix);

	return n >= pn && !memcmp(s, prefix, pn);
}

/*
 * Several names may stand for one address. Marks between sections say least, then come aliases
 * made by macros, which start with underscores; a global name says more than a local one.
 */
static unsigned int rank_of(char type, const char *name, size_t n)
{
	unsigned int rank = 0, i;

	for (i = 0; i < n && i < 15 && name[i] == '_'; i++)
		rank += 2;
	if (has_prefix(name, n, "__pfx_") || has_prefix(name, n, "__pi_") ||
	    has_prefix(name, n, "__start_") || has_prefix(name, n, "__stop_"))
		rank += 64;
	if ((n == 5 && !memcmp(name, "_text", n)) ||
	    (n == 6 && !memcmp(name, "_stext", n)))
		rank += 128;
	return rank * 4 + (type == 'T' ? 0 : type == 't' ? 2 : 1);
}

static int take_line(struct kallsyms *k, const char *p, const char *end, struct err *e)
{
	const char *name, *tab, *name_end = end;
	struct kmodule *m;
	uint64_t addr = 0;
	int module = KALLSYMS_CORE, d, digits = 0;
	char type;

	k->lines++;
	for (; p < end && *p != ' '; p++, digits++) {
		d = *p >= '0' && *p <= '9'   ? *p - '0'
		    : *p >= 'a' && *p <= 'f' ? *p - 'a' + 10
					     : -1;
		if (d < 0 || digits == 16)
			return bad_line(k, e);
		addr = addr << 4 | (uint64_t)d;
	}
	if (!digits || end - p < 4 || p[2] != ' ')
		return bad_line(k, e);
	type = p[1];
	name = p + 3;
	if (addr)
		k->hidden = false;
	if ((type | 32) != 't' && (type | 32) != 'w')
		return 0;
	tab = memchr(name, '\t', end - name);
	if (tab) {
		if (end - tab < 4 || tab[1] != '[' || end[-1] != ']' ||
		    memchr(tab, 0, end - tab))
			return bad_line(k, e);
		module = find_module(k, tab + 2, end - tab - 3, e);
		if (module < 0)
			return module;
		name_end = tab;
	}
	if (name == name_end || memchr(name, 0, name_end - name))
		return bad_line(k, e);
	if (module == KALLSYMS_CORE && *name == '_') {
		if (name_end - name == 6 && !memcmp(name, "_stext", 6))
			k->stext = addr;
		else if (name_end - name == 6 && !memcmp(name, "_etext", 6))
			k->etext = addr;
	}
	m = &k->modules[module];
	if (addr < m->start)
		m->start = addr;
	if (addr >= m->end)
		m->end = addr == UINT64_MAX ? addr : addr + 1;
	XGROW(k->syms, k->n, k->cap);
	k->syms[k->n++] = (struct ksym){
		.addr = addr,
		.name = arena_bytes(&k->names, name, name_end - name),
		.module = module,
		.rank = rank_of(type, name, name_end - name),
	};
	return 0;
}

int kallsyms_feed(struct kallsyms *k, const char *p, size_t n, struct err *e)
{
	const char *end = p + n, *nl;
	int r;

	while (p < end) {
		nl = memchr(p, '\n', end - p);
		n = (nl ? nl : end) - p;
		if (n > LINE_MAX_BYTES - k->part_len) {
			k->lines++;
			return bad_line(k, e);
		}
		if (nl && !k->part_len) {
			r = take_line(k, p, nl, e);
		} else {
			memcpy(k->part + k->part_len, p, n);
			k->part_len += n;
			if (!nl)
				return 0;
			r = take_line(k, k->part, k->part + k->part_len, e);
			k->part_len = 0;
		}
		if (r < 0)
			return r;
		p = nl + 1;
	}
	return 0;
}

static int cmp_syms(const void *pa, const void *pb)
{
	const struct ksym *a = pa, *b = pb;

	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return strcmp(a->name, b->name);
}

/* The kernel's own part comes sorted; only what follows it needs work. */
static void sort_syms(struct kallsyms *k)
{
	size_t i;

	for (i = 1; i < k->n && k->syms[i - 1].addr <= k->syms[i].addr; i++)
		;
	if (i >= k->n)
		return;
	qsort(k->syms + i, k->n - i, sizeof(*k->syms), cmp_syms);
	if (k->syms[i - 1].addr > k->syms[i].addr)
		qsort(k->syms, k->n, sizeof(*k->syms), cmp_syms);
}

int kallsyms_finish(struct kallsyms *k, struct err *e)
{
	size_t i, n = 0;
	int r;

	if (k->part_len) {
		r = take_line(k, k->part, k->part + k->part_len, e);
		k->part_len = 0;
		if (r < 0)
			return r;
	}
	sort_syms(k);
	for (i = 0; i < k->n; i++) {
		if (!n || k->syms[n - 1].addr != k->syms[i].addr)
			k->syms[n++] = k->syms[i];
		else if (cmp_syms(&k->syms[i], &k->syms[n - 1]) < 0)
			k->syms[n - 1] = k->syms[i];
	}
	k->n = n;
	return 0;
}

int kallsyms_load(struct kallsyms *k, const char *path, struct err *e)
{
	const size_t size = 1 << 20;
	char *buf = NULL;
	ssize_t n;
	int r = 0, fd;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return err_errno(e, errno, "%s", path);
	buf = xmalloc(size);
	while ((n = read(fd, buf, size)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		r = n < 0 ? err_errno(e, errno, "%s", path) : kallsyms_feed(k, buf, n, e);
		if (r < 0)
			goto out;
	}
	r = kallsyms_finish(k, e);
out:
	close(fd);
	free(buf);
	return r;
}

const struct ksym *kallsyms_find(const struct kallsyms *k, uint64_t addr)
{
	size_t lo = 0, hi = k->n, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (k->syms[mid].addr <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo ? &k->syms[lo - 1] : NULL;
}
