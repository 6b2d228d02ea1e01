/* SPDX-License-Identifier: Apache-2.0 */
/* prof-render: a profile stream as a table, text, folded stacks or a picture. */
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "lib/base/num.h"
#include "lib/ui/cli.h"
#include "lib/ui/queryopt.h"
#include "lib/ui/units.h"
#include "tools/render/render.h"

enum {
	OPT_SORT = 0x100,
	OPT_UNIT,
	OPT_NO_TRIM,
	OPT_ALL_FRAMES,
	OPT_TITLE,
	OPT_WIDTH,
	OPT_MIN_WIDTH,
	OPT_FUNCTION,
	OPT_DIFF_WIDTH,
	OPT_BY,
	OPT_ROOT_BY,
	OPT_FOLLOW,
	OPT_SOURCE,
	OPT_INTERACTIVE,
};

#define FORMATS                                                                          \
	"table, tree, peek, lines, tags, text, folded, svg, html, csv, json, markdown, " \
	"timeline, speedscope or grafana"

static const struct argp_option options[] = {
	{"format", 'f', "FORMAT", 0, FORMATS "; else by -o's ending, or table", 1},
	{"top", 'n', "N", 0, "At most N functions (default: all; tree: 80, lines: 20)",
	 1},
	{"sort", OPT_SORT, "COLUMN", 0, "Functions by flat (default) or cum", 1},
	{"function", OPT_FUNCTION, "RE", 0, "Peek, lines: the functions to show", 1},
	{"source", OPT_SOURCE, "DIR", 0, "Lines, HTML: sources are below DIR; may repeat",
	 1},
	{"unit", OPT_UNIT, "UNIT", 0,
	 "Values in UNIT (ms, MB...), or auto: each in its own", 1},
	{"follow", OPT_FOLLOW, NULL, 0,
	 "Table, tree, peek, lines, tags, markdown: one of each profile, as it comes", 1},
	{"no-trim", OPT_NO_TRIM, NULL, 0,
	 "Table, tree, markdown: also what is below 0.5 % of the total", 1},
	{"all-frames", OPT_ALL_FRAMES, NULL, 0,
	 "Ignore drop_frames and keep_frames in profiles", 1},
	{"root-by", OPT_ROOT_BY, "LABELS", 0,
	 "Each stack below the values of these labels, as its callers", 1},
	{"by", OPT_BY, "LABELS", 0,
	 "Timeline: a row for each value of these labels; HTML: labels to look around by "
	 "(default: those with at most 100 values)",
	 1},
	{"title", OPT_TITLE, "TEXT", 0, "SVG, HTML, speedscope, grafana: heading", 1},
	{"width", OPT_WIDTH, "PX", 0, "SVG: width (1200)", 1},
	{"diff-width", OPT_DIFF_WIDTH, "SIDE", 0,
	 "SVG of a difference: width by the share of base, of new or their mean "
	 "(default)",
	 1},
	{"min-width", OPT_MIN_WIDTH, "PX", 0,
	 "SVG: draw narrower frames as one grey box (0.5)", 1},
	{"interactive", OPT_INTERACTIVE, NULL, 0,
	 "SVG: with a script, to zoom and search in a browser", 1},
	{0},
};

static size_t parse_count(const char *option, const char *arg, uint64_t least,
			  uint64_t most)
{
	uint64_t n;

	if (num_parse_u64(arg, &n) || n < least || n > most)
		cli_usage_error("--%s: \"%s\" is not a number from %llu to %llu", option,
				arg, (unsigned long long)least, (unsigned long long)most);
	return n;
}

static double parse_px(const char *option, const char *arg)
{
	char *end;
	double v = strtod(arg, &end);

	if (end == arg || *end || !(v >= 0 && v <= 1000))
		cli_usage_error("--%s: \"%s\" is not a number of pixels", option, arg);
	return v;
}

static bool parse_sort(const char *arg)
{
	if (strcmp(arg, "flat") && strcmp(arg, "cum"))
		cli_usage_error("--sort: \"%s\" is neither flat nor cum", arg);
	return !strcmp(arg, "cum");
}

static enum diff_width parse_side(const char *arg)
{
	static const char *const names[] = {"mean", "base", "new"};
	enum diff_width w;

	for (w = DIFF_WIDTH_MEAN; w <= DIFF_WIDTH_NEW; w++) {
		if (!strcmp(arg, names[w]))
			return w;
	}
	cli_usage_error("--diff-width: \"%s\" is not mean, base or new", arg);
}

static const char *parse_unit(const char *arg)
{
	if (!units_exist(arg))
		cli_usage_error("--unit: no unit \"%s\": " UNITS_NAMES, arg);
	return arg;
}

static error_t parse_opt(int key, char *arg, struct argp_state *state)
{
	struct render_opts *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		queryopt_init(state, o->q, &o->cli);
		return 0;
	case 'f':
		o->format = render_format_by_name(arg);
		if (!o->format)
			cli_usage_error("no format \"%s\": " FORMATS, arg);
		return 0;
	case 'n':
		o->report.rows.top = parse_count("top", arg, 0, INT32_MAX);
		o->report.top_given = true;
		return 0;
	case OPT_FUNCTION:
		o->report.function = arg;
		return 0;
	case OPT_SOURCE:
		cli_operand(&o->sources, arg);
		return 0;
	case OPT_SORT:
		o->report.rows.by_cum = parse_sort(arg);
		return 0;
	case OPT_UNIT:
		o->report.unit = parse_unit(arg);
		return 0;
	case OPT_NO_TRIM:
		o->report.rows.node_fraction = o->report.rows.edge_fraction = 0;
		return 0;
	case OPT_FOLLOW:
		o->follow = true;
		return 0;
	case OPT_ALL_FRAMES:
		o->all_frames = true;
		return 0;
	case OPT_TITLE:
		o->report.title = arg;
		return 0;
	case OPT_ROOT_BY:
		cli_keys(&o->root_by, arg, "root-by");
		return 0;
	case OPT_BY:
		cli_keys(&o->by, arg, "by");
		return 0;
	case OPT_WIDTH:
		o->report.width_px = (int)parse_count("width", arg, 200, 100000);
		return 0;
	case OPT_DIFF_WIDTH:
		o->report.diff_width = parse_side(arg);
		return 0;
	case OPT_MIN_WIDTH:
		o->report.min_width_px = parse_px("min-width", arg);
		return 0;
	case OPT_INTERACTIVE:
		o->report.interactive = true;
		return 0;
	case ARGP_KEY_ARG:
		cli_operand(&o->files, arg);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp argp = {
	options,
	parse_opt,
	"[FILE...]",
	"Show profiles: read a stream of pprof profiles and write a table (the default), "
	"the "
	"text twin, folded stacks, an icicle as SVG or a page to look around in.\v"
	"The text form gives each profile as it comes; all others add the profiles up "
	"first, unless asked to --follow. "
	"See prof-render(1).",
	queryopt_children,
	NULL,
	NULL,
};

/* Columns of the terminal the table goes to; 0 when it goes elsewhere. */
static size_t terminal_columns(const struct render_opts *o)
{
	struct winsize w;
	uint64_t n;
	const char *env = getenv("COLUMNS");

	if ((o->cli.output && strcmp(o->cli.output, "-")) || !isatty(STDOUT_FILENO))
		return 0;
	if (env && !num_parse_u64(env, &n) && n > 0 && n < 100000)
		return n;
	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) && w.ws_col)
		return w.ws_col;
	return 80;
}

int main(int argc, char **argv)
{
	struct render_opts o = {
		.report = {.rows = {.node_fraction = 0.005, .edge_fraction = 0.001},
			   .unit = "minimum",
			   .width_px = 1200,
			   .min_width_px = 0.5},
	};
	struct err e = {0};
	int r;

	cli_start("prof-render", true);
	o.q = query_new();
	cli_parse(&argp, argc, argv, &o);
	cli_need_input(&argp, o.files.n);
	o.report.columns = terminal_columns(&o);
	o.report.by = o.by.v;
	o.report.nby = o.by.n;
	o.report.sources = o.sources.v;
	o.report.nsources = o.sources.n;
	r = render(&o, &e);
	query_free(o.q);
	free(o.files.v);
	free(o.by.v);
	free(o.root_by.v);
	free(o.sources.v);
	return cli_finish(r, EXIT_OK, &e);
}
