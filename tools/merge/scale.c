/* SPDX-License-Identifier: Apache-2.0 */
/* Multiplying by ratios of whole numbers, without losing anything to rounding. */
#include "tools/merge/scale.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/gcd.h"
#include "lib/base/num.h"
#include "lib/base/xalloc.h"
#include "lib/pprof/order.h"

#define SECOND_NS 1000000000
#define MERGED "profpipe: merged="
#define DIGITS_MAX 9

/* "12.34" as 1234 / 100, at *s, which moves behind it. */
static int parse_decimal(const char **s, struct ratio *out)
{
	struct ratio r = {0, 1};
	int digits = 0;
	bool point = false;

	for (; (**s >= '0' && **s <= '9') || (**s == '.' && !point); (*s)++) {
		if (**s == '.') {
			point = true;
			continue;
		}
		if (++digits > DIGITS_MAX)
			return -ERANGE;
		r.num = r.num * 10 + (uint64_t)(**s - '0');
		if (point)
			r.den *= 10;
	}
	if (!digits || !r.num)
		return -EINVAL;
	*out = r;
	return 0;
}

static int ratio_multiply(struct ratio *r, uint64_t num, uint64_t den)
{
	uint64_t a = gcd_u64(r->num, den), b = gcd_u64(num, r->den);

	if (__builtin_mul_overflow(r->num / a, num / b, &r->num) ||
	    __builtin_mul_overflow(r->den / b, den / a, &r->den) || r->num > INT64_MAX ||
	    r->den > INT64_MAX)
		return -ERANGE;
	return 0;
}

int ratio_parse(const char *text, struct ratio *out)
{
	struct ratio r, by;
	int ret = parse_decimal(&text, &r);

	if (!ret && *text == '/') {
		text++;
		ret = parse_decimal(&text, &by);
		if (!ret)
			ret = ratio_multiply(&r, by.den, by.num);
	}
	if (ret)
		return ret;
	if (*text)
		return -EINVAL;
	*out = r;
	return 0;
}

/* One column, in order; what rounding leaves of a sample goes to the next. */
static int scale_column(struct profile *p, size_t column, struct ratio by,
			const uint32_t *order, struct err *e)
{
	size_t n = p->h.ntypes, i;
	__int128 den = by.den, rest = den / 2, product, q;
	int64_t *v;

	for (i = 0; i < p->nsamples; i++) {
		v = &p->values[order[i] * n + column];
		product = (__int128)*v * (int64_t)by.num + rest;
		q = product / den;
		if (product % den < 0)
			q--;
		rest = product - q * den;
		if (q > INT64_MAX || q < INT64_MIN)
			return err_set(e, EOVERFLOW,
				       "a value of %s does not fit 64 bits when scaled",
				       store_cstr(p->store, p->h.types[column].type));
		*v = (int64_t)q;
	}
	return 0;
}

/* How many profiles went in; the comment becomes "mean_of". */
static int64_t take_merged(struct profile *p)
{
	int64_t n = 1;
	size_t i;

	for (i = 0; i < p->h.ncomments; i++) {
		const char *text = store_cstr(p->store, p->h.comments[i]);

		if (strncmp(text, MERGED, strlen(MERGED)) ||
		    num_parse_i64(text + strlen(MERGED), &n) || n < 1)
			continue;
		p->h.comments[i] = p->h.comments[--p->h.ncomments];
		break;
	}
	profile_comment_kv(p, "mean_of", "%" PRId64, n);
	return n;
}

int scale(struct profile *p, struct ratio by, enum scale_to to, struct err *e)
{
	struct order order;
	int64_t n;
	size_t i;
	int r = 0;

	if (!by.num)
		by = (struct ratio){1, 1};
	if (to == SCALE_TO_MEAN) {
		n = take_merged(p);
		r = ratio_multiply(&by, 1, (uint64_t)n);
		p->h.duration_ns /= n;
	} else if (to == SCALE_TO_SECOND) {
		if (p->h.duration_ns <= 0)
			return err_set(e, EINVAL, "--rate: %s has no duration",
				       store_cstr(p->store, p->h.types[0].type));
		r = ratio_multiply(&by, SECOND_NS, (uint64_t)p->h.duration_ns);
		p->h.duration_ns = SECOND_NS;
	}
	if (r)
		return err_set(e, ERANGE, "the factor is too fine to be exact");
	order_init(&order, p);
	for (i = 0; i < p->h.ntypes && !r; i++)
		r = scale_column(p, i, by, order.samples, e);
	order_release(&order);
	if (!r)
		profile_drop_zero(p);
	return r;
}
