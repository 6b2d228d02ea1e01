/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The statistics against figures from elsewhere. Tails of t: Simpson's rule over the density with
 * 400,000 steps. psi(1) is minus Euler's constant, psi'(1) is pi^2/6. The fits: a separate
 * implementation of the same formulas in Python, on counts_of() below.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/stat/adjust.h"
#include "lib/stat/qnb.h"
#include "lib/stat/sizefactor.h"
#include "lib/stat/special.h"

#define ITEMS 40
#define EACH 3

static void near(double got, double want, double relative)
{
	if (!(fabs(got - want) <= relative * fabs(want)))
		fail_msg("got %.17g, want %.17g", got, want);
}

static void test_special(void **state)
{
	(void)state;
	near(stat_digamma(1), -0.57721566490153286, 1e-8);
	near(stat_digamma(0.5), -0.57721566490153286 - 2 * log(2), 1e-8);
	near(stat_trigamma(1), M_PI * M_PI / 6, 1e-8);
	near(stat_trigamma(0.5), M_PI * M_PI / 2, 1e-8);
	near(stat_trigamma_inverse(M_PI * M_PI / 6), 1, 1e-8);
	near(stat_trigamma_inverse(M_PI * M_PI / 2), 0.5, 1e-8);
}

static void test_student(void **state)
{
	(void)state;
	near(stat_t_upper(2, 3), 0.0696629842794152, 1e-10);
	near(stat_t_upper(0.5, 1), 0.3524163823495732, 1e-10);
	near(stat_t_upper(4.5, 8.5), 0.0008595248162246438, 1e-9);
	near(stat_t_upper(3, 30), 0.0026949820328316942, 1e-10);
	near(stat_t_upper(6, 200), 4.5575600515768144e-09, 1e-6);
	near(stat_t_upper(-2, 3), 1 - 0.0696629842794152, 1e-10);
	near(stat_t_upper(0, 5), 0.5, 1e-12);
	/* the normal distribution: tables say 0.15865525 and 2.3263479 */
	near(stat_t_upper(1, INFINITY), 0.15865525393145705, 1e-10);
	near(stat_t_quantile(0.01, INFINITY), 2.3263478740408408, 1e-9);
	/* tables of t: 8 degrees of freedom, 1 % above */
	near(stat_t_quantile(0.01, 8), 2.8964594477095966, 1e-9);
	near(stat_t_quantile(0.99, 8), -2.8964594477095966, 1e-9);
}

/* By hand: p(k) * n / k, then the least from the right. */
static void test_false_discovery_rate(void **state)
{
	const double p[] = {0.04, 0.01, 0.03, 0.9, 0.02};
	const double want[] = {0.05, 0.05, 0.05, 0.9, 0.05};
	double q[5], same[5];
	size_t i;

	(void)state;
	stat_bh(p, 5, q);
	for (i = 0; i < 5; i++)
		near(q[i], want[i], 1e-12);
	memcpy(same, p, sizeof(same));
	stat_bh(same, 5, same);
	assert_memory_equal(same, q, sizeof(q));
	stat_bh((double[]){0.001, 0.2, 0.5}, 3, q);
	near(q[0], 0.003, 1e-12);
	near(q[1], 0.3, 1e-12);
	near(q[2], 0.5, 1e-12);
	stat_bh(NULL, 0, NULL);
}

/*
 * Replicates 0 to 2 are the base's. Item 7 has grown; every fourth is noisy in the second kind; in
 * the third most items are small and hardly vary, and the few large ones do.
 */
static int counts_of(int kind, int i, int j)
{
	int wave = ((i * 7 + j * 13) % 11 - 5) * (i % 5 + 2);
	int drift = (i * i + 3 * j * j) % 17 * (i + 3) / 4;
	bool grown = i == 7 && j >= EACH;

	if (kind == 3)
		return i < 30 ? 100 + wave / 2 : 4000 + 100 * ((i * 5 + j * 7) % 9 - 4);
	if (kind == 1)
		return 30 * (i + 1) + wave + drift + (grown ? 150 : 0);
	return 200 * (i + 1) + wave * (i % 4 ? 1 : 12) + drift + (grown ? 900 : 0);
}

struct example {
	struct stat_design d;
	double counts[ITEMS * 2 * EACH], exposure[STAT_SIDES][EACH];
	double sums[ITEMS][STAT_SIDES], phi[ITEMS];
	uint32_t items[ITEMS];
	struct size_factor factor;
	struct stat_noise noise;
};

static void fill(struct example *x, int kind, bool robust)
{
	double a[ITEMS] = {0}, b[ITEMS] = {0};
	int i, j, side;

	memset(x, 0, sizeof(*x));
	for (i = 0; i < ITEMS; i++) {
		x->items[i] = (uint32_t)i;
		for (j = 0; j < 2 * EACH; j++) {
			int c = counts_of(kind, i, j);

			x->counts[i * 2 * EACH + j] = c;
			x->exposure[j / EACH][j % EACH] += c;
			x->sums[i][j / EACH] += c;
			*(j < EACH ? &a[i] : &b[i]) += c;
		}
	}
	for (side = 0; side < STAT_SIDES; side++) {
		x->d.n[side] = EACH;
		x->d.exposure[side] = x->exposure[side];
		for (j = 0; j < EACH; j++)
			x->d.total[side] += x->exposure[side][j];
	}
	if (robust) {
		stat_size_factor(&x->factor, &(struct size_side){a, x->d.total[0], 0},
				 &(struct size_side){b, x->d.total[1], 0}, ITEMS, EACH);
		for (j = 0; j < EACH; j++)
			x->exposure[STAT_NEW][j] *= x->factor.factor;
		x->d.total[STAT_NEW] *= x->factor.factor;
		x->d.se_of_log_factor = x->factor.se_of_log;
	}
	stat_noise_fit(&x->noise, &x->d, x->counts, ITEMS, x->items, ITEMS, x->phi);
}

struct want {
	int item;
	double base, new, se, p, phi;
};

static void check(const struct example *x, const struct want *w, size_t n)
{
	struct stat_effect f;
	size_t i;

	for (i = 0; i < n; i++) {
		stat_test(&f, &x->d, &x->noise, x->sums[w[i].item], x->phi[w[i].item]);
		near(x->phi[w[i].item], w[i].phi, 1e-9);
		near(f.rate[STAT_BASE], w[i].base, 1e-12);
		near(f.rate[STAT_NEW], w[i].new, 1e-12);
		near(f.difference, w[i].new - w[i].base, 1e-9);
		near(f.se, w[i].se, 1e-9);
		near(f.p_up, w[i].p, 1e-6);
		near(f.p_up + f.p_down, 1, 1e-12);
	}
}

static void test_share(void **state)
{
	static const struct want want[] = {
		{0, 0.001046750658948457, 0.001619372679937218, 0.00018871731160668872,
		 0.0012055345454226477, 1.3186177958813312},
		{7, 0.010190054607594617, 0.014898228655422407, 0.0007108871990137879,
		 1.7604391762688385e-11, 0.27846310659150153},
		{8, 0.01111069072932037, 0.010787513390966392, 0.0006474950381096453,
		 0.6911523661901784, 1.3992515948319264},
		{39, 0.047999192866961776, 0.04779640748399312, 0.0019930337880538435,
		 0.5405212871296229, 1.2220437634861245},
	};
	struct example x;

	(void)state;
	fill(&x, 1, false);
	near(x.noise.alpha, 0.001811964437365532, 1e-9);
	near(x.noise.df, 4, 0);
	assert_true(isinf(x.noise.prior_df));
	near(x.noise.prior, 1, 0);
	check(&x, want, 4);
	near(stat_phi(&x.noise, &x.d, x.counts + (size_t)8 * 2 * EACH), x.phi[8], 1e-12);
}

/* What varies between replicates is learned from those that can tell. */
static void test_telling(void **state)
{
	struct example x;

	(void)state;
	fill(&x, 3, false);
	near(x.noise.alpha, 0.004517361684, 1e-6);
	/* 0.3 of what so many weigh: 30 of 100 counts, 10 of 4000 */
	near(x.noise.alpha_df, 0.3 * 4 * 24.06, 1e-3);
}

/* Items of different noise: each is drawn to the others by as much as they agree. */
static void test_moderation(void **state)
{
	static const struct want want[] = {
		{0, 0.0007940161336037678, 0.0016824397928228594, 0.00023047032500317388,
		 0.004939841887513438, 14.347259877444422},
		{7, 0.009825698382418271, 0.015109835179934177, 0.0002251596121347515,
		 4.82223261607317e-07, 0.06978412529935094},
		{8, 0.010334270741410053, 0.011064350475234819, 0.000920819480175622,
		 0.23028542584930506, 26.821547778212576},
		{39, 0.048658112734209634, 0.04866025448525972, 0.00045231744737158345,
		 0.4981942151707899, 0.757384309083015},
	};
	struct example x;

	(void)state;
	fill(&x, 2, true);
	near(x.factor.factor, 0.994898878158134, 1e-12);
	near(x.factor.se_of_log, 0.001958905764732709, 1e-9);
	assert_int_equal(x.factor.used, ITEMS);
	assert_true(x.noise.alpha == 0);
	near(x.noise.prior_df, 1.5193238534926257, 1e-7);
	near(x.noise.prior, 1, 0);
	check(&x, want, 4);
}

static void test_detectable(void **state)
{
	struct stat_effect f;
	struct example x;
	double d, se, t, spread;

	(void)state;
	/* three rounds there, four here: the fourth moves less than 1 % */
	fill(&x, 1, false);
	d = stat_detectable(&x.d, &x.noise, x.sums[8], x.phi[8], 0.01 / 40, 0.8, 0);
	near(d, 0.0030886524912723473, 0.01);
	/* by its own definition: t(0.01/40) + t(0.2) standard errors at the half-way rate */
	stat_test(&f, &x.d, &x.noise,
		  (double[]){x.sums[8][0],
			     (x.sums[8][0] / x.d.total[0] + d) * x.d.total[1]},
		  x.phi[8]);
	se = f.se;
	near(d, (3.4807564 + 0.8416212) * se, 0.01);
	/* seven degrees of freedom: what is found may not be so the next time */
	fill(&x, 2, false);
	d = stat_detectable(&x.d, &x.noise, x.sums[8], x.phi[8], 0.01 / 40, 0.8, 0);
	stat_test(&f, &x.d, &x.noise,
		  (double[]){x.sums[8][0],
			     (x.sums[8][0] / x.d.total[0] + d) * x.d.total[1]},
		  x.phi[8]);
	t = stat_t_quantile(0.01 / 40, f.df);
	spread = sqrt(1 + (t * t + (t + 0.8416212) * (t + 0.8416212)) / (2 * f.df));
	near(d, (t + 0.8416212 * spread) * f.se, 0.01);
	assert_true(spread > 2);
	fill(&x, 1, false);
	/* the estimate must be 1 % too: half of the time it is, at 1 % */
	d = stat_detectable(&x.d, &x.noise, x.sums[8], x.phi[8], 0.01 / 40, 0.5, 0.01);
	near(d, 0.01, 1e-6);
	assert_true(stat_detectable(&x.d, &x.noise, x.sums[8], x.phi[8], 0.01, 0.8,
				    0.01) > 0.01);
}

static void test_one_profile_each(void **state)
{
	const double e0 = 1000, e1 = 1000, sums[] = {100, 150};
	struct stat_design d = {.n = {1, 1}, .exposure = {&e0, &e1}, .total = {e0, e1}};
	struct stat_noise noise;
	struct stat_effect f;
	size_t which;
	int side;

	(void)state;
	/* Poisson alone: the root of 2 * 0.125 / 1000 */
	stat_noise_assume(&noise, 0);
	stat_test(&f, &d, &noise, sums, 1);
	near(f.se, sqrt(2 * 0.125 / 1000), 1e-12);
	assert_true(isinf(f.df));
	/* and 10 % between runs, on both sides: alpha 0.02 */
	stat_noise_assume(&noise, 0.1);
	stat_test(&f, &d, &noise, sums, 1);
	near(f.se, sqrt(2 * 0.125 / 1000 + 0.02 * 0.125 * 0.125 * 2), 1e-12);
	assert_true(isnan(stat_without_one(&d, sums, &side, &which)));
}

/* Hosts differ by a factor of ten, and the new build costs a tenth more on each. */
static void test_pairs(void **state)
{
	static const uint32_t slots[] = {0, 1, 2, 3};
	double counts[ITEMS * 8], phi[ITEMS], sums[2] = {0, 0};
	double e[] = {10000, 10000, 10000, 10000};
	static const double host[] = {1, 10, 3, 6};
	uint32_t items[ITEMS];
	struct stat_design d = {.n = {4, 4}, .exposure = {e, e}, .total = {40000, 40000}};
	struct stat_noise noise;
	struct stat_effect alone, paired;
	size_t i, j;

	(void)state;
	for (i = 0; i < ITEMS; i++) {
		items[i] = (uint32_t)i;
		for (j = 0; j < 8; j++) {
			counts[i * 8 + j] = 100 * host[j % 4];
			counts[i * 8 + j] += (double)((i * 5 + j * 3) % 7) - 3;
			if (i == 0 && j >= 4)
				counts[i * 8 + j] *= 1.2;
		}
	}
	for (j = 0; j < 8; j++)
		sums[j / 4] += counts[j];
	stat_noise_fit(&noise, &d, counts, ITEMS, items, ITEMS, phi);
	stat_test(&alone, &d, &noise, sums, phi[0]);
	d.slot[0] = d.slot[1] = slots;
	d.nslots = 4;
	stat_noise_fit(&noise, &d, counts, ITEMS, items, ITEMS, phi);
	assert_true(noise.df == 3);
	stat_test(&paired, &d, &noise, sums, phi[0]);
	assert_true(alone.p_up > 0.05);
	assert_true(paired.p_up < 1e-6);
	assert_true(paired.difference == alone.difference);
}

static void test_influence(void **state)
{
	const double counts[] = {10, 10, 10, 10, 10, 40}, e[] = {100, 100, 100};
	struct stat_design d = {.n = {3, 3}, .exposure = {e, e}, .total = {300, 300}};
	size_t which = 9;
	int side = 9;

	(void)state;
	/* without the last one both sides are 10 in 100 */
	assert_true(stat_without_one(&d, counts, &side, &which) == 0);
	assert_int_equal(side, STAT_NEW);
	assert_int_equal(which, 2);
}

/* A few items that changed a lot do not move the middle; few items say nothing. */
static struct size_factor factor_of(const double *a, const double *b, size_t n,
				    double seconds_a, double seconds_b)
{
	struct size_side x = {a, 0, seconds_a}, y = {b, 0, seconds_b};
	struct size_factor f;
	size_t i;

	for (i = 0; i < n; i++) {
		x.total += a[i];
		y.total += b[i];
	}
	stat_size_factor(&f, &x, &y, n, 5);
	return f;
}

static void test_size_factor(void **state)
{
	double a[30], b[30];
	struct size_factor f;
	size_t i;

	(void)state;
	for (i = 0; i < 30; i++) {
		a[i] = 1000;
		b[i] = i < 5 ? 3000 : 600;
	}
	/* the time is not asked */
	f = factor_of(a, b, 30, 1, 7);
	near(f.factor, 0.6, 1e-12);
	assert_true(f.se_of_log == 0);
	assert_int_equal(f.used, 30);
	for (i = 0; i < 11; i++)
		a[i] = 49;
	f = factor_of(a, b, 30, 0, 0);
	assert_int_equal(f.used, 19);
	f = factor_of(a, b, 30, 1, 1);
	assert_int_equal(f.used, 20);
	/* a second costs what it did */
	f = factor_of(a, b, 30, 19539, 30000);
	assert_int_equal(f.used, 19);
}

static void test_size_factor_of_few(void **state)
{
	/* the first one fell by half */
	double a[] = {4000, 4000, 4000, 4000}, b[] = {2000, 4000, 4000, 4000}, each, sum;
	struct size_factor f;

	(void)state;
	f = factor_of(a, b, 4, 0, 0);
	near(f.factor, 16.0 / 14, 1e-12);
	/* three agree: no better than by what they weigh */
	each = 1 / (1 / 4000.0 + 1 / 4000.0 + 0.01 / 5);
	sum = 3 * each + 1 / (1 / 4000.0 + 1 / 2000.0 + 0.01 / 5);
	near(f.se_of_log, 1.2533 / sqrt(sum), 1e-12);
	/* of two nobody knows: half, or twice? */
	f = factor_of(a, b, 2, 0, 0);
	assert_true(f.factor == 1 && f.se_of_log == 0);
	assert_int_equal(f.used, 2);
	/* the time tells: one fell */
	f = factor_of(a, b, 2, 10, 10);
	near(f.factor, 8.0 / 6, 1e-12);
	assert_true(f.se_of_log < 0.05);
	/* or the other one rose, in half the time */
	f = factor_of(a, b, 2, 10, 5);
	near(f.factor, 8.0 / 12, 1e-12);
	/* or all that is known is that nothing agrees */
	f = factor_of(a, b, 2, 10, 7);
	near(f.factor, 0.7 * 8 / 6, 1e-12);
	assert_true(f.se_of_log > 0.2);
	/* with as much a second, it is the total again */
	f = factor_of(a, b, 2, 10, 7.5);
	assert_int_equal(f.used, 2);
	/* two against two is no majority */
	b[1] = 2000;
	f = factor_of(a, b, 4, 0, 0);
	assert_true(f.se_of_log > 0.5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_special),
		cmocka_unit_test(test_student),
		cmocka_unit_test(test_false_discovery_rate),
		cmocka_unit_test(test_share),
		cmocka_unit_test(test_telling),
		cmocka_unit_test(test_moderation),
		cmocka_unit_test(test_detectable),
		cmocka_unit_test(test_one_profile_each),
		cmocka_unit_test(test_pairs),
		cmocka_unit_test(test_influence),
		cmocka_unit_test(test_size_factor),
		cmocka_unit_test(test_size_factor_of_few),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
