/* SPDX-License-Identifier: Apache-2.0 */
/* prof-symbolize: put functions, files, lines and inlined frames where profiles have addresses. */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/num.h"
#include "lib/base/xalloc.h"
#include "lib/io/output.h"
#include "lib/pprof/reader.h"
#include "lib/pprof/source.h"
#include "lib/pprof/writer.h"
#include "lib/sym/symcache.h"
#include "lib/ui/cli.h"
#include "lib/ui/progress.h"
#include "tools/symbolize/indexes.h"
#include "tools/symbolize/objects.h"
#include "tools/symbolize/report.h"
#include "tools/symbolize/rewrite.h"

#define DEBUG_DIR "/usr/lib/debug"
#define THREADS_MAX 256
#define CACHE_SIZE (2ull << 30)
#define MAX_MEMORY (4ull << 30)
#define DEBUGINFOD_LIMIT_NS                                                              \
	90000000000 /* as libdebuginfod has for a file that comes slowly */

enum {
	OPT_DEBUG_DIR = 1,
	OPT_SYSROOT,
	OPT_BINARY,
	OPT_PERF_MAP,
	OPT_DEMANGLE,
	OPT_KEEP_CLONES,
	OPT_FORCE,
	OPT_NO_ANONYMOUS,
	OPT_RETURN_ADDRESSES,
	OPT_REQUIRE,
	OPT_REPORT,
	OPT_CACHE,
	OPT_CACHE_SIZE,
	OPT_INDEX,
	OPT_EXPORT_INDEX,
	OPT_MAX_MEMORY,
	OPT_DEBUGINFOD,
	OPT_DEBUGINFOD_LIMIT,
};

struct options {
	struct cli cli;
	struct operands files, debug_dirs, sysroots, binaries, perf_maps;
	enum demangle_mode mode;
	struct rewrite_opts rewrite;
	bool keep_clones, require;
	const char *cache;
	uint64_t cache_size;	     /* bytes */
	bool index;		     /* operands are programs to index */
	const char *export_dir;	     /* for indexes, or NULL */
	uint64_t max_memory;	     /* bytes */
	uint64_t threads;	     /* 0: as many as there are processors */
	const char *report;	     /* where to, or NULL */
	double required;	     /* fraction */
	const char *debuginfod;	     /* URLs, or NULL: not asked for */
	const char *debuginfod_urls; /* of the environment, or NULL */
	int64_t debuginfod_limit;    /* ns */
};

static const struct argp_option option_table[] = {
	{"debug-dir", OPT_DEBUG_DIR, "DIR", 0,
	 "Look for debug files below DIR (may repeat; default " DEBUG_DIR ")", 1},
	{"sysroot", OPT_SYSROOT, "DIR", 0,
	 "Look for the profile's files below DIR, as if that were / (may repeat)", 1},
	{"binary", OPT_BINARY, "FILE", 0,
	 "Use FILE for the mapping with its build id, or without one and its name (may "
	 "repeat)",
	 1},
	{"perf-map", OPT_PERF_MAP, "FILE", 0,
	 "Name code in no file by FILE, a perf map or jitdump (may repeat)", 1},
	{"cache", OPT_CACHE, "DIR", 0,
	 "Keep indexes of files by build id in DIR, and use them", 1},
	{"cache-size", OPT_CACHE_SIZE, "SIZE", 0,
	 "Remove indexes not used for longest over SIZE (default 2G)", 1},
	{"index", OPT_INDEX, NULL, 0,
	 "Read no profiles: put indexes of the programs FILE into the cache", 1},
	{"export-index", OPT_EXPORT_INDEX, "DIR", 0,
	 "Put the indexes of all files that were used into DIR, too", 1},
	{"debuginfod", OPT_DEBUGINFOD, "URLS", OPTION_ARG_OPTIONAL,
	 "Ask debuginfod servers for what is not found (default: $DEBUGINFOD_URLS)", 1},
	{"debuginfod-limit", OPT_DEBUGINFOD_LIMIT, "TIME", 0,
	 "Time for all these requests together (default 90s)", 1},
	{"demangle", OPT_DEMANGLE, "MODE", 0,
	 "C++ and Rust names: none, simple (default), templates, full", 2},
	{"keep-clones", OPT_KEEP_CLONES, NULL, 0,
	 "Keep .isra.0, .cold and the like in names", 2},
	{"force", OPT_FORCE, NULL, 0, "Symbolize again what has names already", 2},
	{"no-anonymous", OPT_NO_ANONYMOUS, NULL, 0,
	 "Leave anonymous memory between two pieces of a file alone", 2},
	{"return-addresses", OPT_RETURN_ADDRESSES, "WHICH", 0,
	 "Callers are looked up where they are, exact (default), or one byte before, "
	 "minus-one",
	 2},
	{"require", OPT_REQUIRE, "PCT", 0,
	 "Exit 1 if less of the samples' value has a name at its leaf", 2},
	{"jobs", 'j', "N", 0, "Work on N files at a time (default: the number of CPUs)",
	 2},
	{"max-memory", OPT_MAX_MEMORY, "SIZE", 0,
	 "Do with less of what takes more memory than SIZE (default 4G)", 2},
	{"report", OPT_REPORT, "json[:FILE]", 0,
	 "Write what was named by what, and why not, to FILE or to standard output "
	 "instead of the profiles",
	 2},
	{0},
};

static void set_report(struct options *o, const char *arg)
{
	size_t n = strcspn(arg, ":");

	if (n != 4 || memcmp(arg, "json", 4) != 0)
		cli_usage_error("--report: json[:FILE], not %s", arg);
	o->report = arg[n] ? arg + n + 1 : "-";
	if (!o->report[0])
		cli_usage_error("--report: no FILE after the colon of %s", arg);
}

static void set_debuginfod(struct options *o, const char *arg)
{
	o->debuginfod = arg ? arg : o->debuginfod_urls;
	if (!o->debuginfod || !o->debuginfod[0])
		cli_usage_error("--debuginfod: no URLs, and DEBUGINFOD_URLS is not set");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &o->cli;
		state->child_inputs[1] = &o->cli;
		return 0;
	case OPT_DEBUG_DIR:
		cli_operand(&o->debug_dirs, arg);
		return 0;
	case OPT_SYSROOT:
		cli_operand(&o->sysroots, arg);
		return 0;
	case OPT_BINARY:
		cli_operand(&o->binaries, arg);
		return 0;
	case OPT_CACHE:
		o->cache = arg;
		return 0;
	case OPT_CACHE_SIZE:
		if (num_parse_size(arg, &o->cache_size) < 0)
			cli_usage_error("--cache-size: not a size: %s", arg);
		return 0;
	case OPT_INDEX:
		o->index = true;
		return 0;
	case OPT_EXPORT_INDEX:
		o->export_dir = arg;
		return 0;
	case OPT_DEBUGINFOD:
		set_debuginfod(o, arg);
		return 0;
	case OPT_DEBUGINFOD_LIMIT:
		if (num_parse_duration(arg, &o->debuginfod_limit) < 0 ||
		    o->debuginfod_limit <= 0)
			cli_usage_error("--debuginfod-limit: not a time: %s", arg);
		return 0;
	case OPT_PERF_MAP:
		cli_operand(&o->perf_maps, arg);
		return 0;
	case OPT_DEMANGLE:
		if (!demangle_parse_mode(arg, &o->mode))
			cli_usage_error(
				"--demangle: not none, simple, templates or full: %s",
				arg);
		return 0;
	case OPT_KEEP_CLONES:
		o->keep_clones = true;
		return 0;
	case OPT_FORCE:
		o->rewrite.force = true;
		return 0;
	case OPT_NO_ANONYMOUS:
		o->rewrite.no_anonymous = true;
		return 0;
	case OPT_RETURN_ADDRESSES:
		o->rewrite.return_addresses = !strcmp(arg, "minus-one");
		if (!o->rewrite.return_addresses && strcmp(arg, "exact") != 0)
			cli_usage_error("--return-addresses: not exact or minus-one: %s",
					arg);
		return 0;
	case OPT_REQUIRE:
		if (num_parse_percent(arg, &o->required) < 0 || o->required < 0 ||
		    o->required > 1)
			cli_usage_error("--require: not a percentage: %s", arg);
		o->require = true;
		return 0;
	case 'j':
		if (num_parse_u64(arg, &o->threads) < 0 || !o->threads ||
		    o->threads > THREADS_MAX)
			cli_usage_error("--jobs: not a number from 1 to %d: %s",
					THREADS_MAX, arg);
		return 0;
	case OPT_MAX_MEMORY:
		if (num_parse_size(arg, &o->max_memory) < 0 || !o->max_memory)
			cli_usage_error("--max-memory: not a size: %s", arg);
		return 0;
	case OPT_REPORT:
		set_report(o, arg);
		return 0;
	case ARGP_KEY_ARG:
		cli_operand(&o->files, arg);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp_child children[] = {
	{&cli_input_argp, 0, NULL, 0},
	{&cli_argp, 0, NULL, 0},
	{0},
};

static const struct argp argp = {
	.options = option_table,
	.parser = parse,
	.args_doc = "[FILE...]",
	.doc = "Put functions, files, lines and inlined frames into pprof profiles that "
	       "hold "
	       "addresses.\vWithout FILE, or for -, reads standard input; a directory "
	       "means its "
	       "*.pb.gz. Each profile is passed on before the next is read. See "
	       "prof-symbolize(1).",
	.children = children,
};

/* One profile in, one out (unless a report takes the place of the output). */
static int one(const struct options *o, struct objects *objects, const uint8_t *msg,
	       size_t n, struct output *out, struct coverage *c, bool *bad_input,
	       struct err *e)
{
	struct store *st = store_new(STORE_EXACT);
	struct profile *p = NULL, *done = NULL;
	int r = profile_decode(st, msg, n, &p, e);

	*bad_input = r != 0;
	if (!r)
		r = rewrite_profile(p, objects, &o->rewrite, &done, e);
	if (!r) {
		rewrite_coverage(done, c);
		if (out)
			r = profile_write(done, out, e);
	}
	if (!r && out)
		r = output_flush(out, e);
	if (done != p)
		profile_free(done);
	profile_free(p);
	store_free(st);
	return r;
}

/* As input_read(), but output happens on the way, and what fails there is no bad input. */
static int run(const struct options *o, struct objects *objects, struct output *out,
	       struct coverage *c, struct err *e)
{
	struct source *s = source_new(o->files.v, o->files.n, o->cli.max_size);
	struct progress progress;
	const uint8_t *msg;
	size_t n, good = 0;
	bool bad_input;
	int r;

	progress_start(&progress, &o->cli);
	while ((r = source_next(s, &msg, &n, e)) != 0) {
		bad_input = r < 0;
		if (r > 0) {
			objects->last = source_is_last(s);
			r = one(o, objects, msg, n, out, c, &bad_input, e);
			if (bad_input)
				err_prefix(e, "%s", source_name(s));
		}
		if (r) {
			progress_clear(&progress);
			if (!bad_input || !o->cli.skip_bad || r == -ENODATA)
				goto out;
			cli_error("%s", e->msg);
		} else {
			good++;
		}
		progress_show(&progress, "%zu profiles, %zu files", good, objects->n);
	}
	if (!good)
		r = err_set(e, ENODATA, "no good profile in input");
out:
	progress_clear(&progress);
	source_free(s);
	return r;
}

static int required_status(const struct options *o, const struct coverage *c)
{
	double share = c->total > 0 ? c->named / c->total : 1;

	if (!o->require || share >= o->required)
		return EXIT_OK;
	cli_error("%.2f%% of the samples' value is named, less than the %.2f%% required",
		  100 * share, 100 * o->required);
	return EXIT_SAID_NO;
}

/* That we may run on. */
static unsigned processors(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set))
		return 1;
	return CPU_COUNT(&set) < THREADS_MAX ? CPU_COUNT(&set) : THREADS_MAX;
}

static int read_perf_maps(const struct options *o, struct jitnames *jit, struct err *e)
{
	size_t i;
	int r = 0;

	for (i = 0; i < o->perf_maps.n && !r; i++)
		r = jitnames_read(jit, o->perf_maps.v[i], e);
	return r;
}

/* The report is the only output if it goes where the profiles would. */
static bool wants_profiles(const struct options *o)
{
	if (o->index)
		return false;
	return !o->report || o->cli.output || strcmp(o->report, "-") != 0;
}

/* Would the report replace the profiles that were written? One file may have many names. */
static bool is_output(const struct options *o, const char *path)
{
	struct stat a, b;

	if (stat(path, &a) < 0 || !S_ISREG(a.st_mode))
		return false;
	if (!o->cli.output || !strcmp(o->cli.output, "-"))
		return !fstat(STDOUT_FILENO, &b) && a.st_dev == b.st_dev &&
		       a.st_ino == b.st_ino;
	return !stat(o->cli.output, &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

static int write_report(const struct options *o, const struct objects *objects,
			const struct jitnames *jit, const struct coverage *c,
			struct err *e)
{
	struct buf b = BUF_INIT(SIZE_MAX / 2);
	struct output *out = NULL;
	int r;

	if (wants_profiles(o) && is_output(o, o->report))
		return err_set(e, EEXIST,
			       "the report and the profiles cannot both go to %s",
			       o->report);
	report_json(objects, jit, c, &b);
	r = output_open(o->report, false, &out, e);
	if (!r)
		r = output_write(out, b.data, b.len, e);
	if (!r)
		r = output_commit(out, e);
	else
		output_abort(out);
	buf_release(&b);
	return r;
}

static int start_debuginfod(const struct options *o, struct debuginfod **d, struct err *e)
{
	int r = 0;

	if (o->debuginfod)
		r = debuginfod_open(o->debuginfod, o->debuginfod_limit, d, e);
	return r ? err_prefix(e, "--debuginfod") : 0;
}

static void end_debuginfod(const struct options *o, struct debuginfod *d)
{
	if (d && debuginfod_trouble(d))
		cli_note(&o->cli, "debuginfod: %s; nothing more was asked",
			 debuginfod_trouble(d));
	debuginfod_free(d);
}

static void check_options(const struct options *o)
{
	if (o->index &&
	    ((!o->cache && !o->export_dir) || !o->files.n || o->report || o->cli.output))
		cli_usage_error("--index wants programs and --cache or --export-index, "
				"and has no other output");
	if (o->report && o->cli.output && !strcmp(o->report, o->cli.output))
		cli_usage_error("the report and the profiles cannot both go to %s",
				o->report);
}

static void configure(struct objects *objects, const struct options *o)
{
	objects_init(objects);
	objects->mode = o->mode;
	objects->keep_clones = o->keep_clones;
	objects->threads = o->threads ? o->threads : processors();
	objects->max_bytes = o->max_memory / 2;
	objects->paths = (struct sym_paths){
		.debug_dirs = (const char *const *)o->debug_dirs.v,
		.sysroots = (const char *const *)o->sysroots.v,
		.binaries = (const char *const *)o->binaries.v,
		.ndebug_dirs = o->debug_dirs.n,
		.nsysroots = o->sysroots.n,
		.nbinaries = o->binaries.n,
		.cache = o->cache,
		.modules = &objects->modules,
		/* of one file; what is kept open for the next profile has the other half */
		.max_memory = o->max_memory / 2 + 1,
	};
}

int main(int argc, char **argv)
{
	static char default_dir[] = DEBUG_DIR;
	struct options o = {.mode = DEMANGLE_SIMPLE,
			    .cache_size = CACHE_SIZE,
			    .max_memory = MAX_MEMORY,
			    .debuginfod_limit = DEBUGINFOD_LIMIT_NS};
	char *urls = getenv("DEBUGINFOD_URLS");
	struct objects objects;
	struct coverage c = {0};
	struct jitnames jit = {0};
	struct output *out = NULL;
	struct err e = {0};
	int r;

	xalloc_huge_pages();
	o.debuginfod_urls = urls = urls ? xstrdup(urls) : NULL;
	cli_start("prof-symbolize", true);
	cli_parse(&argp, argc, argv, &o);
	cli_need_input(&argp, o.files.n);
	check_options(&o);
	if (!o.debug_dirs.n)
		cli_operand(&o.debug_dirs, default_dir);
	elf_map_guard();
	configure(&objects, &o);
	r = start_debuginfod(&o, &objects.paths.debuginfod, &e);
	if (!r)
		r = read_perf_maps(&o, &jit, &e);
	o.rewrite.jit = jit.n ? &jit : NULL;
	if (!r && wants_profiles(&o))
		r = output_open(o.cli.output, true, &out, &e);
	if (!r)
		r = o.index ? indexes_make(&objects, &o.cli, &o.files, o.export_dir, &e)
			    : run(&o, &objects, out, &c, &e);
	if (!r)
		r = indexes_export(&objects, &o.cli, o.export_dir, &e);
	if (o.cache)
		symcache_trim(o.cache, o.cache_size);
	if (!r && out)
		r = output_commit(out, &e);
	else
		output_abort(out);
	if (!r && o.report)
		r = write_report(&o, &objects, &jit, &c, &e);
	report_cache(&o.cli, &objects);
	report_table(&o.cli, &objects, &jit, &c);
	end_debuginfod(&o, objects.paths.debuginfod);
	objects_release(&objects);
	jitnames_release(&jit);
	free(urls);
	free(o.files.v);
	free(o.debug_dirs.v);
	free(o.sysroots.v);
	free(o.binaries.v);
	free(o.perf_maps.v);
	return cli_finish(r, r ? EXIT_OK : required_status(&o, &c), &e);
}
