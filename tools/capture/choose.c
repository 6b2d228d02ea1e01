/* SPDX-License-Identifier: Apache-2.0 */
/* Which processes are profiled. */
#include "tools/capture/choose.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/xalloc.h"
#include "tools/capture/rules.h"
#include "tools/capture/sampler.h"

struct chooser {
	const struct choice_conf *conf;
	struct rules *rules; /* NULL: none */
	struct selector **selects, **excludes;
	struct sampler *sampler; /* NULL: not yet */
};

bool choice_by_labels(const struct choice_conf *conf)
{
	return conf->comms.n || conf->cgroups.n || conf->containers.n ||
	       conf->selects.n || conf->excludes.n || conf->rules_file;
}

bool choice_by_pid_alone(const struct choice_conf *conf)
{
	return conf->by_pid && !conf->comms.n && !conf->cgroups.n && !conf->containers.n;
}

static int parse_selectors(const struct text_list *texts, const char *option,
			   struct selector ***out, struct err *e)
{
	size_t i;
	int r = 0;

	*out = xcalloc(texts->n + 1, sizeof(**out));
	for (i = 0; i < texts->n && r >= 0; i++) {
		r = selector_parse(texts->v[i], &(*out)[i], e);
		if (r >= 0)
			r = rules_check_selector((*out)[i], e);
		if (r < 0)
			err_prefix(e, "%s", option);
	}
	return r;
}

int chooser_new(const struct choice_conf *conf, struct chooser **out, struct err *e)
{
	struct chooser *c = xcalloc(1, sizeof(*c));
	int r;

	c->conf = conf;
	r = parse_selectors(&conf->selects, "--select", &c->selects, e);
	if (r >= 0)
		r = parse_selectors(&conf->excludes, "--exclude", &c->excludes, e);
	if (r >= 0 && conf->rules_file)
		r = rules_read(conf->rules_file, false, &c->rules, e);
	if (r < 0)
		chooser_free(c);
	else
		*out = c;
	return r;
}

static void free_selectors(struct selector **s, size_t n)
{
	size_t i;

	for (i = 0; s && i < n; i++)
		selector_free(s[i]);
	free(s);
}

void chooser_free(struct chooser *c)
{
	if (!c)
		return;
	free_selectors(c->selects, c->conf->selects.n);
	free_selectors(c->excludes, c->conf->excludes.n);
	rules_free(c->rules);
	free(c);
}

void chooser_connect(struct chooser *c, struct sampler *s)
{
	c->sampler = s;
}

void chooser_reset(struct chooser *c)
{
	size_t i;

	if (!c)
		return;
	for (i = 0; i < c->conf->selects.n; i++)
		selector_reset(c->selects[i]);
	for (i = 0; i < c->conf->excludes.n; i++)
		selector_reset(c->excludes[i]);
	rules_reset(c->rules);
}

int chooser_reload(struct chooser *c, struct err *e)
{
	struct rules *fresh;
	int r;

	if (!c->conf->rules_file)
		return 0;
	r = rules_read(c->conf->rules_file, true, &fresh, e);
	if (r < 0)
		return r;
	rules_free(c->rules);
	c->rules = fresh;
	sampler_decide_anew(c->sampler, chooser_inherits(c));
	return 0;
}

static bool any_has_key(struct selector *const *s, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (selector_has_key(s[i], "pid") || selector_has_key(s[i], "ppid"))
			return true;
	}
	return false;
}

bool chooser_inherits(const struct chooser *c)
{
	return !any_has_key(c->selects, c->conf->selects.n) &&
	       !any_has_key(c->excludes, c->conf->excludes.n) &&
	       !(c->rules && rules_by_pid(c->rules));
}

/* --- targets ------------------------------------------------------------------------------- */

static bool comm_fits(const struct text_list *patterns, const char comm[EVENT_COMM_LEN])
{
	char name[EVENT_COMM_LEN + 1] = "";
	size_t i;

	memcpy(name, comm, EVENT_COMM_LEN);
	for (i = 0; i < patterns->n; i++) {
		if (!fnmatch(patterns->v[i], name, 0))
			return true;
	}
	return false;
}

/* A path, with or without the slash in front, or one above it. */
static bool cgroup_fits(const struct text_list *paths, const char *cgroup)
{
	size_t i, n;

	for (i = 0; i < paths->n; i++) {
		const char *path = paths->v[i] + (paths->v[i][0] == '/');
		const char *at = cgroup + (*cgroup == '/');

		n = strlen(path);
		while (n && path[n - 1] == '/')
			n--;
		if (!strncmp(at, path, n) && (!n || !at[n] || at[n] == '/'))
			return true;
	}
	return false;
}

static bool container_fits(const struct text_list *wanted, const struct label_list *l)
{
	uint32_t id = store_puts(l->st, "container_id");
	uint32_t name = store_puts(l->st, "container"), i;
	const char *value;
	size_t w, n;

	for (i = 0; i < l->n; i++) {
		if (l->v[i].numeric || (l->v[i].key != id && l->v[i].key != name))
			continue;
		value = store_cstr(l->st, l->v[i].str);
		for (w = 0; w < wanted->n; w++) {
			n = strlen(wanted->v[w]);
			if (!strcmp(value, wanted->v[w]) ||
			    (l->v[i].key == id && n >= CONTAINER_ID_MIN &&
			     !strncmp(value, wanted->v[w], n)))
				return true;
		}
	}
	return false;
}

static bool is_target(const struct chooser *c, const struct label_list *l,
		      const struct label_subject *who)
{
	const struct choice_conf *conf = c->conf;

	if (!conf->by_pid && !conf->comms.n && !conf->cgroups.n && !conf->containers.n)
		return true;
	return (conf->by_pid && c->sampler &&
		sampler_wants(c->sampler, who->proc->tgid) & WANT_PID) ||
	       comm_fits(&conf->comms, who->comm) ||
	       cgroup_fits(&conf->cgroups, who->cgroup) ||
	       container_fits(&conf->containers, l);
}

/* ------------------------------------------------------------------------------------------- */

static void say(struct buf *why, const char *what, const char *which)
{
	if (why)
		buf_printf(why, "%s%s", what, which);
}

static bool decide(struct chooser *c, struct label_list *l,
		   const struct label_subject *who, struct buf *why)
{
	unsigned int line = 0;
	bool target, keep;
	size_t i;

	/* targets are named by what a process is, not by what rules make of it */
	target = is_target(c, l, who);
	keep = !c->rules || rules_apply(c->rules, l, &line);
	if (!target) {
		say(why, "not a target", "");
		return false;
	}
	if (line)
		say(why, "", rules_line(c->rules, line));
	if (!keep)
		return false;
	for (i = 0; i < c->conf->selects.n; i++) {
		if (!selector_match(c->selects[i], l->st, l->v, l->n)) {
			say(why, line ? "; not --select " : "not --select ",
			    c->conf->selects.v[i]);
			return false;
		}
	}
	for (i = 0; i < c->conf->excludes.n; i++) {
		if (selector_match(c->excludes[i], l->st, l->v, l->n)) {
			say(why, line ? "; --exclude " : "--exclude ",
			    c->conf->excludes.v[i]);
			return false;
		}
	}
	return true;
}

bool chooser_takes(struct chooser *c, struct label_list *l,
		   const struct label_subject *who, struct buf *why)
{
	bool takes = decide(c, l, who, why);

	if (c->sampler)
		sampler_decide(c->sampler, who->proc->tgid, who->comm, who->cgroup_id,
			       takes);
	return takes;
}
