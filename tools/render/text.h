/* SPDX-License-Identifier: Apache-2.0 */
/* -f text: each profile as it comes, in the text twin. */
#pragma once

#include "lib/pprof/source.h"
#include "tools/render/render.h"

int render_text(struct render_opts *o, struct source *s, struct err *e);
