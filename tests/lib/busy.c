/* SPDX-License-Identifier: Apache-2.0 */
/*
 * busy SECONDS [THREADS]: keeps that many CPUs busy (2) in stacks of some depth, and prints how
 * much work each second of its CPU time did. A profiler's cost shows as less.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { THREADS_MAX = 64, LIFE_MAX_S = 3600, DEPTH = 12, UNIT = 2000 };

struct worker {
	pthread_t thread;
	double until;
	double cpu_s;
	uint64_t units, sum;
};

static double now_s(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static __attribute__((noinline)) uint64_t spin(uint64_t x)
{
	int i;

	for (i = 0; i < UNIT; i++)
		x = x * 6364136223846793005u + 1442695040888963407u;
	return x;
}

static __attribute__((noinline)) uint64_t descend(int depth, uint64_t x)
{
	/* the work after the call keeps the frame: no tail call */
	return depth ? descend(depth - 1, x) ^ 1 : spin(x);
}

static void *work(void *arg)
{
	struct worker *w = arg;
	double begin = now_s(CLOCK_THREAD_CPUTIME_ID);

	while (now_s(CLOCK_MONOTONIC) < w->until) {
		int i;

		for (i = 0; i < 1000; i++)
			w->sum += descend(DEPTH, w->sum);
		w->units += 1000;
	}
	w->cpu_s = now_s(CLOCK_THREAD_CPUTIME_ID) - begin;
	return NULL;
}

int main(int argc, char **argv)
{
	struct worker w[THREADS_MAX] = {0};
	double life_s = argc > 1 ? strtod(argv[1], NULL) : 0, cpu_s = 0;
	long i, n = argc > 2 ? strtol(argv[2], NULL, 10) : 2;
	uint64_t units = 0;

	if (!(life_s > 0) || life_s > LIFE_MAX_S || n < 1 || n > THREADS_MAX) {
		fprintf(stderr, "usage: busy SECONDS [THREADS]\n");
		return 2;
	}
	for (i = 0; i < n; i++) {
		w[i].until = now_s(CLOCK_MONOTONIC) + life_s;
		if (pthread_create(&w[i].thread, NULL, work, &w[i])) {
			fprintf(stderr, "busy: no thread\n");
			return 1;
		}
	}
	for (i = 0; i < n; i++) {
		pthread_join(w[i].thread, NULL);
		units += w[i].units;
		cpu_s += w[i].cpu_s;
	}
	printf("%.0f units per CPU second\n", (double)units / cpu_s);
	return 0;
}
