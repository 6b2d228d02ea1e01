/* SPDX-License-Identifier: Apache-2.0 */
/* The child that makes unwind tables of foreign files, and the guard that starts it again. */
#include "tools/capture/tabler_child.h"

#include <elf.h>
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tools/capture/clock.h"
#include "tools/capture/confine.h"
#include "tools/capture/tabler.h"

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#define MACHINE EM_X86_64
#elif defined(__aarch64__)
#define ARCH AUDIT_ARCH_AARCH64
#define MACHINE EM_AARCH64
#endif

/* A sanitizer reserves memory that it never uses, and asks the kernel for more than we do. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define CONFINED 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define CONFINED 0
#endif
#endif
#ifndef CONFINED
#define CONFINED 1
#endif

#define PATIENCE_S 20
#define WORKERS 2	  /* a program starts with more than one large file */
#define WORKER_NICE (-10) /* they have little to do, and that at once */

/* --- confinement --------------------------------------------------------------------------- */

#define ALLOW(nr)                                                                        \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (nr), 0, 1),                                 \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

/* Read what was passed, take memory, answer. All else fails, so nothing can be opened or run. */
static bool confine(void)
{
	static struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCH, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		ALLOW(SYS_recvmsg),
		ALLOW(SYS_sendmsg),
		ALLOW(SYS_pread64),
		ALLOW(SYS_read),
		ALLOW(SYS_write),
		ALLOW(SYS_lseek),
		ALLOW(SYS_fstat),
#ifdef SYS_newfstatat
		ALLOW(SYS_newfstatat), /* how some libraries make an fstat */
#endif
		ALLOW(SYS_fcntl),
		ALLOW(SYS_close),
		ALLOW(SYS_memfd_create),
		ALLOW(SYS_ftruncate),
		ALLOW(SYS_brk),
		ALLOW(SYS_munmap),
		ALLOW(SYS_mremap),
		ALLOW(SYS_madvise),
		ALLOW(SYS_setitimer),
		ALLOW(SYS_clock_gettime),
		ALLOW(SYS_getrandom),
		ALLOW(SYS_futex),
		ALLOW(SYS_rt_sigreturn),
		ALLOW(SYS_exit_group),
		/* memory, but none to run */
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, args[2])),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
	};
	struct sock_fprog prog = {sizeof(code) / sizeof(*code), code};
	struct rlimit memory = {TABLER_MEMORY, TABLER_MEMORY}, core = {0, 0};

	if (!CONFINED)
		return true;
	setrlimit(RLIMIT_CORE, &core);
	return setrlimit(RLIMIT_DATA, &memory) == 0 &&
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog, 0, 0) == 0;
}

/* --- worker -------------------------------------------------------------------------------- */

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * NS_PER_S + t.tv_nsec;
}

static void send_reply(const struct tabler_reply *r, int rows_fd)
{
	union {
		struct cmsghdr h;
		char room[CMSG_SPACE(sizeof(int))];
	} control = {0};
	struct iovec iov = {(void *)r, sizeof(*r)};
	struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1};
	struct cmsghdr *c;

	if (rows_fd >= 0) {
		m.msg_control = control.room;
		m.msg_controllen = sizeof(control.room);
		c = CMSG_FIRSTHDR(&m);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(c), &rows_fd, sizeof(int));
	}
	if (sendmsg(3, &m, MSG_NOSIGNAL) != (ssize_t)sizeof(*r))
		_exit(0);
}

static int write_rows(const struct unwind_row *rows, size_t n, struct err *e)
{
	int fd = memfd_create("rows", MFD_CLOEXEC);
	const char *p = (const char *)rows;
	size_t left = n * sizeof(*rows);
	ssize_t done;

	if (fd < 0)
		return err_errno(e, errno, "no memory for rows");
	while (left) {
		done = write(fd, p, left);
		if (done <= 0) {
			close(fd);
			return err_errno(e, done < 0 ? errno : ENOSPC,
					 "no memory for rows");
		}
		p += done;
		left -= done;
	}
	return fd;
}

/* The rows' descriptor, or -1; takes file_fd over. */
static int make_table(const struct tabler_request *request, int file_fd,
		      struct tabler_reply *out)
{
	const struct unwind_limits limits = {.max_rows = TABLER_ROWS_MAX};
	struct unwind_table t = {0};
	struct elf_file *f = NULL;
	struct err e = {0};
	int fd = -1;

	out->status = elf_open_fd(file_fd, &f, &e);
	if (!out->status && (!f->is64 || f->machine != MACHINE))
		out->status = err_set(&e, ENOTSUP, "for another kind of machine");
	if (!out->status && request->alloc)
		alloc_find(f, &out->alloc);
	if (!out->status)
		out->status = unwind_table_build(f, &limits, &t, &e);
	if (!out->status) {
		fd = write_rows(t.rows, t.nrows, &e);
		if (fd < 0)
			out->status = fd;
		out->nrows = t.nrows;
		out->nunsupported = t.nunsupported;
		out->nsegments = t.nsegments;
		memcpy(out->segments, t.segments, sizeof(t.segments));
	}
	if (!out->status && request->python)
		python_find(f, &out->python);
	if (out->status)
		snprintf(out->text, sizeof(out->text), "%.*s", TABLER_TEXT - 1, e.msg);
	unwind_table_release(&t);
	elf_free(f);
	return fd < 0 ? -1 : fd;
}

/* `doing`: the id of the file at work, for whoever finds us dead. */
static _Noreturn void work(volatile uint64_t *doing)
{
	/* of CPU time; and of the clock, if a file cannot be read */
	const struct itimerval limit = {.it_value = {.tv_sec = TABLER_SECONDS}},
			       patience = {.it_value = {.tv_sec = PATIENCE_S}},
			       off = {.it_value = {.tv_sec = 0}};
	union {
		struct cmsghdr h;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	struct tabler_reply r;
	struct tabler_request request;
	uint64_t before;
	int file_fd, rows_fd;

	for (;;) {
		struct iovec iov = {&request, sizeof(request)};
		struct msghdr m = {
			.msg_iov = &iov,
			.msg_iovlen = 1,
			.msg_control = control.room,
			.msg_controllen = sizeof(control.room),
		};

		if (recvmsg(3, &m, MSG_CMSG_CLOEXEC) != (ssize_t)sizeof(request) ||
		    !CMSG_FIRSTHDR(&m))
			_exit(0);
		memcpy(&file_fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(int));
		*doing = request.id;
		memset(&r, 0, sizeof(r));
		r.id = request.id;
		before = cpu_ns();
		setitimer(ITIMER_PROF, &limit, NULL);
		setitimer(ITIMER_REAL, &patience, NULL);
		rows_fd = make_table(&request, file_fd, &r);
		setitimer(ITIMER_PROF, &off, NULL);
		setitimer(ITIMER_REAL, &off, NULL);
		r.cpu_ns = cpu_ns() - before;
		*doing = 0;
		send_reply(&r, rows_fd);
		if (rows_fd >= 0)
			close(rows_fd);
	}
}

/* --- guard --------------------------------------------------------------------------------- */

static void send_lost(uint64_t id, int status)
{
	struct tabler_reply r = {.id = id, .status = -ECHILD};

	if (WIFSIGNALED(status) &&
	    (WTERMSIG(status) == SIGPROF || WTERMSIG(status) == SIGALRM)) {
		r.status = -ETIME;
		snprintf(r.text, sizeof(r.text), "takes more than %d s", TABLER_SECONDS);
	} else if (WIFSIGNALED(status)) {
		snprintf(r.text, sizeof(r.text), "its reader was killed by signal %d",
			 WTERMSIG(status));
	} else {
		snprintf(r.text, sizeof(r.text), "its reader has ended: no memory?");
	}
	send_reply(&r, -1);
}

/* Requests go to whoever asks for one first. */
static pid_t start_worker(volatile uint64_t *doing)
{
	pid_t pid;

	*doing = 0;
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (!confine())
			_exit(1);
		work(doing);
	}
	return pid;
}

_Noreturn static void guard(volatile uint64_t *doing)
{
	pid_t workers[WORKERS], pid;
	int status, i;

	for (i = 0; i < WORKERS; i++)
		workers[i] = start_worker(&doing[i]);
	/* the others end with us */
	while ((pid = waitpid(-1, &status, 0)) > 0) {
		for (i = 0; i < WORKERS - 1 && workers[i] != pid; i++)
			;
		if (doing[i])
			send_lost(doing[i], status);
		else if (!WIFSIGNALED(status)) /* it has seen the end */
			break;
		workers[i] = start_worker(&doing[i]);
	}
	_exit(0);
}

_Noreturn void tabler_guard(int socket)
{
	/* which request each is at */
	volatile uint64_t *doing =
		mmap(NULL, WORKERS * sizeof(*doing), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t parent = getppid();

	prctl(PR_SET_NAME, "prof-tabler");
	/* signals from the terminal are for the capture, which still needs us for its end */
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGALRM, SIG_DFL);
	signal(SIGPROF, SIG_DFL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* a table that comes late costs stacks; where that is not allowed, it comes late */
	setpriority(PRIO_PROCESS, 0, WORKER_NICE);
	if (doing == MAP_FAILED || getppid() != parent || !confine_files(socket) ||
	    !confine_capabilities(0))
		_exit(1);
	guard(doing);
}
