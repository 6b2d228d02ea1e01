/* SPDX-License-Identifier: Apache-2.0 */
/* What /proc and the files mapped by a process tell. */
#include "tools/capture/procread.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "bpf/event.h"
#include "lib/base/buf.h"
#include "lib/base/num.h"
#include "lib/base/xalloc.h"
#include "lib/sym/maps.h"
#include "tools/capture/clock.h"
#include "tools/capture/procs.h"

#define MAPS_MAX_BYTES (64 << 20)
#define ENV_MAX_BYTES (16 << 20)
#define ENV_KEPT_MAX_BYTES (16 << 10) /* of the variables that were asked for */
#define PF_KTHREAD 0x00200000

static int open_proc(uint32_t tgid, const char *name, int flags)
{
	char path[64 + NAME_MAX];

	snprintf(path, sizeof(path), "/proc/%u/%s", tgid, name);
	return open(path, flags | O_CLOEXEC);
}

int procread_file(uint32_t tgid, const char *name, char *out, size_t size)
{
	int fd = open_proc(tgid, name, O_RDONLY);
	size_t len = 0;
	ssize_t n = 1;

	if (fd < 0)
		return -errno;
	while (len < size - 1 && n > 0) {
		n = read(fd, out + len, size - 1 - len);
		if (n > 0)
			len += n;
		else if (n < 0 && errno != EINTR)
			break;
	}
	if (n < 0)
		n = -errno;
	close(fd);
	out[len] = 0;
	return n < 0 ? n : (int)len;
}

struct stat_line {
	char comm[EVENT_COMM_LEN];
	uint32_t ppid;
	uint64_t start_ticks;
	unsigned int flags;
	bool zombie; /* the first thread has ended; others may live */
};

/* "PID (COMM) S …": the name may hold anything, so count from the last parenthesis. */
static bool read_stat(uint32_t tgid, struct stat_line *s)
{
	char text[2048], *open, *close, *p;
	int field;
	size_t n;

	if (procread_file(tgid, "stat", text, sizeof(text)) <= 0)
		return false;
	open = strchr(text, '(');
	close = strrchr(text, ')');
	if (!open || !close || close < open)
		return false;
	n = close - open - 1;
	if (n >= sizeof(s->comm))
		n = sizeof(s->comm) - 1;
	memset(s->comm, 0, sizeof(s->comm)); /* as the kernel keeps it */
	memcpy(s->comm, open + 1, n);
	for (p = close + 1, field = 3; *p && field < 22; field++) {
		while (*p == ' ')
			p++;
		if (field == 3)
			s->zombie = *p == 'Z';
		if (field == 4)
			s->ppid = strtoul(p, NULL, 10);
		if (field == 9)
			s->flags = strtoul(p, NULL, 10);
		while (*p && *p != ' ')
			p++;
	}
	s->start_ticks = strtoull(p, NULL, 10);
	return field == 22;
}

bool procread_identity(uint32_t tgid, char comm[EVENT_COMM_LEN], uint32_t *ppid)
{
	struct stat_line s;

	if (!read_stat(tgid, &s))
		return false;
	memcpy(comm, s.comm, EVENT_COMM_LEN);
	*ppid = s.ppid;
	return true;
}

/*
 * Whose entry in /proc tells about the process: its own is empty once the first thread has
 * ended, and every thread has one that is not listed.
 */
static uint32_t living_thread(uint32_t tgid, const struct stat_line *s)
{
	uint32_t tid = tgid;
	char path[64];
	struct dirent *d;
	uint64_t n;
	DIR *dir;

	if (!s->zombie)
		return tgid;
	snprintf(path, sizeof(path), "/proc/%u/task", tgid);
	dir = opendir(path);
	if (!dir)
		return tgid;
	while (tid == tgid && (d = readdir(dir))) {
		if (!num_parse_u64(d->d_name, &n) && n && n <= INT32_MAX)
			tid = n;
	}
	closedir(dir);
	return tid;
}

static char *read_link(uint32_t tgid, const char *name)
{
	char path[64], target[PATH_MAX];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%u/%s", tgid, name);
	n = readlink(path, target, sizeof(target) - 1);
	if (n <= 0 || target[0] != '/')
		return NULL;
	return xstrndup(target, n);
}

/* The path as the process sees it: one below its root loses the root's own path. */
static const char *inside_root(const char *path, const char *root)
{
	size_t n = root ? strlen(root) : 0;

	if (n > 1 && !strncmp(path, root, n) && path[n] == '/')
		return path + n;
	return path;
}

/* The kernel writes a newline in a name as "\012", and leaves all else as it is. */
static void unescape(char *name)
{
	char *at = name;

	while ((at = strstr(at, "\\012"))) {
		*at++ = '\n';
		memmove(at, at + 3, strlen(at + 3) + 1);
	}
}

static struct code_file *file_of_line(struct procs *ps, const struct maps_line *l,
				      const char *root)
{
	struct code_file like = {0}, *f = NULL;
	char *name = xstrndup(l->name, l->name_len);

	unescape(name);
	if (code_name_is_file(name)) {
		like.major = l->major;
		like.minor = l->minor;
		like.inode = l->inode;
		f = procs_file(ps, &like, inside_root(name, root));
	} else if (!strcmp(name, "[vdso]") || !strcmp(name, "[vsyscall]")) {
		like.id_known = true;
		if (name[2] == 'd')
			like.build_id = ps->vdso_id;
		f = procs_file(ps, &like, name);
	}
	free(name);
	return f;
}

static bool read_all(uint32_t tgid, const char *name, struct buf *b)
{
	int fd = open_proc(tgid, name, O_RDONLY);
	ssize_t n = -1;

	if (fd < 0)
		return false;
	for (;;) {
		if (buf_reserve(b, 32 << 10) < 0)
			break;
		n = read(fd, b->data + b->len, b->cap - b->len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		b->len += n;
	}
	close(fd);
	return n == 0;
}

/* tid: the thread whose entry in /proc is read. */
static void read_maps(struct procs *ps, struct proc *p, uint32_t tid, uint64_t now_ns)
{
	struct buf text = BUF_INIT(MAPS_MAX_BYTES);
	struct maps_line l;
	struct space *s;
	const char *at, *end;
	char *root = read_link(tid, "root"), *exe = read_link(tid, "exe");
	int r;

	if (!read_all(tid, "maps", &text))
		goto out;
	s = proc_new_image(ps, p, p->nimages ? now_ns : p->born_ns);
	if (ps->env_names) {
		s->env = procread_env(tid, ps->env_names);
		s->env_guessed = !s->env;
	}
	at = (const char *)text.data;
	end = at + text.len;
	while (text.len && (r = maps_next(&at, end, &l)) != 0) {
		if (r < 0 || !l.exec)
			continue;
		space_add(ps, s,
			  (struct vma){
				  .start = l.start,
				  .end = l.end,
				  .offset = l.offset,
				  .from_ns = 0,
				  .file = file_of_line(ps, &l, root),
			  });
	}
	if (exe) {
		const char *name;
		size_t n = strlen(exe), i;

		if (n > 10 && !strcmp(exe + n - 10, " (deleted)"))
			exe[n - 10] = 0;
		name = inside_root(exe, root);
		for (i = 0; i < s->n && !s->exe; i++) {
			if (s->vmas[i].file && !strcmp(s->vmas[i].file->name, name)) {
				s->exe = s->vmas[i].file;
				s->exe->refs++;
			}
		}
		if (!s->exe) {
			struct code_file like = {.id_known = true};

			s->exe = procs_file(ps, &like, name);
		}
	}
out:
	buf_release(&text);
	free(root);
	free(exe);
}

/* now_ns: before anything was read, so that later records are still applied. */
static void fill(struct procs *ps, struct proc *p, const struct stat_line *st,
		 uint64_t now_ns)
{
	p->start_ticks = st->start_ticks;
	p->kernel_thread = st->flags & PF_KTHREAD;
	if (!p->kernel_thread)
		read_maps(ps, p, living_thread(p->tgid, st), now_ns);
	p->scan_ns = now_ns;
}

bool procread_proc(struct procs *ps, struct proc *p)
{
	uint64_t now = monotonic_ns();
	struct stat_line st;

	if (!read_stat(p->tgid, &st) ||
	    (p->start_ticks && p->start_ticks != st.start_ticks))
		return false;
	fill(ps, p, &st, now);
	return true;
}

static void scan_one(struct procs *ps, uint32_t tgid)
{
	struct proc *p = procs_latest(ps, tgid);
	uint64_t now = monotonic_ns();
	struct stat_line st;

	if (!read_stat(tgid, &st))
		return;
	if (!p || (p->start_ticks && p->start_ticks != st.start_ticks))
		p = procs_add(ps, tgid, p ? now : 0);
	fill(ps, p, &st, now);
}

/* The record of its end may be among those that were lost. procs_forget() makes sure. */
static void end_if_missing(void *ctx, struct proc *p)
{
	const uint64_t *since = ctx;

	if (p->scan_ns < *since && !p->exit_ns)
		p->exit_ns = *since;
}

int procs_scan(struct procs *ps, struct err *e)
{
	uint64_t n, since = monotonic_ns();
	struct dirent *d;
	DIR *dir;

	dir = opendir("/proc");
	if (!dir)
		return err_errno(e, errno, "/proc");
	while ((d = readdir(dir))) {
		if (isdigit((unsigned char)d->d_name[0]) &&
		    !num_parse_u64(d->d_name, &n) && n <= INT32_MAX)
			scan_one(ps, n);
	}
	closedir(dir);
	procs_each(ps, end_if_missing, &since);
	return 0;
}

/* --- files --------------------------------------------------------------------------------- */

/* Look first, open then: opening a device or a FIFO by mistake could do something. */
static int reopen_regular(int path_fd, struct stat *st)
{
	char path[64];
	int fd = -1;

	if (path_fd < 0)
		return -1;
	if (fstat(path_fd, st) == 0 && S_ISREG(st->st_mode)) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", path_fd);
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	}
	close(path_fd);
	return fd;
}

/* By path, inside the process's root: links in there must not lead us out of it. */
static int open_in_root(uint32_t tgid, const char *name)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	int root = open_proc(tgid, "root", O_PATH | O_DIRECTORY), fd;

	if (root < 0) /* gone: the file may still be there under the name it had for us */
		root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return -1;
	fd = syscall(SYS_openat2, root, name, &how, sizeof(how));
	close(root);
	return fd;
}

/*
 * What was opened is the file that was mapped: by inode where that is known, as file systems made
 * of others give one file several device numbers; else by what the kernel said of its build id.
 */
static bool is_file(const struct code_file *f, int fd, const struct stat *st)
{
	struct build_id id = {0};

	if (f->inode)
		return st->st_ino == f->inode;
	build_id_from_fd(fd, &id);
	return id.n && id.n == f->build_id.n && !memcmp(id.data, f->build_id.data, id.n);
}

int procread_open(const struct code_file *f, uint32_t tgid, uint64_t start, uint64_t end)
{
	struct stat_line line;
	struct stat st;
	char name[64];
	int fd;

	if (read_stat(tgid, &line))
		tgid = living_thread(tgid, &line);
	snprintf(name, sizeof(name), "map_files/%llx-%llx", (unsigned long long)start,
		 (unsigned long long)end);
	fd = end ? reopen_regular(open_proc(tgid, name, O_PATH), &st) : -1;
	if (fd >= 0 && is_file(f, fd, &st))
		return fd;
	if (fd >= 0)
		close(fd);
	fd = reopen_regular(open_in_root(tgid, f->name), &st);
	if (fd >= 0 && is_file(f, fd, &st))
		return fd;
	if (fd >= 0)
		close(fd);
	return -ENOENT;
}

void procread_build_id(struct code_file *f, uint32_t tgid, uint64_t start, uint64_t end)
{
	int fd = procread_open(f, tgid, start, end);

	if (fd < 0)
		return;
	build_id_from_fd(fd, &f->build_id);
	close(fd);
}

/* Where a list of strings with an empty one at the end ends. */
static const char *list_end(const char *list)
{
	while (*list)
		list += strlen(list) + 1;
	return list + 1;
}

char *procread_env_copy(const char *env)
{
	return env ? xmemdup(env, list_end(env) - env) : NULL;
}

const char *procread_env_value(const char *env, const char *name)
{
	size_t n = strlen(name);

	for (; env && *env; env += strlen(env) + 1) {
		if (!strncmp(env, name, n) && env[n] == '=')
			return env + n + 1;
	}
	return NULL;
}

static bool is_named(const char *variable, const char *names)
{
	for (; *names; names += strlen(names) + 1) {
		if (!strncmp(variable, names, strlen(names)) &&
		    variable[strlen(names)] == '=')
			return true;
	}
	return false;
}

/* A program that is being started has no environment yet, and one that has ended none any more. */
static bool is_running(uint32_t tgid)
{
	char first[2];

	return procread_file(tgid, "cmdline", first, sizeof(first)) > 0;
}

char *procread_env(uint32_t tgid, const char *names)
{
	struct buf all = BUF_INIT(ENV_MAX_BYTES), kept = BUF_INIT(ENV_KEPT_MAX_BYTES);
	const char *at, *end;
	char *env = NULL;

	if (read_all(tgid, "environ", &all) && (all.len || is_running(tgid))) {
		at = buf_str(&all);
		end = at + all.len;
		for (; at < end; at += strlen(at) + 1) {
			if (is_named(at, names))
				buf_put(&kept, at, strlen(at) + 1);
		}
		buf_put(&kept, "", 1);
		/* too much to be labels: as if there were none */
		env = kept.overflow ? xstrdup("") : xmemdup(kept.data, kept.len);
	}
	buf_release(&all);
	buf_release(&kept);
	return env;
}

uint32_t procread_tgid(uint32_t tid)
{
	char status[4096], *p;

	if (procread_file(tid, "status", status, sizeof(status)) <= 0)
		return 0;
	p = strstr(status, "\nTgid:\t");
	return p ? strtoul(p + 7, NULL, 10) : 0;
}

uint32_t procread_inner_pid(uint32_t tgid)
{
	char status[4096], *p, *line_end;
	uint32_t pid = tgid;

	if (procread_file(tgid, "status", status, sizeof(status)) <= 0)
		return tgid;
	p = strstr(status, "\nNSpid:");
	if (!p)
		return tgid;
	line_end = strchr(p + 1, '\n');
	if (line_end)
		*line_end = 0;
	p = strrchr(p, '\t');
	if (p)
		pid = strtoul(p + 1, NULL, 10);
	return pid ? pid : tgid;
}

/* As whom the process makes files; false if it is gone. Who owns its /proc may be root instead. */
static bool owner_of(uint32_t tgid, uid_t *uid)
{
	char status[4096], *p;
	int i;

	if (procread_file(tgid, "status", status, sizeof(status)) <= 0)
		return false;
	p = strstr(status, "\nUid:");
	if (!p)
		return false;
	/* real, effective, saved, and that of files */
	p += 5;
	for (i = 0; i < 4; i++)
		*uid = strtoul(p, &p, 10);
	return true;
}

/*
 * Others could tell stories about a process that is not theirs; and its owner could, by a link or a
 * mount, have us read what only root may.
 */
static bool may_tell(const struct proc_owner *owner, const struct stat *st)
{
	if (owner->is_known ? st->st_uid == owner->uid
			    : st->st_uid == geteuid() && geteuid())
		return true;
	return !st->st_uid && st->st_mode & S_IROTH;
}

int procread_open_own(uint32_t tgid, const char *name, struct proc_owner *owner,
		      struct stat *st)
{
	int fd = reopen_regular(open_in_root(tgid, name), st);

	if (owner_of(tgid, &owner->uid))
		owner->is_known = true;
	if (fd >= 0 && !may_tell(owner, st)) {
		close(fd);
		return -1;
	}
	return fd;
}
