/* SPDX-License-Identifier: Apache-2.0 */
/* Names of containers and pods, from what the kubelet and the runtimes leave on disk. */
#include "tools/capture/containers.h"

#include <dirent.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/hash.h"
#include "lib/base/idtable.h"
#include "lib/base/xalloc.h"
#include "lib/sym/podlog.h"
#include "tools/capture/clock.h"

#define RETRY_NS (5 * NS_PER_S) /* what was not known is looked for again */
#define JSON_MAX_BYTES (16 << 20)
#define ENTRIES_MAX 65536 /* then all are forgotten: containers that came and went */

struct entry {
	char *id, *uid;
	struct container_names names;
	uint64_t looked_ns;
};

struct containers {
	char *root;
	struct entry *entries;
	size_t n, cap;
	struct id_table ids;
};

struct containers *containers_new(const char *root)
{
	struct containers *c = xcalloc(1, sizeof(*c));

	c->root = xstrdup(root ? root : "");
	id_table_init(&c->ids);
	return c;
}

static void clear(struct containers *c)
{
	size_t i;

	for (i = 0; i < c->n; i++) {
		struct entry *en = &c->entries[i];

		free(en->id);
		free(en->uid);
		free(en->names.pod);
		free(en->names.namespace);
		free(en->names.container);
		free(en->names.image);
	}
	c->n = 0;
	id_table_clear(&c->ids);
}

void containers_free(struct containers *c)
{
	if (!c)
		return;
	clear(c);
	id_table_release(&c->ids);
	free(c->entries);
	free(c->root);
	free(c);
}

/* The first that tells is believed. */
static void put(char **to, const char *value)
{
	if (!*to && value && *value)
		*to = xstrdup(value);
}

static bool is_complete(const struct entry *en)
{
	return en->names.container && en->names.image &&
	       (!*en->uid || (en->names.pod && en->names.namespace));
}

/* --- the kubelet's logs -------------------------------------------------------------------- */

static void take_pod(struct entry *en, const struct pod_names *p)
{
	put(&en->names.pod, p->pod);
	put(&en->names.namespace, p->namespace);
	put(&en->names.container, p->container);
}

static void from_container_logs(const struct containers *c, struct entry *en)
{
	char *path = xasprintf("%s/var/log/containers", c->root);
	struct pod_names p;
	struct dirent *d;
	DIR *dir = *en->id ? opendir(path) : NULL;

	free(path);
	if (!dir)
		return;
	while ((d = readdir(dir))) {
		if (podlog_of_container(d->d_name, en->id, &p)) {
			take_pod(en, &p);
			break;
		}
	}
	closedir(dir);
}

/* A log in the container's directory is a link to a file that bears the container's id. */
static bool logs_to(int pod_fd, const char *container, const char *id)
{
	char target[PATH_MAX];
	int fd = openat(pod_fd, container, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *d;
	bool found = false;
	ssize_t n;

	if (!dir) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	while (!found && (d = readdir(dir))) {
		n = readlinkat(fd, d->d_name, target, sizeof(target) - 1);
		if (n > 0) {
			target[n] = 0;
			found = strstr(target, id) != NULL;
		}
	}
	closedir(dir);
	return found;
}

static void container_in_pod(int pods_fd, const char *name, struct entry *en)
{
	int fd = openat(pods_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *d;

	if (!dir) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while (!en->names.container && (d = readdir(dir))) {
		if (d->d_name[0] != '.' && logs_to(fd, d->d_name, en->id))
			put(&en->names.container, d->d_name);
	}
	closedir(dir);
}

static void from_pod_logs(const struct containers *c, struct entry *en)
{
	char *path = xasprintf("%s/var/log/pods", c->root);
	struct pod_names p;
	struct dirent *d;
	DIR *dir = *en->uid ? opendir(path) : NULL;

	free(path);
	if (!dir)
		return;
	while ((d = readdir(dir))) {
		if (!podlog_of_pod(d->d_name, en->uid, &p))
			continue;
		take_pod(en, &p);
		if (*en->id)
			container_in_pod(dirfd(dir), d->d_name, en);
		break;
	}
	closedir(dir);
}

/* --- the runtimes' files ------------------------------------------------------------------- */

static json_t *load_json(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	json_t *j = NULL;
	struct stat st;
	FILE *f;

	if (fd < 0)
		return NULL;
	f = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size <= JSON_MAX_BYTES
		    ? fdopen(fd, "r")
		    : NULL;
	if (!f) {
		close(fd);
		return NULL;
	}
	j = json_loadf(f, 0, NULL);
	fclose(f);
	return j;
}

static const char *member(const json_t *object, const char *const keys[])
{
	const char *value = NULL;

	for (; *keys && !value; keys++)
		value = json_string_value(json_object_get(object, *keys));
	return value;
}

/* Annotations of an OCI bundle, and labels that the kubelet gives to docker's containers. */
static void take_annotations(struct entry *en, const json_t *a)
{
	static const char *const pod[] = {"io.kubernetes.cri.sandbox-name",
					  "io.kubernetes.pod.name", NULL};
	static const char *const namespace[] = {"io.kubernetes.cri.sandbox-namespace",
						"io.kubernetes.pod.namespace", NULL};
	static const char *const container[] = {"io.kubernetes.cri.container-name",
						"io.kubernetes.container.name",
						"nerdctl/name", NULL};
	static const char *const image[] = {"io.kubernetes.cri.image-name",
					    "io.kubernetes.cri-o.ImageName", NULL};

	put(&en->names.pod, member(a, pod));
	put(&en->names.namespace, member(a, namespace));
	put(&en->names.container, member(a, container));
	put(&en->names.image, member(a, image));
}

static void from_bundle(struct entry *en, char *path)
{
	json_t *j = load_json(path);

	take_annotations(en, json_object_get(j, "annotations"));
	json_decref(j);
	free(path);
}

/* containerd keeps a directory for each of its namespaces. */
static void from_containerd(const struct containers *c, struct entry *en)
{
	char *path =
		xasprintf("%s/run/containerd/io.containerd.runtime.v2.task", c->root);
	DIR *dir = opendir(path);
	struct dirent *d;

	while (dir && (d = readdir(dir))) {
		if (d->d_name[0] != '.')
			from_bundle(en, xasprintf("%s/%s/%s/config.json", path, d->d_name,
						  en->id));
	}
	if (dir)
		closedir(dir);
	free(path);
}

static void from_docker(const struct containers *c, struct entry *en)
{
	char *path = xasprintf("%s/var/lib/docker/containers/%s/config.v2.json", c->root,
			       en->id);
	json_t *j = load_json(path);
	const json_t *config = json_object_get(j, "Config");
	const char *name = json_string_value(json_object_get(j, "Name"));

	take_annotations(en, json_object_get(config, "Labels"));
	put(&en->names.container, name && *name == '/' ? name + 1 : name);
	put(&en->names.image, json_string_value(json_object_get(config, "Image")));
	json_decref(j);
	free(path);
}

static void from_podman(const struct containers *c, struct entry *en)
{
	char *path = xasprintf(
		"%s/var/lib/containers/storage/overlay-containers/containers.json",
		c->root);
	json_t *list = load_json(path);
	const json_t *one;
	const char *id;
	size_t i;

	json_array_foreach(list, i, one)
	{
		id = json_string_value(json_object_get(one, "id"));
		if (id && !strcmp(id, en->id))
			put(&en->names.container,
			    json_string_value(
				    json_array_get(json_object_get(one, "names"), 0)));
	}
	json_decref(list);
	free(path);
}

static void from_runtimes(const struct containers *c, struct entry *en)
{
	from_containerd(c, en);
	from_bundle(en, xasprintf("%s/run/containers/storage/overlay-containers/%s/"
				  "userdata/config.json",
				  c->root, en->id));
	from_docker(c, en);
	if (!en->names.container)
		from_podman(c, en);
}

/* ------------------------------------------------------------------------------------------- */

static void look(const struct containers *c, struct entry *en)
{
	en->looked_ns = monotonic_ns();
	from_container_logs(c, en);
	from_pod_logs(c, en);
	if (*en->id && !is_complete(en))
		from_runtimes(c, en);
}

const struct container_names *containers_find(struct containers *c, const char *id,
					      const char *uid)
{
	uint64_t h = hash_u64(hash_bytes(id, strlen(id)), hash_bytes(uid, strlen(uid)));
	size_t slot = id_table_first(&c->ids, h);
	struct entry *en;
	uint32_t i;

	for (; (i = id_table_at(&c->ids, h, &slot)) != ID_NONE; slot++) {
		en = &c->entries[i];
		if (strcmp(en->id, id) || strcmp(en->uid, uid))
			continue;
		if (!is_complete(en) && monotonic_ns() - en->looked_ns > RETRY_NS)
			look(c, en);
		return &en->names;
	}
	if (c->n == ENTRIES_MAX)
		clear(c);
	XGROW(c->entries, c->n, c->cap);
	en = &c->entries[c->n];
	*en = (struct entry){.id = xstrdup(id), .uid = xstrdup(uid)};
	look(c, en);
	id_table_put(&c->ids, h, c->n++);
	return &en->names;
}
