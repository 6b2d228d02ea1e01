/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the path of a control group tells about who runs in it. Container runtimes, the kubelet
 * and systemd all put their names there; no runtime needs to be asked.
 *
 * Each function finds its part of `path` ("/kubepods.slice/…"): true, with a NUL-terminated
 * string in out (cut at CGROUP_NAME_MAX - 1), or false.
 */
#pragma once

#include <stdbool.h>

#define CGROUP_NAME_MAX 256

/* 64 hex digits (docker, containerd, CRI-O, podman), else 32 (LXC, ECS: with what follows "-"). */
bool cgroup_container_id(const char *path, char out[CGROUP_NAME_MAX]);

/* From a component ending in pod<uid>, dashes restored; 32 hex digits for static pods. */
bool cgroup_pod_uid(const char *path, char out[CGROUP_NAME_MAX]);

/* The innermost service or scope below system.slice or user.slice, or init.scope. */
bool cgroup_systemd_unit(const char *path, char out[CGROUP_NAME_MAX]);
