/* SPDX-License-Identifier: Apache-2.0 */
/* drop_frames and keep_frames: what runtime code a profile itself asks to be cut off. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/xalloc.h"
#include "lib/query/stack.h"

enum cut {
	CUT_UNKNOWN,
	CUT_NONE,
	CUT_HERE,  /* the location and everything below it go */
	CUT_BELOW, /* trimmed to its outer lines; everything below it goes */
};

static int compile(const struct store *st, uint32_t text, struct regex **out,
		   struct err *e)
{
	char *anchored = xasprintf("^(%s)$", store_cstr(st, text));
	int r = regex_new(anchored, strlen(anchored), false, out, e);

	free(anchored);
	return r;
}

int prune_init(struct prune *p, const struct store *st, uint32_t drop, uint32_t keep,
	       struct err *e)
{
	int r;

	*p = (struct prune){.drop_id = drop, .keep_id = keep};
	if (!drop)
		return 0;
	r = compile(st, drop, &p->drop, e);
	if (r)
		return err_prefix(e, "drop_frames of the profile ignored");
	r = keep ? compile(st, keep, &p->keep, e) : 0;
	if (r) {
		regex_free(p->drop);
		p->drop = NULL;
		return err_prefix(e, "drop_frames of the profile ignored: keep_frames");
	}
	return 0;
}

void prune_release(struct prune *p)
{
	regex_free(p->drop);
	regex_free(p->keep);
	memo_release(&p->locations);
	memo_release(&p->stacks);
	free(p->cuts);
	*p = (struct prune){0};
}

/*
 * The name as the patterns see it: no leading "." (PPC64 entry points), and cut where the
 * argument list starts: the first "(" that is not part of one of the two C++ spellings.
 */
static struct str simplify(struct str s)
{
	static const char *const spellings[] = {"(anonymous namespace)", "operator()"};
	size_t i = 0, k, len;

	if (s.n && s.p[0] == '.') {
		s.p++;
		s.n--;
	}
	while (i < s.n) {
		for (k = 0; k < 2; k++) {
			len = strlen(spellings[k]);
			if (s.n - i >= len && !memcmp(s.p + i, spellings[k], len))
				break;
		}
		if (k < 2) {
			i += strlen(spellings[k]);
		} else if (s.p[i] == '(') {
			s.n = (uint32_t)i;
		} else {
			i++;
		}
	}
	return s;
}

static bool is_dropped(struct prune *p, const struct store *st, uint32_t function)
{
	struct str s = store_str(st, st->functions[function].name);

	if (!s.n)
		return false;
	s = simplify(s);
	return regex_match(p->drop, s.p, s.n) &&
	       !(p->keep && regex_match(p->keep, s.p, s.n));
}

/* What becomes of one location: fills in both memos. */
static void judge(struct prune *p, struct store *st, uint32_t id)
{
	struct location l = st->locations[id];
	struct line *lines = lines_copy(st, id);
	enum cut cut = CUT_NONE;
	uint32_t i, kept = id;

	for (i = l.nlines; i; i--) {
		if (is_dropped(p, st, lines[i - 1].function))
			break;
	}
	if (i && i == l.nlines) {
		cut = CUT_HERE;
	} else if (i) {
		cut = CUT_BELOW;
		kept = store_location(st, l.mapping, l.address, l.folded, lines + i,
				      l.nlines - i);
	}
	free(lines);
	p->cuts[id] = cut;
	*memo_at(&p->locations, id, st->nlocations) = kept;
}

static enum cut cut_of(struct prune *p, struct store *st, uint32_t id)
{
	size_t cap = p->ncuts;

	if (id >= p->ncuts) {
		XRESERVE(p->cuts, cap, st->nlocations);
		memset(p->cuts + p->ncuts, CUT_UNKNOWN, cap - p->ncuts);
		p->ncuts = cap;
	}
	if (p->cuts[id] == CUT_UNKNOWN)
		judge(p, st, id);
	return p->cuts[id];
}

static uint32_t prune_now(struct prune *p, struct store *st, uint32_t stack)
{
	struct seq seq = st->stacks[stack];
	uint32_t *frames, n = 0, i, result, from = 0;
	bool user = false, same = true;
	enum cut cut;

	/* from the root; nothing is cut before the first frame that is to stay */
	for (i = seq.n; i; i--) {
		cut = cut_of(p, st, st->frames[seq.off + i - 1]);
		user |= cut == CUT_NONE;
		if (user && cut != CUT_NONE) {
			from = cut == CUT_HERE ? i : i - 1;
			break;
		}
	}
	frames = xmalloc((seq.n - from + 1) * sizeof(*frames));
	for (i = from; i < seq.n; i++) {
		cut_of(p, st, st->frames[seq.off + i]);
		frames[n] =
			*memo_at(&p->locations, st->frames[seq.off + i], st->nlocations);
		same &= frames[n] == st->frames[seq.off + i];
		n++;
	}
	result = same && !from ? stack : store_stack(st, frames, n);
	free(frames);
	return result;
}

uint32_t prune_stack(struct prune *p, struct store *st, uint32_t stack)
{
	uint32_t *known, result;

	if (!p->drop)
		return stack;
	known = memo_at(&p->stacks, stack, st->nstacks);
	if (*known != MEMO_UNKNOWN)
		return *known;
	result = prune_now(p, st, stack);
	*memo_at(&p->stacks, stack, st->nstacks) = result;
	return result;
}
