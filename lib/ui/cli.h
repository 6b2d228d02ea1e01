/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every program's command line has in common: start, messages, exit statuses, signals,
 * and the options -o, -q, -v, --max-size, --skip-bad. Only tools use this.
 */
#pragma once

#include <argp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/err.h"

enum exit_status {
	EXIT_OK = 0,
	EXIT_SAID_NO = 1, /* a check the user asked for failed */
	EXIT_TROUBLE = 2, /* usage, unreadable, incompatible, write failure */
	EXIT_INCONCLUSIVE = 3,
};

/* Filled in by cli_argp; put it into your options struct and hand it over as child input. */
struct cli {
	const char *output; /* -o, or NULL */
	bool quiet;
	int verbose; /* times -v was given */
	bool skip_bad;
	uint64_t max_size; /* 0 = default */
};

/* Child parser for -o, -q, -v (cli_argp) and, for programs that read profiles, --max-size and
 * --skip-bad (cli_input_argp). Both take a struct cli * as input. */
extern const struct argp cli_argp;
extern const struct argp cli_input_argp;

/*
 * First call of main(): exit status 2 for bad usage, version text, SIGPIPE default, and
 * DEBUGINFOD_URLS unset. `filter`: when standard input is a pipe, the first SIGINT is ignored
 * so that a live pipeline ends with its data, a second one kills.
 */
void cli_start(const char *program, bool filter);

/* argp_parse with the house's flags. Exits on --help, --version and bad usage. */
void cli_parse(const struct argp *argp, int argc, char **argv, void *input);

/* The same, with options and operands in the order they stand (options that set what the
 * operands after them mean). */
void cli_parse_in_order(const struct argp *argp, int argc, char **argv, void *input);

/* For a filter without operands whose standard input is a terminal: print usage, exit 2. */
void cli_need_input(const struct argp *argp, size_t nfiles);

/* "prof-x: TEXT\n" to standard error in one write, control characters escaped. */
void cli_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void cli_usage_error(const char *fmt, ...) /* and exit 2, from option parsers */
	__attribute__((format(printf, 1, 2), noreturn));
void cli_note(const struct cli *c, const char *fmt, ...) /* unless -q */
	__attribute__((format(printf, 2, 3)));
void cli_info(const struct cli *c, const char *fmt, ...) /* with -v */
	__attribute__((format(printf, 2, 3)));

/*
 * Last call of main(): prints e if `r` is negative, checks that standard output took all, and
 * gives the exit status (`status`, or EXIT_TROUBLE).
 */
int cli_finish(int r, int status, const struct err *e);

/* Operands collected by a parser: cli_arg() from ARGP_KEY_ARG. */
struct operands {
	char **v; /* points into argv */
	size_t n, cap;
};
void cli_operand(struct operands *o, char *arg);

/* "a,b" of an option that may repeat, into a list; none is empty. */
void cli_keys(struct operands *o, char *arg, const char *option);
