/* SPDX-License-Identifier: Apache-2.0 */
/* Who runs now, and what would be done with it. */
#include "tools/capture/survey.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/buf.h"
#include "lib/base/xalloc.h"
#include "lib/ui/escape.h"
#include "tools/capture/choose.h"
#include "tools/capture/procread.h"

#define LINE_MAX_BYTES (1 << 20)

/* The process as it is now; false if it has ended, or is the kernel's own. */
static bool look_at(struct proc *p, const struct label_sources *src,
		    char comm[EVENT_COMM_LEN], struct label_subject *who)
{
	*who = (struct label_subject){.proc = p, .comm = comm};
	if (p->kernel_thread || p->closed_ns != UINT64_MAX || !p->nimages ||
	    !procread_identity(p->tgid, comm, &who->ppid))
		return false;
	who->space = p->images[p->nimages - 1].space;
	who->cgroup_id = cgroups_id(src->cgroups, p->tgid);
	who->cgroup = cgroups_path(src->cgroups, p, who->cgroup_id);
	return true;
}

void survey_decide(struct procs *ps, const struct label_conf *conf,
		   const struct label_sources *src)
{
	struct store *st = store_new(STORE_EXACT);
	char comm[EVENT_COMM_LEN];
	struct label_subject who;
	struct proc *p;
	size_t i;

	for (i = 0; i < ps->nbuckets; i++) {
		for (p = ps->buckets[i]; p; p = p->next) {
			struct label_list l = {.st = st};

			if (!look_at(p, src, comm, &who) || !who.cgroup_id)
				continue;
			labels_of_process(conf, src, &who, &l);
			chooser_takes(src->chooser, &l, &who, NULL);
		}
	}
	chooser_reset(src->chooser);
	store_free(st);
}

/* --- --explain ----------------------------------------------------------------------------- */

static void print_labels(const struct label_list *l, struct buf *out)
{
	const char *sep = "{";
	uint32_t i;

	for (i = 0; i < l->n; i++) {
		if (l->hidden[i])
			continue;
		buf_printf(out, "%s%s=", sep, store_cstr(l->st, l->v[i].key));
		sep = ",";
		if (l->v[i].numeric)
			buf_printf(out, "%" PRId64, l->v[i].num);
		else
			buf_printf(out, "\"%s\"", store_cstr(l->st, l->v[i].str));
	}
	buf_puts(out, *sep == '{' ? "{}" : "}");
}

static void explain(const struct label_conf *conf, const struct label_sources *src,
		    struct store *st, const struct label_subject *who)
{
	struct buf why = BUF_INIT(LINE_MAX_BYTES), before = BUF_INIT(LINE_MAX_BYTES),
		   after = BUF_INIT(LINE_MAX_BYTES), safe = BUF_INIT(LINE_MAX_BYTES);
	struct label_list l = {.st = st};
	bool in = true;

	labels_of_process(conf, src, who, &l);
	print_labels(&l, &before);
	if (src->chooser)
		in = chooser_takes(src->chooser, &l, who, &why);
	print_labels(&l, &after);
	escape_terminal(&safe, who->comm, strnlen(who->comm, EVENT_COMM_LEN));
	printf("%" PRIu32 " %s: %s%s", who->proc->tgid, buf_str(&safe), in ? "in" : "out",
	       why.len ? ": " : "");
	buf_clear(&safe);
	escape_terminal(&safe, buf_str(&why), why.len);
	printf("%s\n", buf_str(&safe));
	buf_clear(&safe);
	escape_terminal(&safe, buf_str(&before), before.len);
	printf("\t%s\n", buf_str(&safe));
	if (strcmp(buf_str(&before), buf_str(&after))) {
		buf_clear(&safe);
		escape_terminal(&safe, buf_str(&after), after.len);
		printf("\t-> %s\n", buf_str(&safe));
	}
	buf_release(&why);
	buf_release(&before);
	buf_release(&after);
	buf_release(&safe);
}

static int cmp_tgid(const void *pa, const void *pb)
{
	const struct proc *const *a = pa, *const *b = pb;

	return (*a)->tgid < (*b)->tgid ? -1 : (*a)->tgid > (*b)->tgid;
}

int survey_explain(struct procs *ps, const struct label_conf *conf,
		   const struct label_sources *src, struct err *e)
{
	struct store *st = store_new(STORE_EXACT);
	struct proc **all = xcalloc(ps->n + 1, sizeof(struct proc *)), *p;
	char comm[EVENT_COMM_LEN];
	struct label_subject who;
	size_t i, n = 0;

	for (i = 0; i < ps->nbuckets; i++) {
		for (p = ps->buckets[i]; p; p = p->next)
			all[n++] = p;
	}
	qsort(all, n, sizeof(*all), cmp_tgid);
	for (i = 0; i < n; i++) {
		if (look_at(all[i], src, comm, &who))
			explain(conf, src, st, &who);
	}
	free(all);
	store_free(st);
	if (fflush(stdout) || ferror(stdout))
		return err_errno(e, errno, "standard output");
	return 0;
}
