#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Unwind tables against libdw at random places of large programs, each kind of code that there
# is: C, hand-written assembler with its own way to find the frame, C++, JIT compilers' hosts.
. "$top/tests/lib/tap.sh"

libs=/usr/lib/$(uname -m)-linux-gnu
n=0
for file in "$libs/libc.so.6" "$libs/libcrypto.so.3" /usr/bin/gdb "$libs/libLLVM-14.so.1"; do
	[ -e "$file" ] || continue
	n=$((n + 1))
	run cfioracle "$file" 20000 1
	[ "$status" -eq 0 ] && grep -q 'compared 20000 .* mismatches 0$' "$tmp/out"
	ok $? "$(basename "$file"): $(tr '\n' ' ' <"$tmp/out")" || diag - "$tmp/out" "$tmp/err"
done
[ "$n" -gt 0 ] || skip_all 'none of the files'
done_testing
