/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The test for a change of cost between two sets of replicates: quasi negative-binomial with
 * moderated dispersion.
 *
 * An item (function) has count x in a replicate of exposure E. With rate m its variance is taken
 * as phi * (m E + alpha (m E)^2): sampling, and what varies between replicates. alpha is one for
 * all items (the median item's Pearson statistic is what it would be by chance, items weighing
 * what they can tell of it), phi is the item's own, drawn towards what the other items have
 * (Smyth 2004, limma's empirical Bayes), so that few replicates will do. The difference of the
 * two rates over its standard error is Student's t on d0 + d degrees of freedom.
 *
 * Everything is closed form or bisection: no random numbers. Cost: items x replicates.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { STAT_BASE, STAT_NEW, STAT_SIDES };

struct stat_design {
	size_t n[STAT_SIDES];		    /* replicates */
	const double *exposure[STAT_SIDES]; /* of each, > 0, in units of counts */
	double total[STAT_SIDES];	    /* sums of the exposures */
	double se_of_log_factor; /* relative standard error of new's exposure to base's */
	/*
	 * Replicates that belong together (the same time, the same host): by replicate the
	 * number of its slot, below nslots; each slot has both sides. NULL: unpaired.
	 */
	const uint32_t *slot[STAT_SIDES];
	size_t nslots;
};

/* What is known of the noise of all items. */
struct stat_noise {
	double alpha;	 /* squared coefficient of variation between replicates */
	double alpha_df; /* as how many degrees of freedom alpha is known */
	double prior_df; /* d0; INFINITY where items do not differ in their noise */
	double prior;	 /* s0^2, what phi is drawn to; >= 1 */
	double df;	 /* d, of an item alone */
};

/*
 * counts: item after item, each first the base's replicates, then the new ones. `items`: the
 * indexes to fit to (candidates that are not nearly all of the cost). phi: by item of counts,
 * filled in for all `nall`.
 */
void stat_noise_fit(struct stat_noise *noise, const struct stat_design *d,
		    const double *counts, size_t nall, const uint32_t *items,
		    size_t nitems, double *phi);

/* phi of one more item: one that the noise was not fitted to. */
double stat_phi(const struct stat_noise *noise, const struct stat_design *d,
		const double *counts);

/* One profile a side: nothing can be fitted; cv is what the user expects between runs. */
void stat_noise_assume(struct stat_noise *noise, double cv);

struct stat_effect {
	double rate[STAT_SIDES]; /* counts per exposure */
	double difference, se;
	double t, df;
	double p_up, p_down; /* one-sided */
};

/* sums: the item's counts on both sides. phi is not used where there is one replicate a side. */
void stat_test(struct stat_effect *f, const struct stat_design *d,
	       const struct stat_noise *noise, const double sums[STAT_SIDES], double phi);

/*
 * The least rise that is found with probability `power` by a test at level `p` (corrected for
 * the number of tests) that also wants the estimate to be `least` or more.
 *
 * A rise e is found if e + z se > t_p S, where S, the standard error that the comparison to come
 * will estimate, is uncertain as that of this one is: its relative variance is 1 / (2 df)
 * (Johnson and Welch 1940, of the noncentral t). So e = t_p se + z_power w se with
 * w^2 = 1 + (t_p^2 + (t_p + z_power)^2) / (2 df): power then is right on the average of what is
 * said, not only where se is right.
 */
double stat_detectable(const struct stat_design *d, const struct stat_noise *noise,
		       const double sums[STAT_SIDES], double phi, double p, double power,
		       double least);

/*
 * What is left of the difference, in its own direction, without the one replicate that carries
 * most of it; *which is that replicate's index, *side its side. NAN with one replicate a side.
 */
double stat_without_one(const struct stat_design *d, const double *counts, int *side,
			size_t *which);
