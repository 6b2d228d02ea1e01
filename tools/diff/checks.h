/* SPDX-License-Identifier: Apache-2.0 */
/* Whether two sides can be compared, and what to bear in mind where they can. */
#pragma once

#include <stdbool.h>

#include "lib/base/err.h"
#include "lib/ui/cli.h"
#include "tools/diff/report.h"

/* Doubts that the user has put aside. */
struct check_opts {
	bool force, allow_unsymbolized;
};

/* Negative for sides that cannot be compared. */
int check_part(const struct part *p, const struct check_opts *o, struct err *e);

/* Notes on a comparison that was made, on standard error. */
void check_notes(const struct cli *c, const struct report *r);
