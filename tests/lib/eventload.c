/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A load whose events are known: does what its arguments say, one after another, and prints for
 * each what it came to, and at the end for how many ms it lived.
 *
 *	faults N	touch N fresh pages
 *	send N SIZE	N messages of SIZE bytes over TCP on loopback, and receive them
 *	read N FILE	N reads of 4096 bytes of FILE, past the cache
 *	write N FILE	N writes of 4096 bytes to FILE, each on the disk when it returns
 *	sleep MS	in turns of 75 and 25 ms, in long_sleep() and short_sleep()
 *	nap MS		sleep once
 *	pipe MS		wait for another thread's byte every 50 ms
 *	mutex MS	wait for a lock that another thread holds for 50 ms at a time
 *	spin MS		of its CPU time
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define PAGE 4096
#define NOINLINE __attribute__((noinline))

static void fail(const char *what)
{
	fprintf(stderr, "eventload: %s: %s\n", what, strerror(errno));
	exit(1);
}

static uint64_t now_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void sleep_ms(long ms)
{
	const struct timespec t = {ms / 1000, ms % 1000 * 1000000};

	nanosleep(&t, NULL);
}

NOINLINE static void touch_pages(long n)
{
	char *p = mmap(NULL, (size_t)n * PAGE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	long i;

	if (p == MAP_FAILED)
		fail("mmap");
	madvise(p, (size_t)n * PAGE, MADV_NOHUGEPAGE);
	for (i = 0; i < n; i++)
		((volatile char *)p)[i * PAGE] = 1;
	munmap(p, (size_t)n * PAGE);
	printf("faults %ld\n", n);
}

struct receiver {
	int fd;
	size_t got, calls;
};

NOINLINE static void *receive_all(void *arg)
{
	struct receiver *r = arg;
	static char buf[65536];
	ssize_t n;

	while ((n = recv(r->fd, buf, sizeof(buf), 0)) > 0) {
		r->got += (size_t)n;
		r->calls++;
	}
	return NULL;
}

NOINLINE static void send_all(int fd, long n, long size)
{
	char *message = calloc(1, (size_t)size);
	long i;

	for (i = 0; i < n && message; i++) {
		if (send(fd, message, (size_t)size, 0) != size)
			fail("send");
	}
	free(message);
}

static void send_and_receive(long n, long size)
{
	struct sockaddr_in a = {.sin_family = AF_INET,
				.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int server = socket(AF_INET, SOCK_STREAM, 0);
	int client = socket(AF_INET, SOCK_STREAM, 0);
	socklen_t len = sizeof(a);
	struct receiver r = {0};
	pthread_t t;

	if (bind(server, (void *)&a, len) < 0 || listen(server, 1) < 0 ||
	    getsockname(server, (void *)&a, &len) < 0 ||
	    connect(client, (void *)&a, len) < 0)
		fail("loopback");
	r.fd = accept(server, NULL, NULL);
	pthread_create(&t, NULL, receive_all, &r);
	send_all(client, n, size);
	close(client);
	pthread_join(t, NULL);
	close(r.fd);
	close(server);
	printf("sent %ld %ld received %zu %zu port %u\n", n, n * size, r.calls, r.got,
	       ntohs(a.sin_port));
}

NOINLINE static void transfer(long n, const char *name, int flags)
{
	int fd = open(name, flags | O_CLOEXEC, 0600);
	char *block = NULL;
	long i;

	if (fd < 0 || posix_memalign((void **)&block, PAGE, PAGE))
		fail(name);
	memset(block, 'x', PAGE);
	for (i = 0; i < n; i++) {
		if ((flags & O_ACCMODE) == O_RDONLY
			    ? pread(fd, block, PAGE, i * PAGE) != PAGE
			    : pwrite(fd, block, PAGE, i * PAGE) != PAGE)
			fail(name);
	}
	close(fd);
	free(block);
	printf("%s %ld %ld\n", (flags & O_ACCMODE) == O_RDONLY ? "read" : "written", n,
	       n * PAGE);
}

NOINLINE static uint64_t long_sleep(void)
{
	uint64_t from = now_ns(CLOCK_MONOTONIC);

	sleep_ms(75);
	return now_ns(CLOCK_MONOTONIC) - from;
}

NOINLINE static uint64_t short_sleep(void)
{
	uint64_t from = now_ns(CLOCK_MONOTONIC);

	sleep_ms(25);
	return now_ns(CLOCK_MONOTONIC) - from;
}

NOINLINE static void sleep_in_turns(long ms)
{
	uint64_t from = now_ns(CLOCK_MONOTONIC), a = 0, b = 0;

	while (now_ns(CLOCK_MONOTONIC) - from < (uint64_t)ms * 1000000) {
		a += long_sleep();
		b += short_sleep();
	}
	printf("slept %llu %llu\n", (unsigned long long)a, (unsigned long long)b);
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int fds[2];
static volatile int over;

NOINLINE static void *feed_pipe(void *arg)
{
	(void)arg;
	while (!over) {
		sleep_ms(50);
		if (write(fds[1], "x", 1) != 1)
			break;
	}
	return NULL;
}

NOINLINE static uint64_t wait_for_pipe(void)
{
	uint64_t from = now_ns(CLOCK_MONOTONIC);
	char c;

	if (read(fds[0], &c, 1) != 1)
		fail("pipe");
	return now_ns(CLOCK_MONOTONIC) - from;
}

NOINLINE static void *hold_lock(void *arg)
{
	(void)arg;
	while (!over) {
		pthread_mutex_lock(&lock);
		sleep_ms(50);
		pthread_mutex_unlock(&lock);
		sleep_ms(1);
	}
	return NULL;
}

NOINLINE static uint64_t wait_for_lock(void)
{
	uint64_t from = now_ns(CLOCK_MONOTONIC);

	pthread_mutex_lock(&lock);
	from = now_ns(CLOCK_MONOTONIC) - from;
	pthread_mutex_unlock(&lock);
	return from;
}

static void wait_for_other(const char *what, long ms, void *(*other)(void *),
			   uint64_t (*wait)(void))
{
	uint64_t from = now_ns(CLOCK_MONOTONIC), waited = 0;
	pthread_t t;

	over = 0;
	if (pipe(fds) < 0)
		fail("pipe");
	pthread_create(&t, NULL, other, NULL);
	while (now_ns(CLOCK_MONOTONIC) - from < (uint64_t)ms * 1000000)
		waited += wait();
	over = 1;
	pthread_join(t, NULL);
	printf("%s %llu\n", what, (unsigned long long)waited);
}

NOINLINE static void nap(long ms)
{
	sleep_ms(ms);
	printf("napped %ld\n", ms);
}

NOINLINE static void spin(long ms)
{
	uint64_t from = now_ns(CLOCK_THREAD_CPUTIME_ID);

	while (now_ns(CLOCK_THREAD_CPUTIME_ID) - from < (uint64_t)ms * 1000000)
		;
	printf("spun %ld\n", ms);
}

int main(int argc, char **argv)
{
	uint64_t from = now_ns(CLOCK_MONOTONIC);
	int i = 1;

	while (i < argc) {
		const char *what = argv[i];
		long n = i + 1 < argc ? atol(argv[i + 1]) : 0;
		const char *arg = i + 2 < argc ? argv[i + 2] : "";

		i += 2;
		if (!strcmp(what, "faults")) {
			touch_pages(n);
		} else if (!strcmp(what, "send")) {
			send_and_receive(n, atol(arg));
			i++;
		} else if (!strcmp(what, "read")) {
			transfer(n, arg, O_RDONLY | O_DIRECT);
			i++;
		} else if (!strcmp(what, "write")) {
			transfer(n, arg, O_WRONLY | O_CREAT | O_DSYNC | O_DIRECT);
			i++;
		} else if (!strcmp(what, "sleep")) {
			sleep_in_turns(n);
		} else if (!strcmp(what, "nap")) {
			nap(n);
		} else if (!strcmp(what, "pipe")) {
			wait_for_other("pipe", n, feed_pipe, wait_for_pipe);
		} else if (!strcmp(what, "mutex")) {
			wait_for_other("mutex", n, hold_lock, wait_for_lock);
		} else if (!strcmp(what, "spin")) {
			spin(n);
		} else {
			fprintf(stderr, "eventload: no such load: %s\n", what);
			return 2;
		}
		fflush(stdout);
	}
	printf("lived %llu\n",
	       (unsigned long long)(now_ns(CLOCK_MONOTONIC) - from) / 1000000);
	return 0;
}
