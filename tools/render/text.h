/* SPDX-License-Identifier: Apache-2.0 */
/* Profile by profile, as they come: -f text, and what else is made of each by itself. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/pprof/source.h"
#include "tools/render/render.h"

/* Append what a message becomes; nothing where it is left out. first: nothing was written yet. */
typedef int render_one(struct render_opts *o, const uint8_t *msg, size_t n, bool first,
		       struct buf *out, struct err *e);

/* Each is written and flushed before the next message is read. */
int render_each(struct render_opts *o, struct source *s, render_one *make, struct err *e);

int render_text(struct render_opts *o, struct source *s, struct err *e);
