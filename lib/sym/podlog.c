/* SPDX-License-Identifier: Apache-2.0 */
/* What the kubelet's names of log files tell. */
#include "lib/sym/podlog.h"

#include <stddef.h>
#include <string.h>

/* Cut [p, end) at "_" in exactly n parts, none empty or too long. */
static bool cut(const char *p, const char *end, char (*parts[])[POD_NAME_MAX], int n)
{
	const char *stop;
	size_t len;
	int i;

	for (i = 0; i < n; i++, p = stop + 1) {
		if (p > end)
			return false;
		stop = memchr(p, '_', end - p);
		if ((stop != NULL) != (i < n - 1))
			return false;
		if (!stop)
			stop = end;
		len = stop - p;
		if (!len || len >= POD_NAME_MAX)
			return false;
		memcpy(*parts[i], p, len);
		(*parts[i])[len] = 0;
	}
	return true;
}

/* Where the suffix SEP NAME END begins in file; NULL if it does not end so. */
static const char *before(const char *file, char sep, const char *name, const char *end)
{
	size_t nfile = strlen(file), nname = strlen(name), nend = strlen(end);
	const char *at;

	if (!nname || nfile < nname + nend + 1)
		return NULL;
	at = file + nfile - nend - nname - 1;
	if (*at != sep || memcmp(at + 1, name, nname) || strcmp(at + 1 + nname, end))
		return NULL;
	return at;
}

bool podlog_of_container(const char *file, const char *id, struct pod_names *out)
{
	char(*parts[])[POD_NAME_MAX] = {&out->pod, &out->namespace, &out->container};
	const char *end = before(file, '-', id, ".log");

	return end && cut(file, end, parts, 3);
}

bool podlog_of_pod(const char *file, const char *uid, struct pod_names *out)
{
	char(*parts[])[POD_NAME_MAX] = {&out->namespace, &out->pod};
	const char *end = before(file, '_', uid, "");

	out->container[0] = 0;
	return end && cut(file, end, parts, 2);
}
