/* SPDX-License-Identifier: Apache-2.0 */
/* Control groups of processes: from the number in a sample to a path. */
#include "tools/capture/cgroups.h"

#include <fts.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/base/hash.h"
#include "lib/base/idtable.h"
#include "lib/base/xalloc.h"
#include "tools/capture/clock.h"
#include "tools/capture/procread.h"

#define ROOT_ID 1 /* of the v2 hierarchy, mounted or not */
#define WALK_PAUSE_NS (NS_PER_S / 2)

struct group {
	uint64_t id;
	char *path;
};

struct cgroups {
	char *v2; /* where the v2 tree is mounted; NULL: nowhere */
	bool v1;  /* there are v1 hierarchies too */
	struct group *groups;
	size_t n, cap;
	struct id_table ids;
	uint64_t walked_ns;
};

/* Field number `field` (from 0) of a line, in place. */
static char *field_of(char *line, int field)
{
	char *p = line;

	for (; field > 0 && p; field--) {
		p = strchr(p, ' ');
		p = p ? p + 1 : NULL;
	}
	return p;
}

/* ID PARENT MAJ:MIN ROOT MOUNTPOINT OPTIONS … - TYPE SOURCE OPTIONS */
static void find_mounts(struct cgroups *cg)
{
	FILE *f = fopen("/proc/self/mountinfo", "re");
	char *line = NULL, *type, *point;
	size_t size = 0;

	if (!f)
		return;
	while (getline(&line, &size, f) > 0) {
		type = strstr(line, " - ");
		point = field_of(line, 4);
		if (!type || !point)
			continue;
		type += 3;
		if (!strncmp(type, "cgroup2 ", 8) && !cg->v2)
			cg->v2 = xstrndup(point, strcspn(point, " "));
		else if (!strncmp(type, "cgroup ", 7))
			cg->v1 = true;
	}
	free(line);
	fclose(f);
}

struct cgroups *cgroups_new(void)
{
	struct cgroups *cg = xcalloc(1, sizeof(*cg));

	id_table_init(&cg->ids);
	find_mounts(cg);
	return cg;
}

static void clear(struct cgroups *cg)
{
	size_t i;

	for (i = 0; i < cg->n; i++)
		free(cg->groups[i].path);
	cg->n = 0;
	id_table_clear(&cg->ids);
}

void cgroups_free(struct cgroups *cg)
{
	if (!cg)
		return;
	clear(cg);
	id_table_release(&cg->ids);
	free(cg->groups);
	free(cg->v2);
	free(cg);
}

static void walk(struct cgroups *cg)
{
	char *roots[] = {cg->v2, NULL};
	size_t skip = strlen(cg->v2);
	FTSENT *entry;
	FTS *fts;

	clear(cg);
	fts = fts_open(roots, FTS_PHYSICAL | FTS_XDEV | FTS_NOCHDIR, NULL);
	if (!fts)
		return;
	while ((entry = fts_read(fts))) {
		if (entry->fts_info != FTS_D)
			continue;
		XGROW(cg->groups, cg->n, cg->cap);
		cg->groups[cg->n] = (struct group){
			.id = entry->fts_statp->st_ino,
			.path = xstrdup(entry->fts_path[skip] ? entry->fts_path + skip
							      : "/"),
		};
		id_table_put(&cg->ids, hash_u64(0, cg->groups[cg->n].id), cg->n);
		cg->n++;
	}
	fts_close(fts);
}

static const char *find_v2(const struct cgroups *cg, uint64_t id)
{
	uint64_t h = hash_u64(0, id);
	size_t slot = id_table_first(&cg->ids, h);
	uint32_t i;

	for (; (i = id_table_at(&cg->ids, h, &slot)) != ID_NONE; slot++) {
		if (cg->groups[i].id == id)
			return cg->groups[i].path;
	}
	return NULL;
}

static const char *path_v2(struct cgroups *cg, uint64_t id)
{
	const char *path = find_v2(cg, id);
	uint64_t now;

	if (path || !cg->v2)
		return path;
	now = monotonic_ns();
	/* a group that came and went stays unknown: do not walk for each of its samples */
	if (cg->walked_ns && now - cg->walked_ns < WALK_PAUSE_NS)
		return NULL;
	cg->walked_ns = now;
	walk(cg);
	return find_v2(cg, id);
}

/*
 * NUMBER:CONTROLLERS:PATH, a line for each hierarchy: the deepest path of those that name it. In a
 * namespace of control groups what is outside begins with "/..", once for each level.
 */
static char *path_told(uint32_t tgid)
{
	static const char *const names[] = {
		":memory:", ":cpu,cpuacct:", ":cpu:", ":pids:", ":name=systemd:", "0::"};
	char text[8192], *line, *save = NULL, *best = NULL;
	size_t i;

	if (procread_file(tgid, "cgroup", text, sizeof(text)) <= 0)
		return NULL;
	for (line = strtok_r(text, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
			char *at = strstr(line, names[i]);

			if (!at)
				continue;
			at += strlen(names[i]);
			while (!strncmp(at, "/../", 4))
				at += 3;
			if (strlen(at) > (best ? strlen(best) : 1))
				best = at;
		}
	}
	return xstrdup(best ? best : "");
}

static void read_told(struct proc *p)
{
	char *path = p->told_read ? NULL : path_told(p->tgid);

	p->told_read = true;
	if (path) {
		free(p->told_cgroup);
		p->told_cgroup = path;
	}
}

const char *cgroups_path(struct cgroups *cg, struct proc *p, uint64_t id)
{
	const char *path = path_v2(cg, id);

	if (path && (path[1] || !cg->v1))
		return path;
	read_told(p);
	if (p->told_cgroup && *p->told_cgroup)
		return p->told_cgroup;
	return path ? path : "";
}

uint64_t cgroups_id(struct cgroups *cg, uint32_t tgid)
{
	char text[8192], *path, *name;
	uint64_t id = 0;
	struct stat st;

	if (procread_file(tgid, "cgroup", text, sizeof(text)) <= 0)
		return 0;
	path = !strncmp(text, "0::", 3) ? text : strstr(text, "\n0::");
	if (!path)
		return 0;
	path = strchr(path, '/');
	if (!path)
		return 0;
	path[strcspn(path, "\n")] = 0;
	if (!cg->v2)
		return path[1] ? 0 : ROOT_ID;
	if (!strncmp(path, "/../", 4)) /* outside of what is mounted */
		return 0;
	name = xasprintf("%s%s", cg->v2, path);
	if (stat(name, &st) == 0)
		id = st.st_ino;
	free(name);
	return id;
}
