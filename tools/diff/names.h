/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Canonical names (lib/sym/canonical.h) for the functions of stacks on their way into a side.
 * Only Function.name is rewritten; system_name stays. Results are remembered by id, so this
 * belongs to one store.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "lib/pprof/model.h"

struct names;

struct names *names_new(void);
void names_free(struct names *n);

/* The stack with canonical names; itself where nothing changes. */
uint32_t names_stack(struct names *n, struct store *st, uint32_t stack);

/* The next name (string id) that became `canonical`, from *at on; 0 at the end. */
uint32_t names_raw(const struct names *n, uint32_t canonical, size_t *at);
