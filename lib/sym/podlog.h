/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kubelet's names of log files tell: which container of which pod a container id or a
 * pod's uid stands for. Names of pods, namespaces and containers hold no "_".
 */
#pragma once

#include <stdbool.h>

#define POD_NAME_MAX 256

struct pod_names {
	char pod[POD_NAME_MAX], namespace[POD_NAME_MAX];
	char container[POD_NAME_MAX]; /* "" where the name does not tell */
};

/* /var/log/containers/POD_NAMESPACE_CONTAINER-ID.log: is it that of container `id`? */
bool podlog_of_container(const char *file, const char *id, struct pod_names *out);

/* /var/log/pods/NAMESPACE_POD_UID: is it that of the pod `uid`? */
bool podlog_of_pod(const char *file, const char *uid, struct pod_names *out);
