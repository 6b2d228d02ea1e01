/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/sym/debuginfod.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/xalloc.h"
#include "lib/sym/debuginfod_child.h"

#define START_NS 10000000000 /* for the library to be loaded */
#define END_MS 2000	     /* for a request to be given up when we end */

struct answer {
	struct debuginfod_request q; /* its time limit is 0 */
	int code;		     /* positive */
	char *text;
};

struct debuginfod {
	int fd;
	pid_t pid;
	pthread_mutex_t lock;
	uint64_t limit_ns, left_ns;
	struct answer *answers;
	size_t n, cap;
	char *trouble;
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + t.tv_nsec;
}

/* A reply by the time limit, which shrinks by the time it took. */
static int receive(int fd, uint64_t *left_ns, struct debuginfod_reply *r, struct err *e)
{
	uint64_t start = now_ns(), took;
	struct pollfd p = {.fd = fd, .events = POLLIN};
	struct timespec t;
	int n;

	do {
		took = now_ns() - start;
		took = took < *left_ns ? took : *left_ns;
		t.tv_sec = (time_t)((*left_ns - took) / 1000000000u);
		t.tv_nsec = (long)((*left_ns - took) % 1000000000u);
		n = ppoll(&p, 1, &t, NULL);
	} while (n < 0 && errno == EINTR);
	took = now_ns() - start;
	*left_ns -= took < *left_ns ? took : *left_ns;
	if (!n)
		return err_set(e, ETIMEDOUT, "time limit reached");
	if (recv(fd, r, sizeof(*r), 0) != sizeof(*r))
		return err_set(e, EPIPE, "its process died");
	r->text[sizeof(r->text) - 1] = 0;
	return 0;
}

int debuginfod_open(const char *urls, uint64_t limit_ns, struct debuginfod **out,
		    struct err *e)
{
	struct debuginfod *d;
	struct debuginfod_reply *reply;
	uint64_t left = START_NS;
	int fd[2], r;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fd) < 0)
		return err_errno(e, errno, "socketpair");
	pid = fork();
	if (pid < 0) {
		r = err_errno(e, errno, "fork");
		close(fd[0]);
		close(fd[1]);
		return r;
	}
	if (!pid)
		debuginfod_child(fd[1], urls);
	close(fd[1]);
	d = xcalloc(1, sizeof(*d));
	d->fd = fd[0];
	d->pid = pid;
	d->limit_ns = d->left_ns = limit_ns;
	pthread_mutex_init(&d->lock, NULL);
	reply = xmalloc(sizeof(*reply));
	r = receive(d->fd, &left, reply, e);
	if (!r && reply->code)
		r = err_set(e, reply->code, "%s", reply->text);
	free(reply);
	if (r)
		debuginfod_free(d);
	else
		*out = d;
	return r;
}

/* By itself, if it does so soon: then the library cleans up behind it. */
static void end_child(pid_t pid)
{
	struct pollfd p = {.fd = pidfd_open(pid, 0), .events = POLLIN};

	if (p.fd < 0 || poll(&p, 1, END_MS) <= 0)
		kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	if (p.fd >= 0)
		close(p.fd);
}

void debuginfod_free(struct debuginfod *d)
{
	size_t i;

	if (!d)
		return;
	close(d->fd);
	end_child(d->pid);
	for (i = 0; i < d->n; i++)
		free(d->answers[i].text);
	free(d->answers);
	free(d->trouble);
	pthread_mutex_destroy(&d->lock);
	free(d);
}

static const struct answer *known(const struct debuginfod *d,
				  const struct debuginfod_request *q)
{
	size_t i;

	for (i = 0; i < d->n; i++)
		if (!memcmp(&d->answers[i].q, q, sizeof(*q)))
			return &d->answers[i];
	return NULL;
}

/* Does it concern this one file only, or all that might be asked for? */
static bool is_of_one_file(int code)
{
	return code == 0 || code == ENOENT || code == EFBIG || code == EINTR;
}

/* Ask for what is not known; q goes into the answers. */
static void ask(struct debuginfod *d, struct debuginfod_request *q)
{
	struct debuginfod_reply *reply = xmalloc(sizeof(*reply));
	struct answer *a;
	struct err e = {0};
	int r = 0;

	q->limit_ns = d->left_ns;
	if (send(d->fd, q, sizeof(*q), MSG_NOSIGNAL) < 0)
		r = err_set(&e, EPIPE, "its process died");
	if (!r)
		r = receive(d->fd, &d->left_ns, reply, &e);
	if (!r && reply->code)
		err_set(&e, reply->code, "%s", reply->text);
	q->limit_ns = 0;
	XGROW(d->answers, d->n, d->cap);
	a = &d->answers[d->n++];
	*a = (struct answer){*q, e.code, xstrdup(e.code ? e.msg : reply->text)};
	if (!is_of_one_file(a->code))
		d->trouble = a->code == ETIMEDOUT
				     ? xasprintf("time limit of %.3g s reached",
						 (double)d->limit_ns / 1e9)
				     : xstrdup(a->text);
	free(reply);
}

int debuginfod_find(struct debuginfod *d, enum debuginfod_kind kind, const uint8_t *id,
		    size_t n, char **path, struct err *e)
{
	struct debuginfod_request q;
	const struct answer *a;
	int r = 0;

	memset(&q, 0, sizeof(q)); /* compared as bytes */
	q.kind = kind;
	q.n = (uint32_t)n;
	if (n > sizeof(q.id))
		return err_set(e, EINVAL, "build id is too long");
	memcpy(q.id, id, n);
	pthread_mutex_lock(&d->lock);
	if (!known(d, &q) && !d->trouble)
		ask(d, &q);
	a = known(d, &q);
	if (!a)
		r = err_set(e, ENOTCONN, "not asked: %s", d->trouble);
	else if (a->code == ENOENT)
		r = err_set(e, ENOENT, "not there");
	else if (a->code)
		r = err_set(e, a->code, "%s", a->text);
	else
		*path = xstrdup(a->text);
	pthread_mutex_unlock(&d->lock);
	return r;
}

const char *debuginfod_kind_name(enum debuginfod_kind kind)
{
	return kind == DEBUGINFOD_EXECUTABLE ? "executable" : "debuginfo";
}

const char *debuginfod_trouble(const struct debuginfod *d)
{
	return d->trouble;
}
