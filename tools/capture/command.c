/* SPDX-License-Identifier: Apache-2.0 */
/* The COMMAND that is captured. */
#include "tools/capture/command.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static void run_child(char **argv, int go_fd, int fail_fd, bool out_to_err,
		      const struct rlimit *files)
{
	sigset_t none;
	ssize_t n;
	int code;
	char c;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	do {
		n = read(go_fd, &c, 1);
	} while (n < 0 && errno == EINTR);
	if (n != 1)
		_exit(0); /* the capture never began */
	if (out_to_err)
		dup2(STDERR_FILENO, STDOUT_FILENO);
	setrlimit(RLIMIT_NOFILE, files);
	execvp(argv[0], argv);
	code = errno;
	n = write(fail_fd, &code, sizeof(code));
	_exit(n == sizeof(code) ? 127 : 126);
}

int command_prepare(struct command *c, char **argv, bool out_to_err,
		    const struct rlimit *files, struct err *e)
{
	int go[2], fail[2];

	*c = (struct command){.go_fd = -1, .fail_fd = -1};
	if (pipe2(go, O_CLOEXEC) < 0)
		return err_errno(e, errno, "pipe");
	if (pipe2(fail, O_CLOEXEC) < 0) {
		close(go[0]);
		close(go[1]);
		return err_errno(e, errno, "pipe");
	}
	c->pid = fork();
	if (c->pid == 0) {
		close(go[1]);
		close(fail[0]);
		run_child(argv, go[0], fail[1], out_to_err, files);
	}
	close(go[0]);
	close(fail[1]);
	c->go_fd = go[1];
	c->fail_fd = fail[0];
	if (c->pid < 0) {
		c->pid = 0;
		return err_errno(e, errno, "cannot start a process");
	}
	return 0;
}

int command_run(struct command *c, const char *name, struct err *e)
{
	int code = 0;
	ssize_t n;

	/* it may have been killed while it waited, by an interrupt from the terminal: it has ended */
	if (write(c->go_fd, "", 1) != 1 && errno != EPIPE)
		return err_errno(e, errno, "cannot start %s", name);
	close(c->go_fd);
	c->go_fd = -1;
	/* the exec closes the other end */
	do {
		n = read(c->fail_fd, &code, sizeof(code));
	} while (n < 0 && errno == EINTR);
	if (n == sizeof(code) && code > 0)
		return err_errno(e, code, "cannot run %s", name);
	return 0;
}

bool command_ended(struct command *c)
{
	if (c->pid && waitpid(c->pid, NULL, WNOHANG) == c->pid)
		c->pid = 0;
	return !c->pid;
}

void command_release(struct command *c)
{
	bool never_ran = c->go_fd >= 0;

	if (c->go_fd >= 0)
		close(c->go_fd);
	if (c->fail_fd >= 0)
		close(c->fail_fd);
	c->go_fd = c->fail_fd = -1;
	if (never_ran && c->pid)
		waitpid(c->pid, NULL, 0);
}
