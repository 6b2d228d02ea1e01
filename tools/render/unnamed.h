/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a profile is one of addresses still. */
#pragma once

#include <stdbool.h>

#include "tools/render/report.h"

/* Of the frames in files (not the kernel's), weighted by the shown values, most have no function. */
bool is_unnamed(const struct report *r);
