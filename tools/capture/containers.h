/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of containers and pods, from what the kubelet and the container runtimes leave on disk:
 * no server is asked. Sources, best first:
 *
 *	/var/log/containers/POD_NAMESPACE_CONTAINER-ID.log		kubelet
 *	/var/log/pods/NAMESPACE_POD_UID/CONTAINER/N.log -> ...ID...	kubelet
 *	/run/containerd/io.containerd.runtime.v2.task/NS/ID/config.json	containerd, OCI annotations
 *	/run/containers/storage/overlay-containers/ID/userdata/config.json	CRI-O, podman
 *	/var/lib/containers/storage/overlay-containers/containers.json	podman
 *	/var/lib/docker/containers/ID/config.v2.json			docker
 *
 * All below a directory that stands for the host's root.
 */
#pragma once

#include <stdint.h>

struct containers;

/* Strings are NULL where nothing tells. */
struct container_names {
	char *pod, *namespace, *container;
	char *image; /* with its tag, as it was asked for */
};

struct containers *containers_new(const char *root);
void containers_free(struct containers *c);

/*
 * The names that belong to a container id or a pod's uid; either may be "". What is not known is
 * looked for again after some seconds. Good until the next call.
 */
const struct container_names *containers_find(struct containers *c, const char *id,
					      const char *uid);
