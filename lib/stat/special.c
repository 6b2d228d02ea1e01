/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/stat/special.h"

#include <math.h>

/* Beyond this many degrees of freedom t is normal to all figures that matter. */
#define DF_NORMAL 1e6

double stat_digamma(double x)
{
	double r = 0, f;

	while (x < 6) {
		r -= 1 / x;
		x += 1;
	}
	f = 1 / (x * x);
	return r + log(x) - 0.5 / x -
	       f * (1.0 / 12 - f * (1.0 / 120 - f * (1.0 / 252 - f / 240)));
}

double stat_trigamma(double x)
{
	double r = 0, f;

	while (x < 6) {
		r += 1 / (x * x);
		x += 1;
	}
	f = 1 / (x * x);
	return r + 1 / x + f / 2 +
	       f / x * (1.0 / 6 - f * (1.0 / 30 - f * (1.0 / 42 - f / 30)));
}

double stat_trigamma_inverse(double y)
{
	double lo = 1e-6, hi = 1e7, mid = 0;
	int i;

	/* it falls: halve the interval of the logarithm until nothing moves */
	for (i = 0; i < 100; i++) {
		mid = sqrt(lo * hi);
		if (stat_trigamma(mid) > y)
			lo = mid;
		else
			hi = mid;
	}
	return mid;
}

/* The continued fraction of the incomplete beta function, by Lentz's method. */
static double beta_fraction(double a, double b, double x)
{
	const double tiny = 1e-300;
	double c = 1, d = 1 - (a + b) * x / (a + 1), h, change, term[2];
	int m, k;

	d = 1 / (fabs(d) > tiny ? d : tiny);
	h = d;
	for (m = 1; m < 1000; m++) {
		term[0] = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		term[1] = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		change = 1;
		for (k = 0; k < 2; k++) {
			d = 1 + term[k] * d;
			d = 1 / (fabs(d) > tiny ? d : tiny);
			c = 1 + term[k] / c;
			if (fabs(c) < tiny)
				c = tiny;
			change = d * c;
			h *= change;
		}
		if (fabs(change - 1) < 1e-13)
			break;
	}
	return h;
}

/* I_x(df/2, 1/2) for x = df/(df + t^2): both tails of t. */
static double both_tails(double t, double df)
{
	double a = df / 2, b = 0.5, x = df / (df + t * t), y = t * t / (df + t * t);
	double front;

	if (y <= 0)
		return 1;
	front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log(y));
	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(a, b, x) / a;
	return 1 - front * beta_fraction(b, a, y) / b;
}

double stat_t_upper(double t, double df)
{
	double tails;

	if (df > DF_NORMAL)
		return 0.5 * erfc(t / sqrt(2));
	tails = both_tails(t, df);
	return t > 0 ? tails / 2 : 1 - tails / 2;
}

double stat_t_quantile(double upper, double df)
{
	double lo = -1e5, hi = 1e5, mid = 0;
	int i;

	for (i = 0; i < 100; i++) {
		mid = (lo + hi) / 2;
		if (stat_t_upper(mid, df) > upper)
			lo = mid;
		else
			hi = mid;
	}
	return mid;
}
