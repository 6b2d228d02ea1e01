/* SPDX-License-Identifier: Apache-2.0 */
/* The process that libdebuginfod works in. */
#include "lib/sym/debuginfod_child.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/xalloc.h"
#include "lib/sym/debuginfod.h"

#define LIBRARY "libdebuginfod.so.1"
#define SIZE_LIMIT "4294967296" /* bytes of a file: no section larger than that is read */

/* As in elfutils/debuginfod.h, of elfutils 0.179 and later. */
struct debuginfod_client;
typedef int find_fn(struct debuginfod_client *c, const unsigned char *id, int n,
		    char **path);
typedef int progress_fn(struct debuginfod_client *c, long a, long b);
typedef void *get_user_data_fn(struct debuginfod_client *c);

struct child {
	int fd;
	struct debuginfod_client *client;
	find_fn *find[2]; /* by enum debuginfod_kind */
	uint64_t deadline_ns;
	bool given_up;
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + t.tv_nsec;
}

/* Called about every second. Not 0: the library gives up and leaves nothing behind. */
static int progress(struct debuginfod_client *client, long a, long b)
{
	get_user_data_fn *get =
		(get_user_data_fn *)dlsym(RTLD_DEFAULT, "debuginfod_get_user_data");
	struct child *c = get(client);
	struct pollfd p = {.fd = c->fd, .events = POLLRDHUP};

	(void)a;
	(void)b;
	if (now_ns() >= c->deadline_ns || poll(&p, 1, 0) > 0)
		c->given_up = true;
	return c->given_up;
}

/* What the library needs to be told; NULL or why it cannot be used. */
static const char *load(struct child *c)
{
	void *lib = dlopen(LIBRARY, RTLD_NOW | RTLD_GLOBAL);
	struct debuginfod_client *(*begin)(void);
	void (*set_progressfn)(struct debuginfod_client *, progress_fn *);
	void (*set_user_data)(struct debuginfod_client *, void *);

	if (!lib)
		return dlerror();
	begin = (struct debuginfod_client * (*)(void)) dlsym(lib, "debuginfod_begin");
	set_progressfn = (void (*)(struct debuginfod_client *, progress_fn *))dlsym(
		lib, "debuginfod_set_progressfn");
	set_user_data = (void (*)(struct debuginfod_client *, void *))dlsym(
		lib, "debuginfod_set_user_data");
	c->find[DEBUGINFOD_EXECUTABLE] =
		(find_fn *)dlsym(lib, "debuginfod_find_executable");
	c->find[DEBUGINFOD_DEBUGINFO] =
		(find_fn *)dlsym(lib, "debuginfod_find_debuginfo");
	if (!begin || !set_progressfn || !set_user_data || !c->find[0] || !c->find[1] ||
	    !dlsym(lib, "debuginfod_get_user_data"))
		return LIBRARY ": too old";
	c->client = begin();
	if (!c->client)
		return LIBRARY ": cannot start";
	set_user_data(c->client, c);
	set_progressfn(c->client, progress);
	return NULL;
}

static void reply(const struct child *c, int code, const char *text)
{
	struct debuginfod_reply r = {.code = code};

	snprintf(r.text, sizeof(r.text), "%s", text);
	if (send(c->fd, &r, sizeof(r), MSG_NOSIGNAL) < 0)
		_exit(0);
}

/* Where the library keeps its files, by debuginfod-client-config(7); the caller's. */
static char *library_cache(void)
{
	const char *given = getenv("DEBUGINFOD_CACHE_PATH"), *home = getenv("HOME"),
		   *xdg = getenv("XDG_CACHE_HOME");
	char *old = xasprintf("%s/.debuginfod_client_cache", home ? home : "");

	if (!given && !access(old, F_OK))
		return old;
	free(old);
	return given ? xstrdup(given)
	       : xdg ? xasprintf("%s/debuginfod_client", xdg)
		     : xasprintf("%s/.cache/debuginfod_client", home ? home : "");
}

/*
 * The library (0.188) notes a request that was given up as one that had no result, by an empty
 * file: but nothing is known.
 */
static void forget(const struct debuginfod_request *q)
{
	char hex[2 * BUILD_ID_MAX + 1], *dir = library_cache(), *path;
	struct stat st;
	size_t i;

	for (i = 0; i < q->n; i++)
		snprintf(hex + 2 * i, 3, "%02x", q->id[i]);
	path = xasprintf("%s/%s/%s", dir, hex, debuginfod_kind_name(q->kind));
	if (!stat(path, &st) && !st.st_size)
		unlink(path);
	free(path);
	free(dir);
}

static void answer(struct child *c, const struct debuginfod_request *q)
{
	char *path = NULL;
	int fd;

	c->deadline_ns = now_ns() + q->limit_ns;
	c->given_up = false;
	fd = c->find[q->kind](c->client, q->id, (int)q->n, &path);
	if (fd < 0 && c->given_up)
		forget(q);
	if (fd >= 0 && path)
		reply(c, 0, path);
	else if (c->given_up)
		reply(c, ETIMEDOUT, "time limit reached");
	else
		reply(c, fd < 0 ? -fd : ENOENT, strerror(fd < 0 ? -fd : ENOENT));
	if (fd >= 0)
		close(fd);
	free(path);
}

/* Nobody may wait for us at the end of a pipe, and nothing is printed. */
static void let_go(struct child *c)
{
	int null = open("/dev/null", O_RDWR);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGINT, SIG_IGN);
	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	if (!getenv("DEBUGINFOD_VERBOSE"))
		dup2(null, STDERR_FILENO);
	if (c->fd != 3) {
		dup2(c->fd, 3);
		c->fd = 3;
	}
	close_range(4, ~0u, 0);
}

void debuginfod_child(int fd, const char *urls)
{
	struct child c = {.fd = fd};
	struct debuginfod_request q;
	const char *trouble;

	let_go(&c);
	setenv("DEBUGINFOD_URLS", urls, 1);
	setenv("DEBUGINFOD_MAXSIZE", SIZE_LIMIT, 0);
	unsetenv("DEBUGINFOD_PROGRESS");
	trouble = load(&c);
	reply(&c, trouble ? ENOENT : 0, trouble ? trouble : "");
	while (!trouble && recv(c.fd, &q, sizeof(q), 0) == sizeof(q))
		answer(&c, &q);
	_exit(0);
}
