/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Load for the demo service: demo-load PORT RATE SECONDS sends RATE requests a second to
 * 127.0.0.1:PORT (fewer if the answers take too long) and says how that went.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { CLIENTS = 4, RATE_MAX = 100000, LIFE_MAX_S = 3600 };

#define NS_PER_S 1000000000LL

struct client {
	pthread_t thread;
	struct sockaddr_in addr;
	long long start_ns, step_ns, end_ns;
	long long busy_ns; /* in requests */
	long done, failed;
};

static long long now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * NS_PER_S + t.tv_nsec;
}

static int request(const struct sockaddr_in *addr)
{
	static const char get[] = "GET /add?a=40&b=2 HTTP/1.1\r\nHost: localhost\r\n"
				  "Connection: close\r\n\r\n";
	struct timeval patience = {.tv_sec = 5};
	char in[4096];
	size_t n = 0;
	ssize_t got = 0;
	int good = 0, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return 0;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	if (!connect(fd, (const struct sockaddr *)addr, sizeof(*addr)) &&
	    send(fd, get, sizeof(get) - 1, MSG_NOSIGNAL) == (ssize_t)sizeof(get) - 1) {
		while (n < sizeof(in) - 1 &&
		       (got = recv(fd, in + n, sizeof(in) - 1 - n, 0)) > 0)
			n += (size_t)got;
		in[n] = '\0';
		good = !strncmp(in, "HTTP/1.1 200", 12) && strstr(in, "\r\n\r\n42\n");
	}
	close(fd);
	return good;
}

static void *run(void *arg)
{
	struct client *c = arg;
	long long next = c->start_ns;

	while (next < c->end_ns) {
		struct timespec at = {next / NS_PER_S, next % NS_PER_S};
		long long begin;

		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
		begin = now_ns();
		if (begin >= c->end_ns)
			break;
		if (request(&c->addr))
			c->done++;
		else
			c->failed++;
		c->busy_ns += now_ns() - begin;
		/* what was missed is left out: a slow server gets no growing queue */
		next += c->step_ns;
		if (next < now_ns())
			next = now_ns();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	struct client c[CLIENTS];
	long port = argc == 4 ? strtol(argv[1], NULL, 10) : 0;
	long rate = argc == 4 ? strtol(argv[2], NULL, 10) : 0;
	long life_s = argc == 4 ? strtol(argv[3], NULL, 10) : 0;
	long long busy_ns = 0, start = now_ns();
	long done = 0, failed = 0;
	int i;

	if (port < 1 || port > 65535 || rate < 1 || rate > RATE_MAX || life_s < 1 ||
	    life_s > LIFE_MAX_S) {
		fprintf(stderr, "usage: demo-load PORT RATE SECONDS\n");
		return 2;
	}
	memset(c, 0, sizeof(c));
	for (i = 0; i < CLIENTS; i++) {
		c[i].addr.sin_family = AF_INET;
		c[i].addr.sin_port = htons((uint16_t)port);
		c[i].addr.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		c[i].step_ns = CLIENTS * NS_PER_S / rate;
		c[i].start_ns = start + i * NS_PER_S / rate;
		c[i].end_ns = start + life_s * NS_PER_S;
		if (pthread_create(&c[i].thread, NULL, run, &c[i])) {
			fprintf(stderr, "load: no thread\n");
			return 1;
		}
	}
	for (i = 0; i < CLIENTS; i++) {
		pthread_join(c[i].thread, NULL);
		done += c[i].done;
		failed += c[i].failed;
		busy_ns += c[i].busy_ns;
	}
	printf("%ld requests, %ld failed, %.1f ms each\n", done, failed,
	       done + failed ? (double)busy_ns / 1e6 / (double)(done + failed) : 0.0);
	return done == 0 || failed > 0;
}
