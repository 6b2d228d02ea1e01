/* SPDX-License-Identifier: Apache-2.0 */
/* The process that reads foreign files: both ends of the talk with it. */
#include "tools/capture/tabler.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/capture/tabler_child.h"

int tabler_start(struct tabler *t, struct err *e)
{
	int pair[2];

	*t = (struct tabler){.fd = -1};
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return err_errno(e, errno, "socketpair");
	t->guard = fork();
	if (t->guard == 0) {
		close(pair[0]);
		tabler_guard(pair[1]);
	}
	close(pair[1]);
	if (t->guard < 0) {
		close(pair[0]);
		return err_errno(e, errno, "cannot start a process");
	}
	t->fd = pair[0];
	return 0;
}

void tabler_stop(struct tabler *t)
{
	if (t->fd < 0)
		return;
	close(t->fd);
	t->fd = -1;
	/* its worker ends with it */
	kill(t->guard, SIGKILL);
	waitpid(t->guard, NULL, 0);
}

bool tabler_send(struct tabler *t, const struct tabler_request *r, int fd)
{
	union {
		struct cmsghdr h;
		char room[CMSG_SPACE(sizeof(int))];
	} control = {0};
	struct iovec iov = {(void *)r, sizeof(*r)};
	struct msghdr m = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control.room,
		.msg_controllen = sizeof(control.room),
	};
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	if (t->fd < 0)
		return false;
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(int));
	return sendmsg(t->fd, &m, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)sizeof(*r);
}

/* The first descriptor that came along; others are none that we asked for. */
static int passed_fd(struct msghdr *m)
{
	struct cmsghdr *c;
	int fd = -1, fds[4];
	size_t i, n;

	for (c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		if (n > 4)
			n = 4;
		memcpy(fds, CMSG_DATA(c), n * sizeof(int));
		for (i = 0; i < n; i++) {
			if (fd < 0)
				fd = fds[i];
			else
				close(fds[i]);
		}
	}
	return fd;
}

int tabler_receive(struct tabler *t, struct tabler_reply *out, int *rows_fd)
{
	union {
		struct cmsghdr h;
		char room[CMSG_SPACE(4 * sizeof(int))];
	} control;
	struct iovec iov = {out, sizeof(*out)};
	struct msghdr m = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control.room,
		.msg_controllen = sizeof(control.room),
	};
	ssize_t n;

	*rows_fd = -1;
	if (t->fd < 0)
		return -EPIPE;
	do {
		n = recvmsg(t->fd, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	} while (n < 0 && errno == EINTR);
	if (n < 0 && errno == EAGAIN)
		return 0;
	if (n > 0)
		*rows_fd = passed_fd(&m);
	if (n == (ssize_t)sizeof(*out) && out->nsegments <= UNWIND_SEGMENTS_MAX &&
	    out->nrows <= TABLER_ROWS_MAX && (out->status || *rows_fd >= 0)) {
		out->text[TABLER_TEXT - 1] = 0;
		return 1;
	}
	/* not something that our own code says */
	if (*rows_fd >= 0)
		close(*rows_fd);
	*rows_fd = -1;
	tabler_stop(t);
	return -EPIPE;
}
