/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure FILE COMMAND…: runs the command and appends "CPU-seconds MAXRSS-KiB STATUS" to FILE.
 * CPU is user + system of the command and all that it waited for; memory is the largest
 * resident set among them. Ends as the command ended.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct rusage use;
	FILE *out;
	pid_t pid;
	int ws, status;

	if (argc < 3) {
		fprintf(stderr, "usage: measure FILE COMMAND...\n");
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
	if (wait4(pid, &ws, 0, &use) < 0) {
		perror("measure: wait4");
		return 2;
	}
	status = WIFEXITED(ws) ? WEXITSTATUS(ws) : 128 + WTERMSIG(ws);
	out = fopen(argv[1], "a");
	if (!out) {
		perror(argv[1]);
		return 2;
	}
	fprintf(out, "%.4f %ld %d\n",
		(double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
			(double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec) / 1e6,
		use.ru_maxrss, status);
	if (fclose(out)) {
		perror(argv[1]);
		return 2;
	}
	return status;
}
