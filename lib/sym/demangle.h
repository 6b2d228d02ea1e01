/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names as people write them, from the names that linkers see.
 *
 * C++ (Itanium ABI) and Rust (v0 and legacy) are decoded by libiberty, whose callback form lets
 * us stop at a size: a name of 245 bytes can stand for 554 MB. Other names are left alone.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/buf.h"

enum demangle_mode {
	DEMANGLE_NONE,
	DEMANGLE_SIMPLE,    /* no parameters, no template arguments */
	DEMANGLE_TEMPLATES, /* template arguments, no parameters */
	DEMANGLE_FULL,	    /* everything */
};

#define DEMANGLED_MAX (64u << 10) /* bytes; a longer name stays as it is */

#define DEMANGLE_PLT "@plt" /* ends the name of an entry of the linkage table */

/* "none", "simple", "templates", "full": false for anything else. */
bool demangle_parse_mode(const char *s, enum demangle_mode *out);

/*
 * Put the readable form of `name` into out (cleared first; its maximum is the limit, usually
 * DEMANGLED_MAX) and return true; false when there is none, or it is too long. A clone suffix
 * is kept, in brackets, and DEMANGLE_PLT as it is.
 */
bool demangle(const char *name, enum demangle_mode mode, struct buf *out);

/*
 * Length of the name without the suffixes that compilers give to pieces and copies of
 * functions: .isra.N .part.N .constprop.N .cold .llvm.N .lto_priv.N (any number of them).
 */
size_t demangle_clone_base(const char *name, size_t n);
