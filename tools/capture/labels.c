/* SPDX-License-Identifier: Apache-2.0 */
/* The labels of a sample: who ran. */
#include "tools/capture/labels.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/sym/cgroup.h"
#include "tools/capture/choose.h"
#include "tools/capture/kinds.h"
#include "tools/capture/procread.h"

static const struct {
	const char *name;
	uint32_t extra; /* 0: always there */
} names[] = {
	{"comm", 0},
	{"pid", 0},
	{"executable", 0},
	{"build_id", 0},
	{"container_id", 0},
	{"container", 0},
	{"pod", 0},
	{"namespace", 0},
	{"systemd_unit", 0},
	{"node", 0},
	{"thread_name", LABEL_THREAD_NAME},
	{"thread_id", LABEL_THREAD_ID},
	{"ppid", LABEL_PPID},
	{"cpu", LABEL_CPU},
	{"cgroup", LABEL_CGROUP},
	{"pod_uid", LABEL_POD_UID},
	{"kernel_release", LABEL_KERNEL_RELEASE},
	{"image", LABEL_IMAGE},
};

int labels_choose(const char *list, uint32_t *extra, struct err *e)
{
	size_t n, i;

	for (;; list += n + 1) {
		n = strcspn(list, ",");
		for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
			if (strlen(names[i].name) == n && !memcmp(names[i].name, list, n))
				break;
		}
		if (i == sizeof(names) / sizeof(*names))
			return err_set(e, EINVAL, "no such label: %.*s", (int)n, list);
		*extra |= names[i].extra;
		if (!list[n])
			return 0;
	}
}

static void put_executable(struct label_list *l, struct proc *p, const struct space *s)
{
	char hex[2 * BUILD_ID_MAX + 1];
	struct code_file *exe = s ? s->exe : NULL;
	struct vma *v = NULL;
	size_t i;

	if (!exe)
		return;
	for (i = 0; i < s->n && !v; i++) {
		if (s->vmas[i].file == exe)
			v = &s->vmas[i];
	}
	label_list_put(l, "executable", exe->name);
	build_id_hex(file_build_id(exe, p->tgid, v), hex);
	label_list_put(l, "build_id", hex);
}

/* A pod that left nothing on disk: its name is the host name that its programs are told. */
static void put_host_name(struct label_list *l, uint32_t tgid)
{
	char *env = procread_env(tgid, "HOSTNAME\0");

	label_list_put(l, "pod", procread_env_value(env, "HOSTNAME"));
	free(env);
}

/* One that is there only if it was chosen: else for rules to see. */
static void put_extra(const struct label_conf *conf, struct label_list *l, uint32_t extra,
		      const char *key, const char *value)
{
	uint32_t from = l->n;

	label_list_put(l, key, value);
	if (!(conf->extra & extra))
		label_list_hide(l, from);
}

static void put_cgroup(const struct label_conf *conf, const struct label_sources *src,
		       struct label_list *l, const struct label_subject *who)
{
	char id[CGROUP_NAME_MAX] = "", uid[CGROUP_NAME_MAX] = "", unit[CGROUP_NAME_MAX];
	const struct container_names *found;

	put_extra(conf, l, LABEL_CGROUP, "cgroup", who->cgroup);
	if (cgroup_systemd_unit(who->cgroup, unit))
		label_list_put(l, "systemd_unit", unit);
	cgroup_container_id(who->cgroup, id);
	cgroup_pod_uid(who->cgroup, uid);
	if (!*id && !*uid)
		return;
	label_list_put(l, "container_id", id);
	put_extra(conf, l, LABEL_POD_UID, "pod_uid", uid);
	found = containers_find(src->containers, id, uid);
	label_list_put(l, "container", found->container);
	if (found->pod)
		label_list_put(l, "pod", found->pod);
	else if (*uid)
		put_host_name(l, who->proc->tgid);
	label_list_put(l, "namespace", found->namespace);
	put_extra(conf, l, LABEL_IMAGE, "image", found->image);
}

void labels_of_process(const struct label_conf *conf, const struct label_sources *src,
		       const struct label_subject *who, struct label_list *l)
{
	const char *env = who->space ? who->space->env : NULL, *value;
	uint32_t from;
	size_t i;

	label_list_put_comm(l, "comm", who->comm);
	label_list_put_num(l, "pid", who->proc->tgid);
	from = l->n;
	label_list_put_num(l, "ppid", who->ppid);
	if (!(conf->extra & LABEL_PPID))
		label_list_hide(l, from);
	put_executable(l, who->proc, who->space);
	put_cgroup(conf, src, l, who);
	label_list_put(l, "node", conf->node);
	put_extra(conf, l, LABEL_KERNEL_RELEASE, "kernel_release", conf->kernel_release);
	for (i = 0; i < conf->nenv; i++) {
		value = procread_env_value(env, conf->env[i].value);
		if (value)
			label_list_set(l, conf->env[i].key, value);
	}
	for (i = 0; i < conf->nfixed; i++)
		label_list_set(l, conf->fixed[i].key, conf->fixed[i].value);
}

static void put_thread(const struct label_conf *conf, struct label_list *l,
		       const struct sample_head *h)
{
	char number[16];

	if (conf->extra & LABEL_THREAD_NAME)
		label_list_put_comm(l, "thread_name", h->comm);
	if (conf->extra & LABEL_THREAD_ID)
		label_list_put_num(l, "thread_id", h->tid);
	if (conf->extra & LABEL_CPU) {
		snprintf(number, sizeof(number), "%u", h->cpu);
		label_list_put(l, "cpu", number);
	}
}

static uint32_t make_set(const struct label_conf *conf, const struct label_sources *src,
			 struct store *st, const struct label_subject *who,
			 const struct sample_head *h)
{
	struct label_list l = {.st = st};

	labels_of_process(conf, src, who, &l);
	if (src->chooser && !chooser_takes(src->chooser, &l, who, NULL))
		return ID_NONE;
	label_list_show(&l);
	put_thread(conf, &l, h);
	kind_put_labels(&l, h);
	return store_labelset(st, l.v, l.n);
}

/* On a busy machine it can take the kernel long from the exec to a program that has begun. */
static void look_again(const char *variables, uint32_t tgid, struct space *s)
{
	char *env = procread_env(tgid, variables);

	if (!env)
		return;
	free(s->env);
	s->env = env;
	s->env_guessed = false;
}

uint32_t labels_of_sample(const struct label_conf *conf, const struct label_sources *src,
			  struct store *st, uint32_t epoch, struct proc *p,
			  const struct sample_head *h)
{
	const uint32_t per_sample =
		LABEL_THREAD_NAME | LABEL_THREAD_ID | LABEL_PPID | LABEL_CPU;
	struct label_cache *c = &p->labels;
	struct space *s = proc_named_space(p, h);
	struct label_subject who = {
		.proc = p,
		.space = s,
		.comm = h->leader_comm,
		.ppid = h->ppid,
		.cgroup_id = h->cgroup_id,
	};

	if (h->kind == KIND_CPU && !(conf->extra & per_sample) && c->epoch == epoch &&
	    c->space == who.space && c->cgroup_id == h->cgroup_id &&
	    !memcmp(c->comm, h->leader_comm, sizeof(c->comm)))
		return c->labelset;
	if (s && s->env_guessed)
		look_again(src->env_names, p->tgid, s);
	who.cgroup = cgroups_path(src->cgroups, p, h->cgroup_id);
	/* each is asked for once in an interval */
	if (h->kind != KIND_CPU)
		return make_set(conf, src, st, &who, h);
	*c = (struct label_cache){
		.epoch = epoch,
		.labelset = make_set(conf, src, st, &who, h),
		.cgroup_id = h->cgroup_id,
		.space = who.space,
	};
	memcpy(c->comm, h->leader_comm, sizeof(c->comm));
	return c->labelset;
}
