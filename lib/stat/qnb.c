/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/stat/qnb.h"

#include <math.h>
#include <stdlib.h>

#include "lib/base/xalloc.h"
#include "lib/stat/special.h"

/* Counts per replicate that an item needs to say something of alpha, and of the prior. */
#define HOT_COUNTS 25
#define PRIOR_COUNTS 5
/* Where hardly any item has them: this many of the largest. */
#define HOT_MIN 30
/* More say no more, and cost time. */
#define HOT_MAX 500
#define PRIOR_ITEMS_MIN 10
/*
 * In an item of few counts sampling drowns what varies between replicates: of so many counts in
 * a replicate the two are equal, at a coefficient of variation of 5 %.
 */
#define TELLING_COUNTS 400
/* A median tells as much as a mean of 2/pi as many; and items that are called together vary
 * together: half of those left. */
#define ALPHA_EFFICIENCY 0.3
#define ALPHA_MAX 4.0
#define ALPHA_STEPS 30
#define PHI_MIN 1e-4

/* Counts of one item, the design, and scratch for its exposures. */
struct item {
	const struct stat_design *d;
	const double *x[STAT_SIDES];
	double rate[STAT_SIDES];
	double *slot_factor; /* by slot; NULL without pairs */
};

static size_t width(const struct stat_design *d)
{
	return d->n[STAT_BASE] + d->n[STAT_NEW];
}

static double sum_of(const double *x, size_t n)
{
	double s = 0;
	size_t i;

	for (i = 0; i < n; i++)
		s += x[i];
	return s;
}

/* Of a pair, both sides together against both rates: what that time or host does to the item. */
static void find_slots(struct item *it)
{
	const struct stat_design *d = it->d;
	double *expected = xcalloc(d->nslots, sizeof(*expected));
	size_t i;
	int s;

	for (i = 0; i < d->nslots; i++)
		it->slot_factor[i] = 0;
	for (s = 0; s < STAT_SIDES; s++) {
		for (i = 0; i < d->n[s]; i++) {
			it->slot_factor[d->slot[s][i]] += it->x[s][i];
			expected[d->slot[s][i]] += it->rate[s] * d->exposure[s][i];
		}
	}
	for (i = 0; i < d->nslots; i++)
		it->slot_factor[i] =
			expected[i] > 0 ? it->slot_factor[i] / expected[i] : 1;
	free(expected);
}

static void item_set(struct item *it, const double *counts, size_t index)
{
	const struct stat_design *d = it->d;
	int s;

	it->x[STAT_BASE] = counts + index * width(d);
	it->x[STAT_NEW] = it->x[STAT_BASE] + d->n[STAT_BASE];
	for (s = 0; s < STAT_SIDES; s++)
		it->rate[s] = sum_of(it->x[s], d->n[s]) / d->total[s];
	if (it->slot_factor)
		find_slots(it);
}

static double pearson(const struct item *it, double alpha)
{
	const struct stat_design *d = it->d;
	double sum = 0, mu, r;
	size_t i;
	int s;

	for (s = 0; s < STAT_SIDES; s++) {
		for (i = 0; i < d->n[s]; i++) {
			mu = it->rate[s] * d->exposure[s][i];
			if (it->slot_factor)
				mu *= it->slot_factor[d->slot[s][i]];
			if (mu <= 0)
				continue;
			r = it->x[s][i] - mu;
			sum += r * r / (mu + alpha * mu * mu);
		}
	}
	return sum;
}

struct by_count {
	double count;
	uint32_t item;
};

/* An item that alpha is learned from. */
struct telling {
	double pearson, weight;
	uint32_t item;
};

static int cmp_pearson(const void *a, const void *b)
{
	const struct telling *x = a, *y = b;

	if (x->pearson != y->pearson)
		return x->pearson < y->pearson ? -1 : 1;
	return x->item < y->item ? -1 : x->item > y->item;
}

/* Of what lies between the halves of the weight. */
static double median_pearson(struct item *it, const double *counts, struct telling *t,
			     size_t n, double alpha)
{
	double all = 0, below = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		item_set(it, counts, t[i].item);
		t[i].pearson = pearson(it, alpha);
		all += t[i].weight;
	}
	qsort(t, n, sizeof(*t), cmp_pearson);
	for (i = 0; i + 1 < n; i++) {
		below += t[i].weight;
		if (below >= all / 2)
			break;
	}
	return t[i].pearson;
}

static int cmp_count(const void *a, const void *b)
{
	const struct by_count *x = a, *y = b;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return x->item < y->item ? -1 : x->item > y->item;
}

/* The well-sampled items: evenly chosen from them where there are too many. */
static struct telling *telling_items(const struct stat_design *d, const double *counts,
				     const uint32_t *items, size_t n, size_t *ntelling)
{
	struct by_count *order = xcalloc(n + 1, sizeof(*order));
	struct telling *t = xcalloc(HOT_MAX + 1, sizeof(*t));
	size_t w = width(d), many = 0, i;

	for (i = 0; i < n; i++)
		order[i] = (struct by_count){sum_of(counts + items[i] * w, w), items[i]};
	qsort(order, n, sizeof(*order), cmp_count);
	while (many < n && order[many].count >= HOT_COUNTS * (double)w)
		many++;
	if (!many)
		many = n < HOT_MIN ? n : HOT_MIN;
	*ntelling = many < HOT_MAX ? many : HOT_MAX;
	for (i = 0; i < *ntelling; i++) {
		const struct by_count *o = &order[i * many / *ntelling];
		double mean = o->count / (double)w;

		t[i].item = o->item;
		t[i].weight = mean / (mean + TELLING_COUNTS);
	}
	free(order);
	return t;
}

/* The median of chi-squared with so many degrees of freedom (Wilson and Hilferty). */
static double median_by_chance(double df)
{
	double r = 1 - 2 / (9 * df);

	return df * (df >= 1 ? r * r * r : 0.45);
}

/* How many items of equal weight say as much. */
static double effective_number(const struct telling *t, size_t n)
{
	double sum = 0, squares = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		sum += t[i].weight;
		squares += t[i].weight * t[i].weight;
	}
	return squares > 0 ? sum * sum / squares : 1;
}

static void fit_alpha(struct stat_noise *noise, struct item *it, const double *counts,
		      const uint32_t *items, size_t n)
{
	double lo = 0, hi = ALPHA_MAX, mid, want = median_by_chance(noise->df);
	struct telling *t;
	size_t nt;
	int i;

	if (!n)
		return;
	t = telling_items(it->d, counts, items, n, &nt);
	if (median_pearson(it, counts, t, nt, 0) <= want)
		hi = 0;
	for (i = 0; i < ALPHA_STEPS && hi > 0; i++) {
		mid = (lo + hi) / 2;
		if (median_pearson(it, counts, t, nt, mid) > want)
			lo = mid;
		else
			hi = mid;
	}
	noise->alpha = (lo + hi) / 2;
	noise->alpha_df = ALPHA_EFFICIENCY * noise->df * effective_number(t, nt);
	free(t);
}

/* d0 and s0^2 from mean and variance of log phi (Smyth 2004, section 6.2). */
static void fit_prior(struct stat_noise *noise, const double *e, size_t n)
{
	double mean = sum_of(e, n) / (double)n, var = 0, excess;
	size_t i;

	for (i = 0; i < n; i++)
		var += (e[i] - mean) * (e[i] - mean);
	var /= (double)(n - 1);
	excess = var - stat_trigamma(noise->df / 2);
	if (excess > 1e-3) {
		noise->prior_df = 2 * stat_trigamma_inverse(excess);
		mean += stat_digamma(noise->prior_df / 2) - log(noise->prior_df / 2);
	}
	noise->prior = fmax(exp(mean), 1);
}

void stat_noise_assume(struct stat_noise *noise, double cv)
{
	/* both sides vary: the difference of two logarithms has twice the variance of one */
	*noise = (struct stat_noise){.alpha = 2 * cv * cv,
				     .alpha_df = INFINITY,
				     .prior_df = INFINITY,
				     .prior = 1};
}

void stat_noise_fit(struct stat_noise *noise, const struct stat_design *d,
		    const double *counts, size_t nall, const uint32_t *items,
		    size_t nitems, double *phi)
{
	struct item it = {.d = d};
	double *e = xcalloc(nitems + 1, sizeof(*e));
	size_t w = width(d), n = 0, i;

	if (d->nslots)
		it.slot_factor = xcalloc(d->nslots, sizeof(double));
	*noise = (struct stat_noise){
		.alpha_df = INFINITY, .prior_df = INFINITY, .prior = 1};
	noise->df = (double)w - 2 - (d->nslots ? (double)d->nslots - 1 : 0);
	fit_alpha(noise, &it, counts, items, nitems);
	for (i = 0; i < nall; i++) {
		item_set(&it, counts, i);
		phi[i] = fmax(pearson(&it, noise->alpha) / noise->df, PHI_MIN);
	}
	for (i = 0; i < nitems; i++) {
		if (sum_of(counts + items[i] * w, w) >= PRIOR_COUNTS * (double)w)
			e[n++] = log(phi[items[i]]) - stat_digamma(noise->df / 2) +
				 log(noise->df / 2);
	}
	if (n >= PRIOR_ITEMS_MIN)
		fit_prior(noise, e, n);
	else
		noise->prior_df =
			0; /* too few to learn from: an item has its own noise */
	free(e);
	free(it.slot_factor);
}

double stat_phi(const struct stat_noise *noise, const struct stat_design *d,
		const double *counts)
{
	struct item it = {.d = d};
	double phi;

	if (!(noise->df > 0))
		return 1;
	if (d->nslots)
		it.slot_factor = xcalloc(d->nslots, sizeof(double));
	item_set(&it, counts, 0);
	phi = fmax(pearson(&it, noise->alpha) / noise->df, PHI_MIN);
	free(it.slot_factor);
	return phi;
}

static double moderated(const struct stat_noise *noise, double phi)
{
	if (!(noise->df > 0) || isinf(noise->prior_df))
		return fmax(noise->prior, 1);
	return fmax((noise->prior_df * noise->prior + noise->df * phi) /
			    (noise->prior_df + noise->df),
		    1);
}

static double squares(const struct stat_design *d, int side)
{
	double s = 0;
	size_t i;

	for (i = 0; i < d->n[side]; i++)
		s += d->exposure[side][i] * d->exposure[side][i];
	return s / (d->total[side] * d->total[side]);
}

/* Variance of the difference of two rates that are both `rate`: by sampling, and the rest. */
static double sampling(const struct stat_design *d, double rate)
{
	return rate / d->total[STAT_BASE] + rate / d->total[STAT_NEW];
}

static double between(const struct stat_design *d, const struct stat_noise *noise,
		      double rate)
{
	return noise->alpha * rate * rate *
	       (squares(d, STAT_BASE) + squares(d, STAT_NEW));
}

static double se_at(const struct stat_design *d, const struct stat_noise *noise,
		    double rate, double phi)
{
	double scale = rate * d->se_of_log_factor;

	return sqrt((sampling(d, rate) + between(d, noise, rate)) *
			    moderated(noise, phi) +
		    scale * scale);
}

static double df_of(const struct stat_noise *noise)
{
	return noise->prior_df + noise->df;
}

void stat_test(struct stat_effect *f, const struct stat_design *d,
	       const struct stat_noise *noise, const double sums[STAT_SIDES], double phi)
{
	double pooled = (sums[STAT_BASE] + sums[STAT_NEW]) /
			(d->total[STAT_BASE] + d->total[STAT_NEW]);
	int s;

	for (s = 0; s < STAT_SIDES; s++)
		f->rate[s] = sums[s] / d->total[s];
	f->difference = f->rate[STAT_NEW] - f->rate[STAT_BASE];
	f->se = se_at(d, noise, pooled, phi);
	f->df = df_of(noise);
	f->t = f->se > 0 ? f->difference / f->se : 0;
	f->p_up = stat_t_upper(f->t, f->df);
	f->p_down = stat_t_upper(-f->t, f->df);
}

/* Relative variance of a standard error: phi's, and alpha's as far as it matters there. */
static double se_variance(const struct stat_design *d, const struct stat_noise *noise,
			  double rate)
{
	double by_alpha = between(d, noise, rate), part;

	part = by_alpha / (by_alpha + sampling(d, rate));
	return 1 / (2 * df_of(noise)) + part * part / (2 * noise->alpha_df);
}

double stat_detectable(const struct stat_design *d, const struct stat_noise *noise,
		       const double sums[STAT_SIDES], double phi, double p, double power,
		       double least)
{
	/* what was never seen may have been half a count away */
	double base = fmax(sums[STAT_BASE], 0.5) / d->total[STAT_BASE];
	double found = stat_t_quantile(p, df_of(noise)),
	       likely = stat_t_quantile(1 - power, INFINITY), effect = 0;
	int i;

	/* variance grows with the effect */
	for (i = 0; i < 4; i++) {
		double rate = base + effect / 2, se = se_at(d, noise, rate, phi),
		       spread = 1;

		if (found * se > least)
			spread = sqrt(1 + (found * found +
					   (found + likely) * (found + likely)) *
						  se_variance(d, noise, rate));
		effect = fmax(found * se, least) + likely * spread * se;
	}
	return effect;
}

double stat_without_one(const struct stat_design *d, const double *counts, int *side,
			size_t *which)
{
	const double *x[STAT_SIDES] = {counts, counts + d->n[STAT_BASE]};
	double sum[STAT_SIDES], rate, diff, direction, worst = INFINITY;
	size_t i;
	int s;

	for (s = 0; s < STAT_SIDES; s++) {
		if (d->n[s] < 2)
			return NAN;
		sum[s] = sum_of(x[s], d->n[s]);
	}
	direction =
		sum[STAT_NEW] / d->total[STAT_NEW] >= sum[STAT_BASE] / d->total[STAT_BASE]
			? 1
			: -1;
	for (s = 0; s < STAT_SIDES; s++) {
		for (i = 0; i < d->n[s]; i++) {
			rate = (sum[s] - x[s][i]) / (d->total[s] - d->exposure[s][i]);
			diff = sum[!s] / d->total[!s] - rate;
			if (s == STAT_NEW)
				diff = -diff;
			if (direction * diff >= worst)
				continue;
			worst = direction * diff;
			*side = s;
			*which = i;
		}
	}
	return direction * worst;
}
