/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A load whose allocations are known: does what its arguments say, one after another.
 *
 *	small N		malloc(100) and free
 *	zeroed N	calloc(10, 30) and free
 *	grown N		realloc(NULL, 50), then to 70, and free
 *	aligned N	posix_memalign() and aligned_alloc() of 1000 bytes at 64, and free
 *	leak N		malloc(123), never freed
 *	keep N		malloc(1000), and keep them
 *	drop		free by another thread what was kept
 *	stretch N	realloc() of one block to 10, 20 … N * 10 bytes, and free
 *	threads N	four threads that each do `small N`
 *	mixed N		sizes of 1 byte to 1 MiB, N of each power of two
 *	slowly MS	malloc(50000) every millisecond, never freed
 *	nap MS		sleep once
 *	fork ...	all that follows in a child, for which it waits
 *	exec ...	all that follows in another program: this one, run again
 */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))
#define KEPT_MAX 100000

static void *kept[KEPT_MAX];
static long nkept;
static void *volatile sink; /* so that nothing is optimized away */

static void fail(const char *what)
{
	fprintf(stderr, "allocload: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void *there(void *p)
{
	if (!p)
		fail("no memory");
	return sink = p;
}

NOINLINE static void small(long n)
{
	for (long i = 0; i < n; i++)
		free(there(malloc(100)));
}

NOINLINE static void zeroed(long n)
{
	for (long i = 0; i < n; i++)
		free(there(calloc(10, 30)));
}

NOINLINE static void grown(long n)
{
	for (long i = 0; i < n; i++)
		free(there(realloc(there(realloc(NULL, 50)), 70)));
}

NOINLINE static void aligned(long n)
{
	void *p;

	for (long i = 0; i < n; i++) {
		if (posix_memalign(&p, 64, 1000))
			fail("posix_memalign");
		free(there(p));
		free(there(aligned_alloc(64, 1000)));
	}
}

NOINLINE static void leak(long n)
{
	for (long i = 0; i < n; i++)
		there(malloc(123));
}

NOINLINE static void keep(long n)
{
	for (long i = 0; i < n && nkept < KEPT_MAX; i++)
		kept[nkept++] = there(malloc(1000));
}

static void *drop_all(void *unused)
{
	(void)unused;
	while (nkept)
		free(kept[--nkept]);
	return NULL;
}

static void drop(void)
{
	pthread_t t;

	if (pthread_create(&t, NULL, drop_all, NULL))
		fail("thread");
	pthread_join(t, NULL);
}

NOINLINE static void stretch(long n)
{
	void *p = NULL;

	for (long i = 1; i <= n; i++)
		p = there(realloc(p, (size_t)i * 10));
	free(p);
}

NOINLINE static void mixed(long n)
{
	for (size_t size = 1; size <= 1 << 20; size *= 2)
		for (long i = 0; i < n; i++)
			free(there(malloc(size)));
}

static void *run_small(void *n)
{
	small((long)(intptr_t)n);
	return NULL;
}

static void threads(long n)
{
	pthread_t t[4];

	for (size_t i = 0; i < 4; i++)
		if (pthread_create(&t[i], NULL, run_small, (void *)(intptr_t)n))
			fail("thread");
	for (size_t i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
}

static void nap(long ms)
{
	const struct timespec t = {ms / 1000, ms % 1000 * 1000000};

	nanosleep(&t, NULL);
}

static void slowly(long ms)
{
	for (; ms > 0; ms--) {
		there(malloc(50000));
		nap(1);
	}
}

static void in_child(void)
{
	pid_t pid = fork();
	int status;

	if (pid < 0)
		fail("fork");
	if (!pid)
		return;
	waitpid(pid, &status, 0);
	exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(long n);
	} works[] = {
		{"small", small},     {"zeroed", zeroed}, {"grown", grown},
		{"aligned", aligned}, {"leak", leak},	  {"keep", keep},
		{"stretch", stretch}, {"mixed", mixed},	  {"threads", threads},
		{"slowly", slowly},   {"nap", nap},
	};
	size_t k, n = sizeof(works) / sizeof(*works);

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "fork")) {
			in_child();
			continue;
		}
		if (!strcmp(argv[i], "exec")) {
			argv[i] = argv[0];
			execv(argv[0], argv + i);
			fail("exec");
		}
		if (!strcmp(argv[i], "drop")) {
			drop();
			continue;
		}
		for (k = 0; k < n && strcmp(works[k].name, argv[i]) != 0; k++)
			;
		if (k == n || i + 1 == argc) {
			fprintf(stderr, "allocload: what is %s?\n", argv[i]);
			return 2;
		}
		works[k].run(atol(argv[++i]));
	}
	return 0;
}
