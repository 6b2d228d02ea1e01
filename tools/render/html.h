/* SPDX-License-Identifier: Apache-2.0 */
/* The page: one file with all profile types, that needs no network and no server. */
#pragma once

#include "tools/render/report.h"

/* One document of all of r[0, n), the first one shown first. */
int report_html(const struct report *r, size_t n, struct buf *out, struct err *e);
