/* SPDX-License-Identifier: Apache-2.0 */
/* PCRE2 with the house's options and limits. */
#include "lib/query/regex.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <errno.h>
#include <pcre2.h>
#include <stdlib.h>

#include "lib/base/xalloc.h"

/* Steps of backtracking in one match: some 20 ms. Sane patterns on sane names need hundreds. */
#define MATCH_LIMIT 1000000
#define HEAP_LIMIT_KIB 32768
#define PATTERN_MAX_BYTES 65536

struct regex {
	pcre2_code *code;
	pcre2_match_context *limits;
	pcre2_match_data *match;
	char *pattern;
	bool whole, failed;
};

int regex_new(const char *pattern, size_t n, bool whole, struct regex **out,
	      struct err *e)
{
	uint32_t options = PCRE2_UTF | PCRE2_MATCH_INVALID_UTF | PCRE2_DOLLAR_ENDONLY |
			   PCRE2_NEVER_BACKSLASH_C;
	PCRE2_UCHAR why[160];
	struct regex *r;
	pcre2_code *code;
	size_t at;
	int error;

	if (n > PATTERN_MAX_BYTES)
		return err_set(e, EINVAL, "regular expression is longer than %d bytes",
			       PATTERN_MAX_BYTES);
	if (whole)
		options |= PCRE2_ANCHORED | PCRE2_ENDANCHORED;
	code = pcre2_compile((PCRE2_SPTR)pattern, n, options, &error, &at, NULL);
	if (!code) {
		pcre2_get_error_message(error, why, sizeof(why));
		return err_set(e, EINVAL, "regular expression: %s at byte %zu", why, at);
	}
	r = xcalloc(1, sizeof(*r));
	r->code = code;
	r->whole = whole;
	r->limits = pcre2_match_context_create(NULL);
	r->match = pcre2_match_data_create_from_pattern(code, NULL);
	r->pattern = xstrndup(pattern, n);
	if (!r->limits || !r->match) {
		regex_free(r);
		return err_errno(e, ENOMEM, "regular expression");
	}
	pcre2_set_match_limit(r->limits, MATCH_LIMIT);
	pcre2_set_heap_limit(r->limits, HEAP_LIMIT_KIB);
	*out = r;
	return 0;
}

void regex_free(struct regex *r)
{
	if (!r)
		return;
	pcre2_code_free(r->code);
	pcre2_match_context_free(r->limits);
	pcre2_match_data_free(r->match);
	free(r->pattern);
	free(r);
}

bool regex_match(struct regex *r, const char *s, size_t n)
{
	const size_t *span;
	int found;

	if (r->failed)
		return false;
	found = pcre2_match(r->code, (PCRE2_SPTR)s, n, 0, 0, r->match, r->limits);
	if (found < 0 && found != PCRE2_ERROR_NOMATCH)
		r->failed = true;
	if (found < 0 || !r->whole)
		return found >= 0;
	/* around bytes that are not UTF-8 PCRE2 takes the pieces between them for the text */
	span = pcre2_get_ovector_pointer(r->match);
	return span[0] == 0 && span[1] == n;
}

size_t regex_groups(const struct regex *r)
{
	uint32_t n = 0;

	pcre2_pattern_info(r->code, PCRE2_INFO_NAMECOUNT, &n);
	return n;
}

/* An entry of PCRE2's table of names: two bytes with the number, then the name. */
static PCRE2_SPTR group_entry(const struct regex *r, size_t i)
{
	PCRE2_SPTR table;
	uint32_t size;

	pcre2_pattern_info(r->code, PCRE2_INFO_NAMETABLE, &table);
	pcre2_pattern_info(r->code, PCRE2_INFO_NAMEENTRYSIZE, &size);
	return table + i * size;
}

const char *regex_group_name(const struct regex *r, size_t i)
{
	return (const char *)group_entry(r, i) + 2;
}

bool regex_group(const struct regex *r, size_t i, size_t *from, size_t *to)
{
	PCRE2_SPTR entry = group_entry(r, i);
	const size_t *span = pcre2_get_ovector_pointer(r->match) +
			     2 * ((size_t)entry[0] << 8 | entry[1]);

	if (span[0] == PCRE2_UNSET || span[1] < span[0])
		return false;
	*from = span[0];
	*to = span[1];
	return true;
}

int regex_status(const struct regex *r, struct err *e)
{
	if (!r->failed)
		return 0;
	return err_set(e, ERANGE, "regular expression \"%s\" needs too many steps",
		       r->pattern);
}
