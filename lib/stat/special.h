/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The special functions that the tests need, in closed form and by series: equal arguments give
 * equal bits in every run. Relative error is below 1e-9 in the range that is used (degrees of
 * freedom from 1 to 1e6).
 */
#pragma once

/* psi(x) and psi'(x), x > 0: recurrence up to 6, then the asymptotic series. */
double stat_digamma(double x);
double stat_trigamma(double x);
double stat_trigamma_inverse(double y); /* y > 0 */

/* P(T > t) of Student's t; df may be INFINITY (the normal distribution). */
double stat_t_upper(double t, double df);

/* The t that is exceeded with probability `upper`, 0 < upper < 1. */
double stat_t_quantile(double upper, double df);
