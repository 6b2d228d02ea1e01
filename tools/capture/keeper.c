/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps copies of the files that samples were taken in. */
#include "tools/capture/keeper.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base/hash.h"
#include "lib/base/idtable.h"
#include "lib/base/xalloc.h"
#include "tools/capture/keeper_child.h"
#include "tools/capture/procread.h"
#include "tools/capture/tabler.h"

#define HELD_MAX 256	  /* files mapped lately, open, without a sample */
#define WAITING_MAX 256	  /* to be copied, open */
#define IN_FLIGHT_MAX 8	  /* that the child has, or that lie before it */
#define ENTRIES_MAX 65536 /* then all are forgotten; what is there is not copied again */

enum state {
	KNOWN,	 /* not open */
	HELD,	 /* open, if a sample comes */
	WAITING, /* open, to be sent */
	SENT,
	DONE, /* copied, or will not be */
};

struct entry {
	struct build_id id;
	enum state state;
	int fd;
};

struct keeper {
	struct keeper_conf conf;
	struct tabler link; /* the same way of asking */
	struct entry *entries;
	size_t n, cap;
	struct id_table ids;
	uint32_t held
		[HELD_MAX]; /* the last ones, in a ring; may be in another state by now */
	uint64_t nheld;
	uint32_t waiting[WAITING_MAX];
	size_t nwaiting, in_flight;
	uint64_t kept, kept_bytes, there, refused, missed;
	bool limit_said, trouble_said;
};

static bool is_somebody_elses(const char *dir)
{
	struct stat st;

	return stat(dir, &st) == 0 && st.st_uid != geteuid();
}

static int make_directory(const char *dir, struct err *e)
{
	char *below = xasprintf("%s/.build-id", dir);
	int r = 0;

	if ((mkdir(dir, 0755) < 0 && errno != EEXIST) ||
	    (mkdir(below, 0755) < 0 && errno != EEXIST) || access(below, W_OK | X_OK) < 0)
		r = err_errno(e, errno, "--keep-binaries: %s", dir);
	free(below);
	return r;
}

int keeper_start(const struct keeper_conf *conf, struct keeper **out, struct err *e)
{
	struct keeper *k;
	int pair[2], r;
	pid_t child;

	r = make_directory(conf->dir, e);
	if (r < 0)
		return r;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return err_errno(e, errno, "socketpair");
	child = fork();
	if (child == 0)
		keeper_child(pair[1], conf->dir, conf->max_bytes,
			     is_somebody_elses(conf->dir));
	close(pair[1]);
	if (child < 0) {
		close(pair[0]);
		return err_errno(e, errno, "cannot start a process");
	}
	k = xcalloc(1, sizeof(*k));
	k->conf = *conf;
	k->link = (struct tabler){.fd = pair[0], .guard = child};
	id_table_init(&k->ids);
	*out = k;
	return 0;
}

static void close_entry(struct entry *en)
{
	if (en->fd >= 0)
		close(en->fd);
	en->fd = -1;
}

static void forget_all(struct keeper *k)
{
	size_t i;

	for (i = 0; i < k->n; i++)
		close_entry(&k->entries[i]);
	k->n = 0;
	k->nheld = 0;
	id_table_clear(&k->ids);
}

void keeper_free(struct keeper *k)
{
	if (!k)
		return;
	tabler_stop(&k->link);
	forget_all(k);
	id_table_release(&k->ids);
	free(k->entries);
	free(k);
}

/* The entry's number; made if there is none. */
static uint32_t entry_of(struct keeper *k, const struct build_id *id)
{
	uint64_t h = hash_bytes(id->data, id->n);
	size_t slot = id_table_first(&k->ids, h);
	uint32_t i;

	for (; (i = id_table_at(&k->ids, h, &slot)) != ID_NONE; slot++) {
		if (k->entries[i].id.n == id->n &&
		    !memcmp(k->entries[i].id.data, id->data, id->n))
			return i;
	}
	if (k->n >= ENTRIES_MAX && keeper_is_done(k))
		forget_all(k);
	XGROW(k->entries, k->n, k->cap);
	k->entries[k->n] = (struct entry){.id = *id, .fd = -1};
	id_table_put(&k->ids, h, k->n);
	return k->n++;
}

/* The image that the kernel maps into every program, as a file. */
static int open_vdso(void)
{
	const Elf64_Ehdr *image = (const void *)getauxval(AT_SYSINFO_EHDR);
	size_t size;
	int fd;

	if (!image)
		return -ENOENT;
	/* the section headers are its end */
	size = image->e_shoff + (size_t)image->e_shnum * image->e_shentsize;
	fd = memfd_create("vdso", MFD_CLOEXEC);
	if (fd >= 0 && write(fd, image, size) != (ssize_t)size) {
		close(fd);
		return -EIO;
	}
	return fd < 0 ? -errno : fd;
}

static int open_file(const struct code_file *f, uint32_t tgid, uint64_t start,
		     uint64_t end)
{
	return f->name[0] == '/' ? procread_open(f, tgid, start, end) : open_vdso();
}

static bool can_be_kept(const struct code_file *f)
{
	return f->build_id.n && (f->name[0] == '/' || !strcmp(f->name, "[vdso]"));
}

void keeper_see(struct keeper *k, const struct code_file *f, uint32_t tgid,
		uint64_t start, uint64_t end)
{
	struct entry *en;
	uint32_t i, *at;

	if (!can_be_kept(f) || f->name[0] != '/' || k->link.fd < 0)
		return;
	i = entry_of(k, &f->build_id);
	en = &k->entries[i];
	if (en->state != KNOWN)
		return;
	en->fd = open_file(f, tgid, start, end);
	if (en->fd < 0)
		return;
	en->state = HELD;
	at = &k->held[k->nheld % HELD_MAX];
	/* it may have been wanted since, or given up and opened again: that place is a later one */
	if (k->nheld >= HELD_MAX && k->entries[*at].state == HELD && *at != i) {
		close_entry(&k->entries[*at]);
		k->entries[*at].state = KNOWN;
	}
	*at = i;
	k->nheld++;
}

void keeper_want(struct keeper *k, const struct code_file *f, uint32_t tgid,
		 uint64_t start, uint64_t end)
{
	struct entry *en;
	uint32_t i;

	if (!can_be_kept(f) || k->link.fd < 0)
		return;
	i = entry_of(k, &f->build_id);
	en = &k->entries[i];
	/* where there is no room now, there is for a later profile */
	if (en->state > HELD || k->nwaiting == WAITING_MAX)
		return;
	if (en->state == KNOWN)
		en->fd = open_file(f, tgid, start, end);
	if (en->fd < 0) {
		k->missed++;
		return;
	}
	en->state = WAITING;
	k->waiting[k->nwaiting++] = i;
}

static void note_result(struct keeper *k, const struct keeper_reply *r)
{
	struct entry *en = &k->entries[r->id];

	en->state = DONE;
	if (!r->status) {
		k->kept++;
		k->kept_bytes += r->bytes;
	} else if (r->status > 0) {
		k->there++;
	} else if (r->status == -EDQUOT) {
		k->refused++;
		if (!k->limit_said)
			cli_note(k->conf.cli,
				 "--keep-binaries: %s is full by --keep-limit; what does "
				 "not fit is not kept",
				 k->conf.dir);
		k->limit_said = true;
	} else if (r->status != -ENODATA) {
		/* a full disk may have room later */
		en->state = KNOWN;
		k->missed++;
		if (!k->trouble_said)
			cli_note(k->conf.cli, "--keep-binaries: %s", r->text);
		k->trouble_said = true;
	}
}

static void receive(struct keeper *k)
{
	struct keeper_reply r;
	ssize_t n;

	while ((n = recv(k->link.fd, &r, sizeof(r), MSG_DONTWAIT)) > 0) {
		if (n != (ssize_t)sizeof(r) || r.id >= k->n ||
		    k->entries[r.id].state != SENT)
			continue;
		r.text[KEEPER_TEXT - 1] = 0;
		k->in_flight--;
		note_result(k, &r);
	}
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	cli_note(k->conf.cli, "--keep-binaries: the process that copies files is gone");
	tabler_stop(&k->link);
	k->in_flight = k->nwaiting = 0;
	forget_all(k);
}

void keeper_poll(struct keeper *k)
{
	size_t i;

	if (k->link.fd < 0)
		return;
	receive(k);
	for (i = 0; i < k->nwaiting && k->in_flight < IN_FLIGHT_MAX; i++) {
		struct entry *en = &k->entries[k->waiting[i]];

		if (tabler_send(&k->link, &(struct tabler_request){.id = k->waiting[i]},
				en->fd)) {
			en->state = SENT;
			k->in_flight++;
		} else if (k->in_flight) {
			break; /* there is room when an answer has come */
		} else {
			en->state = KNOWN;
			k->missed++;
		}
		close_entry(en);
	}
	k->nwaiting -= i;
	memmove(k->waiting, k->waiting + i, k->nwaiting * sizeof(*k->waiting));
}

int keeper_fd(const struct keeper *k)
{
	return k->link.fd;
}

bool keeper_is_done(const struct keeper *k)
{
	return !k->nwaiting && !k->in_flight;
}

void keeper_tell(const struct keeper *k)
{
	cli_info(k->conf.cli,
		 "kept %" PRIu64 " files of %" PRIu64 " KiB; %" PRIu64
		 " were there, %" PRIu64 " are above the limit, %" PRIu64
		 " could not be had",
		 k->kept, k->kept_bytes >> 10, k->there, k->refused, k->missed);
}
