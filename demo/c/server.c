/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The demo service: GET /add?a=1&b=2 over HTTP on a port of 127.0.0.1 that it prints. It ends
 * by itself after the number of seconds it is given. Nothing in this file is slow.
 */
#include <arpa/inet.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "demo/c/mathdep/mathdep.h"

enum { WORKERS = 4, REQUEST_MAX = 4096, LIFE_MAX_S = 3600 };

static void reply(int fd, const char *status, const char *body)
{
	char out[256];
	int n = snprintf(
		out, sizeof(out),
		"HTTP/1.1 %s\r\nContent-Type: text/plain\r\nContent-Length: %zu\r\n"
		"Connection: close\r\n\r\n%s",
		status, strlen(body), body);

	if (n > 0 && send(fd, out, (size_t)n, MSG_NOSIGNAL) < 0)
		perror("server: send");
}

__attribute__((noinline)) static void handle_add(int fd, int64_t a, int64_t b)
{
	char body[32];

	snprintf(body, sizeof(body), "%" PRId64 "\n", addition(a, b));
	reply(fd, "200 OK", body);
}

static bool parse_add(const char *request, int64_t *a, int64_t *b)
{
	static const char path[] = "GET /add?a=", second[] = "&b=";
	char *end;

	if (strncmp(request, path, strlen(path)) != 0)
		return false;
	*a = strtoll(request + strlen(path), &end, 10);
	if (strncmp(end, second, strlen(second)) != 0)
		return false;
	*b = strtoll(end + strlen(second), &end, 10);
	return *end == ' ';
}

__attribute__((noinline)) static void handle_request(int fd)
{
	char request[REQUEST_MAX + 1];
	size_t n = 0;
	int64_t a, b;

	do {
		ssize_t got = recv(fd, request + n, REQUEST_MAX - n, 0);

		if (got <= 0)
			return;
		n += (size_t)got;
		request[n] = '\0';
	} while (!strstr(request, "\r\n\r\n") && n < REQUEST_MAX);
	if (parse_add(request, &a, &b))
		handle_add(fd, a, b);
	else
		reply(fd, "404 Not Found", "GET /add?a=1&b=2\n");
}

static void *serve(void *arg)
{
	int listener = *(int *)arg;

	for (;;) {
		int fd = accept(listener, NULL, NULL);

		if (fd < 0)
			continue;
		handle_request(fd);
		close(fd);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	struct sockaddr_in addr = {.sin_family = AF_INET,
				   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(addr);
	long life_s = argc == 2 ? strtol(argv[1], NULL, 10) : 0;
	int i, listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	pthread_t worker;

	if (life_s < 1 || life_s > LIFE_MAX_S) {
		fprintf(stderr, "usage: demo-server SECONDS\n");
		return 2;
	}
	if (listener < 0 || bind(listener, (struct sockaddr *)&addr, sizeof(addr)) ||
	    listen(listener, 64) ||
	    getsockname(listener, (struct sockaddr *)&addr, &len)) {
		perror("server: 127.0.0.1");
		return 1;
	}
	for (i = 0; i < WORKERS; i++) {
		if (pthread_create(&worker, NULL, serve, &listener)) {
			fprintf(stderr, "server: no thread\n");
			return 1;
		}
	}
	printf("%d\n", ntohs(addr.sin_port));
	fflush(stdout);
	sleep((unsigned int)life_s);
	return 0;
}
