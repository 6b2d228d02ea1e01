/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One name for what is the same function in two builds. What compilers, linkers and run times add
 * and what changes from build to build or from run to run is taken off; what tells functions
 * apart stays (Go's .func1, C++'s {lambda()#2}, .resume, .omp_outlined: other code; but see
 * canonical_family()).
 *
 * The rules, each as often as it applies:
 *	clones		name.isra.0 .part.1 .constprop.2 .cold .llvm.123 .lto_priv.0 (as
 *			demangle_clone_base()) .cold.0 .warm .cfi .argprom .argelim
 *			.specialized.1 .__uniq.123 and " [clone .cold]", " (.cold)", at the end
 *	Rust hashes	::h and 16 hexadecimal digits at the end; [13 to 17 hexadecimal digits]
 *			behind the name of a crate
 *	Go generics	[go.shape.int64] becomes [...]
 *	run times	Lambda$12/0x7f..., $$Lambda$12, lambda$main$0, access$000, $Proxy12,
 *			GeneratedMethodAccessor12: without the number
 *	C++ ABI tags	[abi:cxx11]
 *	versions	libfoo.so.1.2 becomes libfoo.so, path@v1.2.3 becomes path
 *	addresses	0x and hexadecimal digits become 0x
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/buf.h"

/* The canonical form of a name in out (cleared first); false when that is the name itself. */
bool canonical_name(const char *p, size_t n, struct buf *out);

/*
 * The name of a family of closures, which compilers number in the order of the source, so that
 * one more of them renames those behind it; in out (cleared first); false: it is none.
 *	Go		main.run.func1.2, .gowrap1, .deferwrap1, main.run-range1 with # for numbers
 *	C++		{lambda(int)#2} without the number, $_2, 'lambda2' with #
 *	Rust		{closure#2}, {shim:vtable#2} without the number
 */
bool canonical_family(const char *p, size_t n, struct buf *out);
