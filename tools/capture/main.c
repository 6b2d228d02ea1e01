/* SPDX-License-Identifier: Apache-2.0 */
/* prof-capture: profile what runs on this machine's CPUs. The command line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/num.h"
#include "lib/base/xalloc.h"
#include "lib/ui/cli.h"
#include "tools/capture/capture.h"
#include "tools/capture/kinds.h"

#define RATE_MAX 50000
#define INTERVAL_MIN_NS 10000000
#define ALLOC_BYTES_MAX (UINT64_C(1) << 30)

enum {
	OPT_ALLOC_BYTES = 0x2000,
	OPT_ANONYMOUS_KERNEL,
	OPT_CGROUP,
	OPT_COMM,
	OPT_CONTAINER,
	OPT_ENV_LABEL,
	OPT_EXCLUDE,
	OPT_EXPLAIN,
	OPT_FORCE,
	OPT_INUSE,
	OPT_LABEL,
	OPT_LABELS,
	OPT_MIN_WAIT,
	OPT_NODE,
	OPT_RING,
	OPT_ROOT,
	OPT_RULES,
	OPT_STATS,
	OPT_KEEP_BINARIES,
	OPT_KEEP_LIMIT,
	OPT_CACHE,
	OPT_UNWINDER,
};

static const struct argp_option options[] = {
	{"rate", 'F', "HZ", 0, "Samples a second on each CPU (99)", 1},
	{"event", 'e', "LIST", 0,
	 "Record cpu (the default), offcpu, wall, faults, block, net, alloc, or several; "
	 "list tells which this machine has",
	 1},
	{"duration", 'd', "TIME", 0,
	 "Stop after TIME (on SIGINT, SIGTERM or COMMAND's end)", 1},
	{"interval", 'i', "TIME", 0, "Write a profile every TIME (one for all)", 1},
	{"count", 'n', "N", 0, "Stop after N intervals; with -i", 1},
	{"pid", 'p', "PID", 0,
	 "Only this process and its later children; a list, may repeat", 2},
	{"comm", OPT_COMM, "GLOB", 0, "Only processes whose name matches; may repeat", 2},
	{"cgroup", OPT_CGROUP, "PATH", 0,
	 "Only processes in this control group or below; may repeat", 2},
	{"container", OPT_CONTAINER, "NAME", 0,
	 "Only processes of this container: its name, or 12 digits of its id or more; "
	 "may repeat",
	 2},
	{"select", 's', "SELECTOR", 0, "Only processes whose labels fit; may repeat", 2},
	{"exclude", OPT_EXCLUDE, "SELECTOR", 0,
	 "Leave out processes whose labels fit; may repeat", 2},
	{"rules", OPT_RULES, "FILE", 0,
	 "Keep, drop and label processes by rules; read again on SIGHUP", 2},
	{"explain", OPT_EXPLAIN, NULL, 0,
	 "Print who would be profiled, why, and with which labels, and stop", 2},
	{"label", OPT_LABEL, "KEY=VALUE", 0, "Put a label on every sample; may repeat",
	 3},
	{"labels", OPT_LABELS, "LIST", 0,
	 "More labels of our own: thread_name, thread_id, ppid, cpu, cgroup, pod_uid, "
	 "kernel_release, image",
	 3},
	{"env-label", OPT_ENV_LABEL, "NAME[=KEY]", 0,
	 "A label from the process's environment: KEY (name in lower case); may repeat",
	 3},
	{"anonymous-kernel", OPT_ANONYMOUS_KERNEL, NULL, 0,
	 "Do not tell at which addresses the kernel runs", 3},
	{"root", OPT_ROOT, "DIR", 0,
	 "Where the host's root is: container names are looked up there (/)", 3},
	{"node", OPT_NODE, "NAME", 0, "The label node (the machine's name)", 3},
	{"ring", OPT_RING, "SIZE", 0, "Room for samples on their way (by rate and CPUs)",
	 4},
	{"cache", OPT_CACHE, "DIR", 0, "Keep unwind tables of files there", 4},
	{"keep-binaries", OPT_KEEP_BINARIES, "DIR", 0,
	 "Keep a copy there of each file that had samples", 4},
	{"keep-limit", OPT_KEEP_LIMIT, "SIZE", 0, "But not more than SIZE in all (4G)",
	 4},
	{"unwinder", OPT_UNWINDER, "FORM", 0,
	 "auto, loop, tail, or fp: frame pointers only (auto)", 4},
	{"min-wait", OPT_MIN_WAIT, "TIME", 0,
	 "Of offcpu, leave out waits that are shorter (1us)", 4},
	{"alloc-bytes", OPT_ALLOC_BYTES, "SIZE", 0,
	 "Of alloc, one sample for SIZE bytes asked for; 1: all (512K)", 4},
	{"inuse", OPT_INUSE, NULL, 0,
	 "Of alloc, also what is in use: frees are traced as well", 4},
	{"force", OPT_FORCE, NULL, 0, "Of alloc, whatever it costs the process", 4},
	{"stats", OPT_STATS, NULL, 0, "A line of counters for each interval", 4},
	{0},
};

static const char doc[] =
	"Profile what runs on this machine's CPUs, with the stacks of kernel "
	"and programs.\vSee prof-capture(1).";

static void parse_rate(struct capture_opts *o, const char *arg)
{
	uint64_t n;

	if (num_parse_u64(arg, &n) < 0 || !n || n > RATE_MAX)
		cli_usage_error("-F: not a rate from 1 to %d: %s", RATE_MAX, arg);
	o->rate_hz = n;
}

static void list_events(void)
{
	const char *why;
	size_t i;

	for (i = 0; i < KINDS; i++) {
		why = kind_missing(i);
		printf("%-8s %s%s%s%s\n", kinds[i].name, kinds[i].help,
		       why ? " (not here: " : "", why ? why : "", why ? ")" : "");
	}
	exit(EXIT_OK);
}

static void parse_events(struct capture_opts *o, const char *arg)
{
	struct err e;

	if (!strcmp(arg, "list"))
		list_events();
	if (kinds_choose(arg, &o->kinds, &e) < 0)
		cli_usage_error("-e: %s", e.msg);
}

static int64_t parse_time(const char *option, const char *arg, int64_t least_ns)
{
	int64_t ns;

	/* a thousand years is as good as for ever, and leaves room to add */
	if (num_parse_duration(arg, &ns) < 0 || ns < least_ns || ns > INT64_MAX / 4)
		cli_usage_error("%s: not a duration, such as 10s or 5m: %s", option, arg);
	return ns;
}

static void parse_pids(struct capture_opts *o, const char *arg)
{
	char *list = xstrdup(arg), *save = NULL, *one;
	uint64_t n;

	for (one = strtok_r(list, ",", &save); one; one = strtok_r(NULL, ",", &save)) {
		if (num_parse_u64(one, &n) < 0 || !n || n > INT32_MAX)
			cli_usage_error("-p: not a process: %s", one);
		XGROW(o->pids, o->npids, o->pids_cap);
		o->pids[o->npids++] = n;
	}
	if (!o->npids)
		cli_usage_error("-p: not a process: %s", arg);
	free(list);
}

static void add_text(struct text_list *l, const char *arg)
{
	XGROW(l->v, l->n, l->cap);
	l->v[l->n++] = arg;
}

static void parse_label(struct capture_opts *o, const char *arg)
{
	struct label_conf *l = &o->labels;
	const char *eq = strchr(arg, '=');

	if (!eq || eq == arg)
		cli_usage_error("--label: not KEY=VALUE: %s", arg);
	if (l->nfixed == LABELS_FIXED_MAX)
		cli_usage_error("--label: more than %d", LABELS_FIXED_MAX);
	l->fixed[l->nfixed++] = (struct label_pair){
		.key = xstrndup(arg, eq - arg),
		.value = eq + 1,
	};
}

static void parse_env_label(struct capture_opts *o, const char *arg)
{
	struct label_conf *l = &o->labels;
	size_t n = strcspn(arg, "="), i;
	char *key;

	if (!n || (arg[n] && !arg[n + 1]))
		cli_usage_error("--env-label: not NAME or NAME=KEY: %s", arg);
	if (l->nenv == LABELS_FIXED_MAX)
		cli_usage_error("--env-label: more than %d", LABELS_FIXED_MAX);
	key = arg[n] ? xstrdup(arg + n + 1) : xstrndup(arg, n);
	for (i = 0; !arg[n] && key[i]; i++) {
		if (key[i] >= 'A' && key[i] <= 'Z')
			key[i] += 'a' - 'A';
	}
	l->env[l->nenv++] = (struct label_pair){.key = key, .value = xstrndup(arg, n)};
	buf_put(&o->env_names, arg, n);
	buf_putc(&o->env_names, 0);
}

static void parse_unwinder(struct capture_opts *o, const char *arg)
{
	size_t i;

	for (i = 0; unwinder_form_names[i] && strcmp(unwinder_form_names[i], arg); i++)
		;
	if (!unwinder_form_names[i])
		cli_usage_error("--unwinder: not auto, loop, tail or fp: %s", arg);
	o->unwinder = i;
}

/* COMMAND starts after "--": its options are not ours. */
static void parse_command(struct capture_opts *o, struct argp_state *state)
{
	if (!state->quoted || state->next != state->quoted)
		cli_usage_error("put -- before COMMAND: %s", state->argv[state->next]);
	o->command = state->argv + state->next;
	state->next = state->argc;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct capture_opts *o = state->input;
	struct err e;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &o->cli;
		return 0;
	case 'F':
		parse_rate(o, arg);
		return 0;
	case 'e':
		parse_events(o, arg);
		return 0;
	case OPT_MIN_WAIT:
		o->min_wait_ns = parse_time("--min-wait", arg, 0);
		return 0;
	case OPT_ALLOC_BYTES:
		if (num_parse_size(arg, &o->alloc_bytes) < 0 || !o->alloc_bytes ||
		    o->alloc_bytes > ALLOC_BYTES_MAX)
			cli_usage_error("--alloc-bytes: not a size up to 1G: %s", arg);
		return 0;
	case OPT_INUSE:
		o->frees = true;
		return 0;
	case OPT_FORCE:
		o->force = true;
		return 0;
	case 'd':
		o->duration_ns = parse_time("-d", arg, 1);
		return 0;
	case 'i':
		o->interval_ns = parse_time("-i", arg, INTERVAL_MIN_NS);
		return 0;
	case 'n':
		if (num_parse_u64(arg, &o->count) < 0 || !o->count ||
		    o->count > INT32_MAX)
			cli_usage_error("-n: not a number of intervals: %s", arg);
		return 0;
	case 'p':
		parse_pids(o, arg);
		return 0;
	case OPT_COMM:
		add_text(&o->choice.comms, arg);
		return 0;
	case OPT_CGROUP:
		add_text(&o->choice.cgroups, arg);
		return 0;
	case OPT_CONTAINER:
		add_text(&o->choice.containers, arg);
		return 0;
	case 's':
		add_text(&o->choice.selects, arg);
		return 0;
	case OPT_EXCLUDE:
		add_text(&o->choice.excludes, arg);
		return 0;
	case OPT_RULES:
		o->choice.rules_file = arg;
		return 0;
	case OPT_EXPLAIN:
		o->explain = true;
		return 0;
	case OPT_LABEL:
		parse_label(o, arg);
		return 0;
	case OPT_LABELS:
		if (labels_choose(arg, &o->labels.extra, &e) < 0)
			cli_usage_error("--labels: %s", e.msg);
		return 0;
	case OPT_ENV_LABEL:
		parse_env_label(o, arg);
		return 0;
	case OPT_ANONYMOUS_KERNEL:
		o->anonymous_kernel = true;
		return 0;
	case OPT_ROOT:
		o->root = arg;
		return 0;
	case OPT_NODE:
		o->labels.node = arg;
		return 0;
	case OPT_RING:
		if (num_parse_size(arg, &o->ring_bytes) < 0 || !o->ring_bytes ||
		    o->ring_bytes > UINT64_C(1) << 30)
			cli_usage_error("--ring: not a size up to 1G: %s", arg);
		return 0;
	case OPT_CACHE:
		o->cache = arg;
		return 0;
	case OPT_KEEP_BINARIES:
		o->keep = arg;
		return 0;
	case OPT_KEEP_LIMIT:
		if (num_parse_size(arg, &o->keep_bytes) < 0 || !o->keep_bytes)
			cli_usage_error("--keep-limit: not a size: %s", arg);
		return 0;
	case OPT_UNWINDER:
		parse_unwinder(o, arg);
		return 0;
	case OPT_STATS:
		o->stats = true;
		return 0;
	case ARGP_KEY_ARGS:
		parse_command(o, state);
		return 0;
	case ARGP_KEY_NO_ARGS:
		if (state->quoted)
			cli_usage_error("no COMMAND after --");
		return 0;
	case ARGP_KEY_END:
		buf_putc(&o->env_names, 0);
		o->choice.by_pid = o->npids || o->command;
		if (!o->kinds)
			o->kinds = KIND_BIT(KIND_CPU);
		/* the time that passes is that of each thread */
		if (o->kinds & KIND_BIT(KIND_WALL))
			o->labels.extra |= LABEL_THREAD_NAME | LABEL_THREAD_ID;
		if (o->kinds & KIND_BIT(KIND_ALLOC) && !o->choice.by_pid)
			cli_usage_error("-e alloc: needs -p PID or COMMAND");
		if (o->frees && !(o->kinds & KIND_BIT(KIND_ALLOC)))
			cli_usage_error("--inuse: needs -e alloc");
		if (o->keep_bytes && !o->keep)
			cli_usage_error("--keep-limit: needs --keep-binaries");
		if (o->count && !o->interval_ns)
			cli_usage_error("-n: needs -i");
		if (o->count && o->count > (uint64_t)(INT64_MAX / 4 / o->interval_ns))
			cli_usage_error("-n: too many intervals of that length");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

int main(int argc, char **argv)
{
	static const struct argp_child children[] = {{&cli_argp, 0, NULL, 0}, {0}};
	static const struct argp argp = {
		options, parse, "[-- COMMAND [ARG...]]", doc, children, NULL, NULL};
	struct capture_opts o = {.rate_hz = 99,
				 .min_wait_ns = 1000,
				 .alloc_bytes = 512 << 10,
				 .env_names = BUF_INIT(1 << 20)};
	struct err e;
	size_t i;
	int r;

	cli_start("prof-capture", false);
	cli_parse_in_order(&argp, argc, argv, &o);
	r = capture_run(&o, &e);
	for (i = 0; i < o.labels.nfixed; i++)
		free(o.labels.fixed[i].key);
	for (i = 0; i < o.labels.nenv; i++) {
		free(o.labels.env[i].key);
		free((char *)o.labels.env[i].value);
	}
	buf_release(&o.env_names);
	free(o.pids);
	free(o.choice.comms.v);
	free(o.choice.cgroups.v);
	free(o.choice.containers.v);
	free(o.choice.selects.v);
	free(o.choice.excludes.v);
	return cli_finish(r, EXIT_OK, &e);
}
