/* SPDX-License-Identifier: Apache-2.0 */
/* The kinds of events. */
#include "tools/capture/kinds.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "tools/capture/heap.h"

#define KERNEL_MINOR_BITS 20 /* of a dev_t inside the kernel */

const struct kind kinds[KINDS] = {
	[KIND_CPU] = {"cpu",
		      "who runs, and where",
		      {{"samples", "count"}, {"cpu", "nanoseconds"}},
		      2,
		      1},
	[KIND_OFFCPU] = {"offcpu",
			 "who waits, where, and for how long",
			 {{"contentions", "count"}, {"offcpu", "nanoseconds"}},
			 2,
			 1},
	[KIND_FAULTS] = {"faults", "page faults", {{"faults", "count"}}, 1, 0},
	[KIND_BLOCK] = {"block",
			"requests to block devices",
			{{"block_ops", "count"}, {"block_bytes", "bytes"}},
			2,
			1},
	[KIND_NET] = {"net",
		      "what is sent and received on sockets",
		      {{"net_ops", "count"}, {"net_bytes", "bytes"}},
		      2,
		      1},
	[KIND_ALLOC] = {"alloc",
			"memory that processes ask for (-p, COMMAND)",
			{{"alloc_objects", "count"},
			 {"alloc_space", "bytes"},
			 {"inuse_objects", "count"},
			 {"inuse_space", "bytes"}},
			2,
			1},
	[KIND_WALL] = {"wall",
		       "cpu and offcpu in one: the time that passes, by thread",
		       {{"wall", "nanoseconds"}},
		       1,
		       0},
};

uint32_t kinds_sources(uint32_t set)
{
	if (set & KIND_BIT(KIND_WALL))
		set |= KIND_BIT(KIND_CPU) | KIND_BIT(KIND_OFFCPU);
	return set & ~KIND_BIT(KIND_WALL);
}

int kinds_choose(const char *list, uint32_t *set, struct err *e)
{
	size_t n, i;

	for (;; list += n + 1) {
		n = strcspn(list, ",");
		for (i = 0; i < KINDS; i++) {
			if (strlen(kinds[i].name) == n && !memcmp(kinds[i].name, list, n))
				break;
		}
		if (i == KINDS)
			return err_set(e, EINVAL, "no such event: %.*s", (int)n, list);
		*set |= KIND_BIT(i);
		if (!list[n])
			return 0;
	}
}

const char *kind_missing(enum event_kind kind)
{
	static const struct {
		enum event_kind kind;
		const char *tracepoint, *since;
	} needs[] = {
		{KIND_BLOCK, "block_bio_queue", "no block devices"},
		{KIND_NET, "sock_send_length", "needs Linux 6.3"},
	};
	size_t i;

	if (kind == KIND_ALLOC)
		return heap_is_possible() ? NULL : "the kernel has no uprobes";
	for (i = 0; i < sizeof(needs) / sizeof(*needs); i++) {
		if (needs[i].kind == kind &&
		    libbpf_find_vmlinux_btf_id(needs[i].tracepoint, BPF_TRACE_RAW_TP) < 0)
			return needs[i].since;
	}
	return NULL;
}

/* --- labels -------------------------------------------------------------------------------- */

static const char *const wait_states[] = {
	[WAIT_PREEMPTED] = "preempted",
	[WAIT_SLEEPING] = "sleeping",
	[WAIT_UNINTERRUPTIBLE] = "uninterruptible",
	[WAIT_STOPPED] = "stopped",
};

/* By the numbers of REQ_OP_* (linux/blk_types.h). */
static const char *const block_ops[] = {
	[0] = "read",	      [1] = "write",	   [2] = "flush",	 [3] = "discard",
	[5] = "secure_erase", [7] = "zone_append", [9] = "write_zeroes",
};

/* A device's name, as below /dev. */
static void put_device(struct label_list *l, uint32_t dev)
{
	uint32_t major = dev >> KERNEL_MINOR_BITS;
	uint32_t minor = dev & ((1u << KERNEL_MINOR_BITS) - 1);
	char path[64], to[PATH_MAX], number[32];
	ssize_t n;

	snprintf(path, sizeof(path), "/sys/dev/block/%" PRIu32 ":%" PRIu32, major, minor);
	n = readlink(path, to, sizeof(to) - 1);
	if (n > 0) {
		const char *slash;

		to[n] = 0;
		slash = strrchr(to, '/');
		label_list_put(l, "device", slash ? slash + 1 : to);
		return;
	}
	snprintf(number, sizeof(number), "%" PRIu32 ":%" PRIu32, major, minor);
	label_list_put(l, "device", number);
}

static void put_block(struct label_list *l, uint64_t detail)
{
	uint32_t op = detail >> 32;
	const char *name =
		op < sizeof(block_ops) / sizeof(*block_ops) ? block_ops[op] : NULL;

	put_device(l, (uint32_t)detail);
	label_list_put(l, "operation", name ? name : "other");
}

static const char *protocol_name(uint16_t family, uint16_t protocol)
{
	if (family == AF_UNIX)
		return "unix";
	if (family == AF_NETLINK)
		return "netlink";
	if (family != AF_INET && family != AF_INET6)
		return "other";
	switch (protocol) {
	case IPPROTO_TCP:
		return "tcp";
	case IPPROTO_UDP:
		return "udp";
	case IPPROTO_SCTP:
		return "sctp";
	case IPPROTO_ICMP:
	case IPPROTO_ICMPV6:
		return "icmp";
	case IPPROTO_MPTCP &UINT16_MAX:
		return "mptcp";
	}
	return "other";
}

static void put_net(struct label_list *l, uint64_t detail)
{
	uint16_t port = detail;
	char number[8];

	label_list_put(l, "direction", detail >> 48 & 1 ? "send" : "receive");
	label_list_put(l, "protocol", protocol_name(detail >> 32, detail >> 16));
	if (!port)
		return;
	snprintf(number, sizeof(number), "%u", port);
	label_list_put(l, "remote_port", number);
}

void kind_put_labels(struct label_list *l, const struct sample_head *h)
{
	switch (h->kind) {
	case KIND_OFFCPU:
		if (h->detail <= WAIT_STOPPED)
			label_list_put(l, "state", wait_states[h->detail]);
		return;
	case KIND_FAULTS:
		label_list_put(l, "fault", h->detail == FAULT_MAJOR ? "major" : "minor");
		return;
	case KIND_BLOCK:
		put_block(l, h->detail);
		return;
	case KIND_NET:
		put_net(l, h->detail);
		return;
	}
}
