/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What can be said of each function of a comparison, of the total and of watched labels, from
 * how the replicates of each side differ among themselves (lib/stat/qnb.h).
 *
 * Families of tests are corrected each by itself (Benjamini and Hochberg): flat, cumulative, what
 * a gate names, labels; the total is one test. A change counts if its q is at most alpha and the
 * estimate at least min_effect.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "lib/stat/qnb.h"
#include "tools/diff/compare.h"
#include "tools/diff/evidence.h"

enum verdict {
	VERDICT_INCONCLUSIVE, /* neither a change nor its absence is shown */
	VERDICT_UNCHANGED,    /* shown to be within the minimum effect */
	VERDICT_REGRESSED,
	VERDICT_IMPROVED,
	VERDICT_MOVED,	 /* a change that others around it make up for */
	VERDICT_RENAMED, /* the same under another name, no change beyond that */
	VERDICT_NEW,	 /* risen from nothing */
	VERDICT_GONE,
};

#define VERDICTS (VERDICT_GONE + 1)

const char *verdict_name(enum verdict v);

/* Costs more: what a gate fails on. */
static inline bool verdict_is_rise(enum verdict v)
{
	return v == VERDICT_REGRESSED || v == VERDICT_NEW;
}

static inline bool verdict_is_fall(enum verdict v)
{
	return v == VERDICT_IMPROVED || v == VERDICT_GONE;
}

/* All rates and differences are in parts of the base's total. */
struct finding {
	enum verdict verdict;
	bool tested; /* large enough to be in its family of tests */
	struct stat_effect e;
	double q;	  /* of the direction that was seen; 1 where not tested */
	double low, high; /* the (1 - 2 alpha) interval of the difference */
	double detectable;
};

/* What it costs on the side where it costs more. */
static inline double finding_cost(const struct finding *f)
{
	const double *rate = f->e.rate;

	return rate[SIDE_BASE] > rate[SIDE_NEW] ? rate[SIDE_BASE] : rate[SIDE_NEW];
}

struct row_finding {
	struct finding flat, cum;
	bool is_root; /* of a cumulative rise: no other one explains it */
	/* the replicate without which least is left of the flat change, and what is left */
	const struct replica *carrier;
	double without_carrier;
	uint32_t moved_with; /* frame on the other side of a move; ID_NONE */
};

struct verdict_opts {
	double alpha, power, min_effect, assume_cv;
	bool shift; /* look for moved cost */
};

struct verdicts {
	const struct evidence *ev;
	struct verdict_opts o;
	struct stat_noise noise[2]; /* flat, cum */
	size_t tests[2];
	struct finding total;
	struct finding *labels;	  /* by watched label */
	struct row_finding *rows; /* by frame */
	size_t nrows;
	/* counts of tested functions: by place, each the base's replicates and then new's */
	double *counts[2];
	uint32_t *place;	/* by frame: index in counts, ID_NONE */
	double *sums[2][SIDES]; /* by frame: pooled counts */
};

void verdicts_init(struct verdicts *v, struct comparison *c, const struct evidence *ev,
		   const struct verdict_opts *o, size_t nlabels);
void verdicts_release(struct verdicts *v);

/* The least p of a function's test in a family of its own, for gates: corrected among `n`. */
enum verdict verdict_of(const struct verdicts *v, const struct finding *f, double q);

static inline size_t verdicts_width(const struct verdicts *v)
{
	return v->ev->design.n[SIDE_BASE] + v->ev->design.n[SIDE_NEW];
}

/* So many counts, of both sides together, are enough for a test. */
double verdicts_counts_needed(const struct verdicts *v);

/*
 * A family of its own: n items, counts of each as verdicts.counts. measure: 0 or 1, whose noise
 * it has, flat or cumulative. What has less than `need` counts is not tested.
 */
void verdicts_test_items(const struct verdicts *v, int measure, const double *counts,
			 size_t n, double need, struct finding *findings);

/* Rises that others around them make up for become VERDICT_MOVED (moved.c). */
void verdicts_find_moved(struct verdicts *v, struct comparison *c);
