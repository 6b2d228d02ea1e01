/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel code of a known build: named at capture, but its lines may still be had. */
#include <string.h>

#include "tools/symbolize/rewrite_internal.h"

bool is_kernel_code(const struct rewrite *w, uint32_t id)
{
	const struct mapping *m = &w->st->mappings[id];

	return m->start >> 63 && store_cstr(w->st, m->build_id)[0] &&
	       object_is_kernel(store_cstr(w->st, m->file));
}

const struct function *captured(const struct rewrite *w, uint32_t use)
{
	const struct location *l = location_of(w, use);
	uint32_t at = l - w->st->locations;

	return l->nlines
		       ? &w->st->functions[store_lines(w->st, at)[l->nlines - 1].function]
		       : NULL;
}

/*
 * The kernel's own name for the code at hand stays. It is also the proof that it is this code: an
 * answer for another function does not count, and for a module, which may lie in ways we do not
 * know, there has to be a name.
 */
void check_kernel(struct rewrite *w, struct job *j, size_t i)
{
	struct entry *en = &w->objects->v[j->entry];
	const struct function *f = captured(w, j->which[i]);
	struct sym_answer *a = &j->answers[i];

	if (a->location == SYM_NONE)
		return;
	if (f ? !object_is_called(
			en->object, a, j->vaddrs[i],
			store_cstr(w->st, f->system_name ? f->system_name : f->name))
	      : strncmp(en->path, "[kernel.", 8) != 0)
		*a = (struct sym_answer){.location = SYM_NONE, .reason = SYM_NO_FUNCTION};
}

void keep_name(struct rewrite *w, uint32_t use, struct line *outer)
{
	const struct function *had = captured(w, use);
	struct function f = w->st->functions[outer->function];

	if (!had)
		return;
	f.name = had->name;
	f.system_name = had->system_name;
	outer->function = store_function(w->st, &f);
}
