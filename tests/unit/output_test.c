/* SPDX-License-Identifier: Apache-2.0 */
/* Where results go: whole or not at all, links, modes, devices, failures. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pty.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/io/output.h"

static char dir[] = "/tmp/profpipe-output.XXXXXX";
static int home;

static int setup_all(void **state)
{
	(void)state;
	home = open(".", O_RDONLY | O_DIRECTORY);
	return !mkdtemp(dir) || chdir(dir) || home < 0;
}

/* Remove all there is; how many entries there were. */
static int entries(bool remove_them)
{
	DIR *h = opendir(".");
	struct dirent *d;
	int n = 0;

	while ((d = readdir(h))) {
		if (!strcmp(d->d_name, ".") || !strcmp(d->d_name, ".."))
			continue;
		n++;
		if (remove_them && unlink(d->d_name) < 0)
			rmdir(d->d_name);
	}
	closedir(h);
	return n;
}

static int setup(void **state)
{
	(void)state;
	entries(true);
	return entries(false);
}

static int teardown_all(void **state)
{
	setup(state);
	return fchdir(home) || rmdir(dir);
}

static void put_file(const char *path, const char *text, mode_t mode)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
}

static void holds(const char *path, const char *want)
{
	char got[256] = "";
	int fd = open(path, O_RDONLY);
	ssize_t n = read(fd, got, sizeof(got) - 1);

	close(fd);
	if (n < 0 || strcmp(got, want))
		fail_msg("%s holds \"%s\", not \"%s\"", path, got, want);
}

static struct output *open_ok(const char *path)
{
	struct output *o = NULL;
	struct err e = {0};

	if (output_open(path, true, &o, &e) < 0)
		fail_msg("%s: %s", path, e.msg);
	return o;
}

static void write_text(const char *path, const char *text)
{
	struct output *o = open_ok(path);
	struct err e = {0};

	assert_int_equal(output_write(o, text, strlen(text), &e), 0);
	if (output_commit(o, &e) < 0)
		fail_msg("%s: %s", path, e.msg);
}

static void refused(const char *path, int code, const char *text)
{
	struct output *o = NULL;
	struct err e = {0};
	int r = output_open(path, true, &o, &e);

	if (r != -code || !strstr(e.msg, text))
		fail_msg("%s: wanted \"%s\", got %d \"%s\"", path, text, r, e.msg);
	assert_null(o);
}

static mode_t mode_of(const char *path)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	return st.st_mode & 07777;
}

static void test_new_file(void **state)
{
	struct output *o;
	struct err e;

	(void)state;
	umask(027);
	o = open_ok("new");
	assert_int_equal(output_write(o, "abc", 3, &e), 0);
	assert_int_equal(output_flush(o, &e), 0);
	/* not there before it is whole, and without a name until then (or a hidden one) */
	assert_int_equal(access("new", F_OK), -1);
	assert_true(entries(false) <= 1);
	assert_int_equal(output_commit(o, &e), 0);
	holds("new", "abc");
	assert_int_equal(mode_of("new"), 0640);
	assert_int_equal(entries(false), 1);
	umask(022);
}

static void test_abort_leaves_nothing(void **state)
{
	struct output *o;
	struct err e;

	(void)state;
	put_file("old", "old", 0600);
	o = open_ok("old");
	assert_int_equal(output_write(o, "new", 3, &e), 0);
	output_abort(o);
	holds("old", "old");
	output_abort(open_ok("other"));
	output_abort(NULL);
	assert_int_equal(output_commit(NULL, &e), 0);
	assert_int_equal(entries(false), 1);
}

static void test_mode_is_kept(void **state)
{
	(void)state;
	put_file("script", "old and long", 0751);
	write_text("script", "new");
	holds("script", "new");
	assert_int_equal(mode_of("script"), 0751);
	put_file("secret", "", 0600);
	write_text("secret", "new");
	assert_int_equal(mode_of("secret"), 0600);
}

static void test_links_are_followed(void **state)
{
	struct stat st;

	(void)state;
	assert_int_equal(mkdir("d", 0700), 0);
	put_file("d/real", "old", 0644);
	assert_int_equal(symlink("real", "d/second"), 0);
	assert_int_equal(symlink("d/second", "first"), 0);
	write_text("first", "new");
	holds("d/real", "new");
	assert_int_equal(lstat("first", &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_int_equal(lstat("d/second", &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	/* one that points nowhere yet */
	assert_int_equal(symlink("d/fresh", "dangling"), 0);
	write_text("dangling", "x");
	holds("d/fresh", "x");
	assert_int_equal(symlink("loop", "loop"), 0);
	refused("loop", ELOOP, "loop");
	unlink("d/real");
	unlink("d/second");
	unlink("d/fresh");
}

static void test_bad_targets(void **state)
{
	char name[300];

	(void)state;
	assert_int_equal(mkdir("d", 0700), 0);
	refused("d", EISDIR, "d: Is a directory");
	refused("d/", EISDIR, "d/");
	refused("absent/file", ENOENT, "absent/file: No such file");
	refused("", ENOENT, "No such file");
	refused("/dev/fd/999", EBADF, "/dev/fd/999");
	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = 0;
	refused(name, ENAMETOOLONG, "File name too long");
	assert_int_equal(entries(false), 1);
	/* as long as names may be: the temporary one still fits */
	name[255] = 0;
	write_text(name, "long");
	holds(name, "long");
}

static void test_fifo_and_descriptors(void **state)
{
	char text[32], got[16] = "";
	int fds[2], fd;

	(void)state;
	assert_int_equal(mkfifo("fifo", 0600), 0);
	fd = open("fifo", O_RDONLY | O_NONBLOCK);
	write_text("fifo", "through");
	assert_int_equal(read(fd, got, sizeof(got)), 7);
	assert_string_equal(got, "through");
	close(fd);
	assert_int_equal(pipe(fds), 0);
	snprintf(text, sizeof(text), "/dev/fd/%d", fds[1]);
	write_text(text, "piped");
	assert_int_equal(read(fds[0], got, sizeof(got)), 5);
	/* ours is still open, and reading ends cannot be written */
	assert_int_equal(write(fds[1], "x", 1), 1);
	snprintf(text, sizeof(text), "/dev/fd/%d", fds[0]);
	refused(text, EBADF, text);
	close(fds[0]);
	close(fds[1]);
	assert_int_equal(entries(false), 1);
}

/* A file behind a descriptor is written where it stands: what is there stays. */
static void test_descriptor_of_a_file(void **state)
{
	char path[32];
	int fd;

	(void)state;
	put_file("log", "head|", 0600);
	fd = open("log", O_WRONLY | O_APPEND);
	snprintf(path, sizeof(path), "/dev/fd/%d", fd);
	write_text(path, "one|");
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	write_text(path, "two|");
	close(fd);
	holds("log", "head|one|two|");
}

static void test_full_device(void **state)
{
	struct output *o = open_ok("/dev/full");
	struct err e = {0};

	(void)state;
	assert_int_equal(output_write(o, "x", 1, &e), 0);
	assert_int_equal(output_commit(o, &e), -ENOSPC);
	assert_non_null(strstr(e.msg, "cannot write /dev/full: "));
	o = open_ok("/dev/full");
	assert_int_equal(output_write(o, "x", 1, &e), 0);
	assert_int_equal(output_flush(o, &e), -ENOSPC);
	output_abort(o);
}

/* All sizes around the buffer's, in the order they were written. */
static void test_large_writes(void **state)
{
	static const size_t sizes[] = {1,      65535, 65536, 65537, 3,
				       131072, 65533, 7,     200000};
	static char block[200000];
	size_t i, k, total = 0;
	struct output *o = open_ok("big");
	struct err e;
	FILE *f;

	(void)state;
	for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		memset(block, 'a' + (int)i, sizes[i]);
		assert_int_equal(output_write(o, block, sizes[i], &e), 0);
		total += sizes[i];
	}
	assert_int_equal(output_commit(o, &e), 0);
	f = fopen("big", "r");
	for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		for (k = 0; k < sizes[i]; k++, total--) {
			if (fgetc(f) != 'a' + (int)i)
				fail_msg("piece %zu, byte %zu", i, k);
		}
	}
	assert_int_equal(fgetc(f), EOF);
	assert_int_equal(total, 0);
	fclose(f);
}

/* What does not fit is taken back, unless it has gone into a pipe. */
static void test_undo(void **state)
{
	const struct rlimit small = {5, RLIM_INFINITY},
			    all = {RLIM_INFINITY, RLIM_INFINITY};
	static const char large[1 << 20]; /* more than a pipe holds */
	char name[32], got[8];
	int fd = open("f", O_RDWR | O_CREAT, 0666), pipe_fds[2];
	struct output *o;
	struct err e;

	(void)state;
	snprintf(name, sizeof(name), "/dev/fd/%d", fd);
	o = open_ok(name);
	assert_int_equal(output_write(o, "one", 3, &e), 0);
	assert_int_equal(output_flush(o, &e), 0);
	assert_true(output_undo(o)); /* there is nothing to take back */
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	assert_int_equal(output_write(o, "two", 3, &e), 0);
	assert_int_equal(output_flush(o, &e), -EFBIG);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &all), 0);
	holds("f", "onetw");
	assert_true(output_undo(o));
	holds("f", "one");
	assert_int_equal(output_write(o, "three", 5, &e), 0);
	assert_int_equal(output_flush(o, &e), 0);
	holds("f", "onethree");
	output_abort(o);
	close(fd);

	assert_int_equal(pipe2(pipe_fds, O_NONBLOCK), 0);
	snprintf(name, sizeof(name), "/dev/fd/%d", pipe_fds[1]);
	o = open_ok(name);
	assert_int_equal(output_write(o, large, sizeof(large), &e), -EAGAIN);
	assert_false(output_undo(o)); /* a part of it has gone */
	assert_int_equal(read(pipe_fds[0], got, sizeof(got)), sizeof(got));
	output_abort(o);
	close(pipe_fds[0]);
	close(pipe_fds[1]);
}

static void test_terminal(void **state)
{
	struct output *o = NULL;
	struct err e = {0};
	char name[64];
	int a, b;

	(void)state;
	assert_int_equal(openpty(&a, &b, name, NULL, NULL), 0);
	refused(name, EINVAL, "will not write a binary profile to a terminal");
	/* text may */
	assert_int_equal(output_open(name, false, &o, &e), 0);
	output_abort(o);
	close(a);
	close(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_new_file, setup),
		cmocka_unit_test_setup(test_abort_leaves_nothing, setup),
		cmocka_unit_test_setup(test_mode_is_kept, setup),
		cmocka_unit_test_setup(test_links_are_followed, setup),
		cmocka_unit_test_setup(test_bad_targets, setup),
		cmocka_unit_test_setup(test_fifo_and_descriptors, setup),
		cmocka_unit_test_setup(test_descriptor_of_a_file, setup),
		cmocka_unit_test_setup(test_full_device, setup),
		cmocka_unit_test_setup(test_large_writes, setup),
		cmocka_unit_test_setup(test_undo, setup),
		cmocka_unit_test_setup(test_terminal, setup),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, setup_all, teardown_all);
}
