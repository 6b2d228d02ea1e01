/* SPDX-License-Identifier: Apache-2.0 */
/* The labels of a sample: who ran. */
#include "tools/capture/labels.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/sym/cgroup.h"
#include "tools/capture/procread.h"

#define LABELS_MAX 32 /* of ours, beside those the user gives */

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

struct label_list {
	struct store *st;
	struct label *v;
	uint32_t n;
};

static void put_str(struct label_list *l, const char *key, const char *value)
{
	if (value && *value)
		l->v[l->n++] = (struct label){
			.key = store_puts(l->st, key),
			.str = store_puts(l->st, value),
		};
}

static void put_num(struct label_list *l, const char *key, int64_t num)
{
	if (num)
		l->v[l->n++] = (struct label){
			.key = store_puts(l->st, key),
			.numeric = true,
			.num = num,
		};
}

/* What the user says of a key goes, as with prof-merge. */
static void remove_key(struct label_list *l, const char *key)
{
	uint32_t id = store_puts(l->st, key), i, kept = 0;

	for (i = 0; i < l->n; i++) {
		if (l->v[i].key != id)
			l->v[kept++] = l->v[i];
	}
	l->n = kept;
}

static void set_str(struct label_list *l, const char *key, const char *value)
{
	remove_key(l, key);
	put_str(l, key, value);
}

/* A name the kernel gave, in its fixed field. */
static void put_comm(struct label_list *l, const char *key,
		     const char comm[EVENT_COMM_LEN])
{
	char name[EVENT_COMM_LEN + 1];

	memcpy(name, comm, EVENT_COMM_LEN);
	name[EVENT_COMM_LEN] = 0;
	put_str(l, key, name);
}

static void put_executable(struct label_list *l, struct proc *p, struct space *s)
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
	put_str(l, "executable", exe->name);
	build_id_hex(file_build_id(exe, p->tgid, v), hex);
	put_str(l, "build_id", hex);
}

/* A pod that left nothing on disk: its name is the host name that its programs are told. */
static void put_host_name(struct label_list *l, uint32_t tgid)
{
	char *env = procread_env(tgid, "HOSTNAME\0");

	put_str(l, "pod", procread_env_value(env, "HOSTNAME"));
	free(env);
}

static void put_cgroup(const struct label_conf *conf, const struct label_sources *src,
		       struct label_list *l, uint32_t tgid, const char *path)
{
	char id[CGROUP_NAME_MAX] = "", uid[CGROUP_NAME_MAX] = "", unit[CGROUP_NAME_MAX];
	const struct container_names *found;

	if (conf->extra & LABEL_CGROUP)
		put_str(l, "cgroup", path);
	if (cgroup_systemd_unit(path, unit))
		put_str(l, "systemd_unit", unit);
	cgroup_container_id(path, id);
	cgroup_pod_uid(path, uid);
	if (!*id && !*uid)
		return;
	put_str(l, "container_id", id);
	if (conf->extra & LABEL_POD_UID)
		put_str(l, "pod_uid", uid);
	found = containers_find(src->containers, id, uid);
	put_str(l, "container", found->container);
	if (found->pod)
		put_str(l, "pod", found->pod);
	else if (*uid)
		put_host_name(l, tgid);
	put_str(l, "namespace", found->namespace);
	if (conf->extra & LABEL_IMAGE)
		put_str(l, "image", found->image);
}

static uint32_t make_set(const struct label_conf *conf, const struct label_sources *src,
			 struct store *st, struct proc *p, const struct sample_head *h,
			 struct space *s)
{
	struct label v[LABELS_MAX + 2 * LABELS_FIXED_MAX];
	struct label_list l = {.st = st, .v = v};
	char number[16];
	size_t i;

	put_comm(&l, "comm", h->leader_comm);
	put_num(&l, "pid", h->tgid);
	put_executable(&l, p, s);
	put_cgroup(conf, src, &l, h->tgid, cgroups_path(src->cgroups, p, h->cgroup_id));
	put_str(&l, "node", conf->node);
	if (conf->extra & LABEL_THREAD_NAME)
		put_comm(&l, "thread_name", h->comm);
	if (conf->extra & LABEL_THREAD_ID)
		put_num(&l, "thread_id", h->tid);
	if (conf->extra & LABEL_PPID)
		put_num(&l, "ppid", h->ppid);
	if (conf->extra & LABEL_KERNEL_RELEASE)
		put_str(&l, "kernel_release", conf->kernel_release);
	if (conf->extra & LABEL_CPU) {
		snprintf(number, sizeof(number), "%u", h->cpu);
		put_str(&l, "cpu", number);
	}
	for (i = 0; i < conf->nenv; i++) {
		const char *value =
			procread_env_value(s ? s->env : NULL, conf->env[i].value);

		if (value)
			set_str(&l, conf->env[i].key, value);
	}
	for (i = 0; i < conf->nfixed; i++) {
		set_str(&l, conf->fixed[i].key, conf->fixed[i].value);
	}
	return store_labelset(st, v, l.n);
}

uint32_t labels_of_sample(const struct label_conf *conf, const struct label_sources *src,
			  struct store *st, uint32_t epoch, struct proc *p,
			  const struct sample_head *h)
{
	const uint32_t per_sample =
		LABEL_THREAD_NAME | LABEL_THREAD_ID | LABEL_PPID | LABEL_CPU;
	struct space *s = proc_space(p, h->ktime);
	struct label_cache *c = &p->labels;

	if (conf->extra & per_sample)
		return make_set(conf, src, st, p, h, s);
	if (c->epoch != epoch || c->space != s || c->cgroup_id != h->cgroup_id ||
	    memcmp(c->comm, h->leader_comm, sizeof(c->comm))) {
		*c = (struct label_cache){
			.epoch = epoch,
			.labelset = make_set(conf, src, st, p, h, s),
			.cgroup_id = h->cgroup_id,
			.space = s,
		};
		memcpy(c->comm, h->leader_comm, sizeof(c->comm));
	}
	return c->labelset;
}
