/* SPDX-License-Identifier: Apache-2.0 */
/* Words for changes. */
#include "tools/render/change.h"

#include <string.h>

#include "lib/ui/units.h"

static const char *sign(const struct change *c)
{
	return c->new > c->base ? "+" : "";
}

void change_put_delta(struct buf *out, const struct change *c, const char *unit,
		      const char *unit_out)
{
	char text[UNITS_TEXT_MAX];

	buf_puts(out, sign(c));
	buf_puts(out, units_format(c->new - c->base, unit, unit_out, text));
}

void change_put_percent(struct buf *out, const struct change *c, int64_t total)
{
	char text[UNITS_TEXT_MAX];
	const char *percent = units_percent(c->new - c->base, total, text);

	buf_puts(out, c->new < c->base ? "-" : sign(c));
	buf_puts(out, percent + strspn(percent, " "));
}

const char *change_status(const struct change *c)
{
	return !c->base ? "new" : !c->new ? "gone" : "";
}
