/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/ui/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/buf.h"
#include "lib/base/num.h"
#include "lib/base/xalloc.h"
#include "lib/ui/escape.h"

#define MESSAGE_MAX (64 * 1024)

enum { OPT_MAX_SIZE = 0x1000, OPT_SKIP_BAD };

static void print_version(FILE *f, struct argp_state *state)
{
	(void)state;
	fprintf(f, "%s (profpipe) %s\n", program_invocation_short_name, PROFPIPE_VERSION);
}

static void interrupted(int sig)
{
	(void)sig; /* SA_RESETHAND: the next one kills */
}

/* One interrupt ends the producer of a live pipe, and its end of file ends us. */
static void ignore_first_interrupt(void)
{
	struct sigaction sa = {.sa_flags = SA_RESETHAND | SA_RESTART};
	struct stat st;

	if (fstat(STDIN_FILENO, &st) < 0 || !S_ISFIFO(st.st_mode))
		return;
	if (sigaction(SIGINT, NULL, &sa) < 0 || sa.sa_handler == SIG_IGN)
		return;
	sa = (struct sigaction){.sa_flags = SA_RESETHAND | SA_RESTART};
	sa.sa_handler = interrupted;
	sigaction(SIGINT, &sa, NULL);
}

/*
 * A file opened later must not become standard input, output or error, else messages would go
 * into it. What was closed is taken by something whose use fails, as it would have.
 */
static void hold_standard_descriptors(void)
{
	int fd;

	for (fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) < 0)
			open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
	}
}

/* For those who exit by themselves, as argp does after --help. */
static void check_standard_output(void)
{
	if (fflush(stdout) == EOF || ferror(stdout)) {
		cli_error("cannot write standard output: %s", strerror(errno));
		_exit(EXIT_TROUBLE);
	}
}

void cli_start(const char *program, bool filter)
{
	hold_standard_descriptors();
	atexit(check_standard_output);
	program_invocation_name = program_invocation_short_name = (char *)program;
	argp_err_exit_status = EXIT_TROUBLE;
	argp_program_version_hook = print_version;
	signal(SIGPIPE, SIG_DFL);
	/* a file that may not grow is like a full disk: the write fails, and what it was for */
	signal(SIGXFSZ, SIG_IGN);
	unsetenv("DEBUGINFOD_URLS");
	if (filter)
		ignore_first_interrupt();
}

static void parse_flags(const struct argp *argp, int argc, char **argv,
			unsigned int flags, void *input)
{
	error_t r;

	/* argp names the program by argv[0]; messages name it without the path */
	argv[0] = program_invocation_short_name;
	r = argp_parse(argp, argc, argv, flags, NULL, input);
	if (r) {
		cli_error("%s", strerror(r));
		exit(EXIT_TROUBLE);
	}
}

void cli_parse(const struct argp *argp, int argc, char **argv, void *input)
{
	parse_flags(argp, argc, argv, 0, input);
}

void cli_parse_in_order(const struct argp *argp, int argc, char **argv, void *input)
{
	parse_flags(argp, argc, argv, ARGP_IN_ORDER, input);
}

void cli_need_input(const struct argp *argp, size_t nfiles)
{
	if (nfiles || !isatty(STDIN_FILENO))
		return;
	argp_help(argp, stderr, ARGP_HELP_STD_USAGE & ~ARGP_HELP_EXIT_ERR,
		  program_invocation_short_name);
	exit(EXIT_TROUBLE);
}

__attribute__((format(printf, 1, 0))) static void message(const char *fmt, va_list ap)
{
	struct buf text = BUF_INIT(MESSAGE_MAX), line = BUF_INIT(8 * MESSAGE_MAX);
	ssize_t w;

	buf_vprintf(&text, fmt, ap);
	buf_printf(&line, "%s: ", program_invocation_short_name);
	escape_terminal(&line, buf_str(&text), text.len);
	buf_putc(&line, '\n');
	fflush(stdout);
	do {
		w = write(STDERR_FILENO, line.data, line.len);
	} while (w < 0 && errno == EINTR);
	buf_release(&text);
	buf_release(&line);
}

void cli_error(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	message(fmt, ap);
	va_end(ap);
}

void cli_note(const struct cli *c, const char *fmt, ...)
{
	va_list ap;

	if (c->quiet)
		return;
	va_start(ap, fmt);
	message(fmt, ap);
	va_end(ap);
}

void cli_info(const struct cli *c, const char *fmt, ...)
{
	va_list ap;

	if (!c->verbose)
		return;
	va_start(ap, fmt);
	message(fmt, ap);
	va_end(ap);
}

int cli_finish(int r, int status, const struct err *e)
{
	if (r < 0) {
		cli_error("%s", e->msg);
		status = EXIT_TROUBLE;
	}
	/* a full disk may show only now; a reader that has gone is SIGPIPE's business */
	if (fflush(stdout) == EOF || ferror(stdout) ||
	    (close(STDOUT_FILENO) < 0 && errno != EBADF)) {
		if (r >= 0)
			cli_error("cannot write standard output: %s", strerror(errno));
		status = EXIT_TROUBLE;
		/* said once is enough, at exit too */
		__fpurge(stdout);
		clearerr(stdout);
	}
	return status;
}

void cli_operand(struct operands *o, char *arg)
{
	XGROW(o->v, o->n, o->cap);
	o->v[o->n++] = arg;
}

void cli_keys(struct operands *o, char *arg, const char *option)
{
	size_t had = o->n;
	char *key, *save;

	for (key = strtok_r(arg, ",", &save); key; key = strtok_r(NULL, ",", &save))
		cli_operand(o, key);
	if (o->n == had)
		cli_usage_error("--%s: no label given", option);
}

static error_t parse_common(int key, char *arg, struct argp_state *state)
{
	struct cli *c = state->input;

	switch (key) {
	case 'o':
		if (!*arg)
			cli_usage_error("--output: no file name");
		c->output = arg;
		return 0;
	case 'q':
		c->quiet = true;
		return 0;
	case 'v':
		c->verbose++;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static error_t parse_input(int key, char *arg, struct argp_state *state)
{
	struct cli *c = state->input;

	switch (key) {
	case OPT_MAX_SIZE:
		if (num_parse_size(arg, &c->max_size) < 0 || !c->max_size)
			cli_usage_error("--max-size: not a size: %s", arg);
		return 0;
	case OPT_SKIP_BAD:
		c->skip_bad = true;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp_option common_options[] = {
	{"output", 'o', "FILE", 0, "Write to FILE, whole or not at all", 90},
	{"quiet", 'q', NULL, 0, "No notes on standard error", 90},
	{"verbose", 'v', NULL, 0, "Say more on standard error", 90},
	{0},
};

static const struct argp_option input_options[] = {
	{"max-size", OPT_MAX_SIZE, "SIZE", 0,
	 "Refuse a profile larger than SIZE inflated (4G)", 80},
	{"skip-bad", OPT_SKIP_BAD, NULL, 0, "Name bad profiles and go on without them",
	 80},
	{0},
};

const struct argp cli_argp = {common_options, parse_common, NULL, NULL, NULL, NULL, NULL};
const struct argp cli_input_argp = {input_options, parse_input, NULL, NULL,
				    NULL,	   NULL,	NULL};

void cli_usage_error(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	message(fmt, ap);
	va_end(ap);
	exit(EXIT_TROUBLE);
}
