/* SPDX-License-Identifier: Apache-2.0 */
/* The process that copies files for keeper.c. */
#include "tools/capture/keeper_child.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <linux/capability.h>
#include <linux/ioprio.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/base/err.h"
#include "lib/base/xalloc.h"
#include "lib/io/output.h"
#include "lib/sym/elfnote.h"
#include "tools/capture/confine.h"

#define PIECE_BYTES (128 << 10)

struct store {
	const char *dir;
	uint64_t bytes, max_bytes;
};

/* Copying can wait for everything else. */
static void step_back(void)
{
	setpriority(PRIO_PROCESS, 0, 19);
	syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, 0,
		IOPRIO_PRIO_VALUE(IOPRIO_CLASS_IDLE, 0));
}

static void measure(struct store *s)
{
	char *root = xasprintf("%s/.build-id", s->dir);
	char *roots[] = {root, NULL};
	FTS *fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	FTSENT *entry;

	while (fts && (entry = fts_read(fts))) {
		if (entry->fts_info == FTS_F)
			s->bytes += entry->fts_statp->st_size;
	}
	if (fts)
		fts_close(fts);
	free(root);
}

/* DIR/.build-id/ab/cdef…; its directory is made. */
static char *name_of(const struct store *s, const struct build_id *id, struct err *e)
{
	char hex[2 * BUILD_ID_MAX + 1], *dir;

	build_id_hex(id, hex);
	dir = xasprintf("%s/.build-id/%.2s", s->dir, hex);
	if (mkdir(dir, 0777) < 0 && errno != EEXIST) {
		err_errno(e, errno, "%s", dir);
		free(dir);
		return NULL;
	}
	free(dir);
	return xasprintf("%s/.build-id/%.2s/%s", s->dir, hex, hex + 2);
}

static int copy(int fd, struct output *o, struct err *e)
{
	static char piece[PIECE_BYTES];
	off_t at = 0;
	ssize_t n;
	int r = 0;

	while (!r && (n = pread(fd, piece, sizeof(piece), at)) != 0) {
		if (n < 0)
			return err_errno(e, errno, "cannot read it");
		r = output_write(o, piece, n, e);
		at += n;
	}
	return r;
}

static int keep_as(int fd, const struct stat *st, const char *name, struct err *e)
{
	struct output *o;
	int r;

	/* who may not read the file may not read its copy */
	umask(st->st_mode & S_IROTH ? 022 : 077);
	r = output_open(name, true, &o, e);
	umask(022);
	if (r < 0)
		return r;
	r = copy(fd, o, e);
	if (r < 0) {
		output_abort(o);
		return r;
	}
	return output_commit(o, e);
}

static int keep(struct store *s, int fd, uint64_t *bytes, struct err *e)
{
	struct build_id id = {0};
	struct stat st;
	char *name;
	int r;

	build_id_from_fd(fd, &id);
	if (id.n < 2)
		return err_set(e, ENODATA, "no build id");
	if (fstat(fd, &st) < 0)
		return err_errno(e, errno, "fstat");
	name = name_of(s, &id, e);
	if (!name)
		return -e->code;
	*bytes = st.st_size;
	if (access(name, F_OK) == 0)
		r = 1;
	else if (*bytes > s->max_bytes || s->bytes > s->max_bytes - *bytes)
		r = err_set(e, EDQUOT, "above the limit");
	else
		r = keep_as(fd, &st, name, e);
	free(name);
	if (!r)
		s->bytes += *bytes;
	return r;
}

static _Noreturn void work(struct store *s)
{
	union {
		struct cmsghdr h;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	struct keeper_reply r;
	struct err e;
	int fd;

	for (;;) {
		struct iovec iov = {&r.id, sizeof(r.id)};
		struct msghdr m = {
			.msg_iov = &iov,
			.msg_iovlen = 1,
			.msg_control = control.room,
			.msg_controllen = sizeof(control.room),
		};

		memset(&r, 0, sizeof(r));
		memset(&e, 0, sizeof(e));
		if (recvmsg(3, &m, MSG_CMSG_CLOEXEC) != (ssize_t)sizeof(r.id) ||
		    !CMSG_FIRSTHDR(&m))
			_exit(0);
		memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(int));
		r.status = keep(s, fd, &r.bytes, &e);
		close(fd);
		snprintf(r.text, sizeof(r.text), "%.*s", KEEPER_TEXT - 1, e.msg);
		if (send(3, &r, sizeof(r), MSG_NOSIGNAL) != (ssize_t)sizeof(r))
			_exit(0);
	}
}

_Noreturn void keeper_child(int socket, const char *dir, uint64_t max_bytes,
			    bool may_override)
{
	struct store s = {.dir = dir, .max_bytes = max_bytes};
	pid_t parent = getppid();

	prctl(PR_SET_NAME, "prof-keeper");
	/* signals from the terminal are for the capture, which still needs us for its end */
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent || !confine_files(socket) ||
	    !confine_capabilities(may_override ? 1u << CAP_DAC_OVERRIDE : 0))
		_exit(1);
	step_back();
	measure(&s);
	work(&s);
}
