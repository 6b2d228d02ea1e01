/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure [-a] FILE COMMAND…: runs the command and appends
 * "CPU-seconds MAXRSS-KiB STATUS WALL-seconds ANON-KiB" to FILE. CPU is user + system of the
 * command and all that it waited for; memory is the largest resident set among them. ANON is the
 * anonymous part of the command's own, seen at its largest, with -a; else 0: to look, every
 * millisecond, costs time beside it. Ends as the command ended.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static long anonymous(pid_t pid)
{
	char path[64], line[256];
	long kib = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, "RssAnon:", 8))
			kib = strtol(line + 8, NULL, 10);
	if (f)
		fclose(f);
	return kib;
}

/* Wait for it, looking at its memory on the way. */
static pid_t watch(pid_t pid, int *ws, struct rusage *use, long *most)
{
	const struct timespec step = {.tv_nsec = 1000000};
	pid_t got;
	long kib;

	while (!(got = wait4(pid, ws, WNOHANG, use))) {
		kib = anonymous(pid);
		if (kib > *most)
			*most = kib;
		nanosleep(&step, NULL);
	}
	return got;
}

int main(int argc, char **argv)
{
	bool look = argc > 1 && !strcmp(argv[1], "-a");
	double start = now(), end;
	struct rusage use;
	long most = 0;
	FILE *out;
	pid_t pid;
	int ws, status;

	argv += look;
	if (argc - look < 3) {
		fprintf(stderr, "usage: measure [-a] FILE COMMAND...\n");
		return 2;
	}
	pid = fork();
	if (pid < 0) {
		perror("measure: fork");
		return 2;
	}
	if (!pid) {
		execvp(argv[2], argv + 2);
		perror(argv[2]);
		_exit(127);
	}
	if ((look ? watch(pid, &ws, &use, &most) : wait4(pid, &ws, 0, &use)) < 0) {
		perror("measure: wait4");
		return 2;
	}
	end = now();
	status = WIFEXITED(ws) ? WEXITSTATUS(ws) : 128 + WTERMSIG(ws);
	out = fopen(argv[1], "a");
	if (!out) {
		perror(argv[1]);
		return 2;
	}
	fprintf(out, "%.4f %ld %d %.4f %ld\n",
		(double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
			(double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec) / 1e6,
		use.ru_maxrss, status, end - start, most);
	if (fclose(out)) {
		perror(argv[1]);
		return 2;
	}
	return status;
}
