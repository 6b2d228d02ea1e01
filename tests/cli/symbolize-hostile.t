#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Programs with bytes changed in their debug information and symbols (llvm-symbolizer 14 dies on
# one in eight of such files): no crash, no hang, bounded memory. PROFPIPE_LONG=1 tries 20,000,
# PROFPIPE_MUTANTS=N that many of each program.
. "$top/tests/lib/tap.sh"

command -v g++ >/dev/null || skip_all 'no g++'
src=$top/tests/symbolize
count=${PROFPIPE_MUTANTS:-${PROFPIPE_LONG:+5000}}
count=${count:-150}

mutate() { # mutate NAME FILE
	run symmutate "$2" "$count" 1
	is "$status" 0 "$1: $(cat "$tmp/out")" || head -n 20 "$tmp/err" | diag
	# most of a file is whole, so most names must come: the test does reach the readers
	awk '{ exit !($3 * 4 > $5) }' "$tmp/out"
	ok $? "$1: a quarter of the addresses named at least"
}
g++ -g -O2 -gdwarf-5 "$src/inline.cc" -o "$tmp/gxx"
mutate 'g++, DWARF 5' "$tmp/gxx"
gcc -g -O2 -gdwarf-4 "$src/plain.c" -o "$tmp/gcc"
mutate 'gcc, DWARF 4' "$tmp/gcc"
gcc -g -O2 -gz=zlib "$src/plain.c" -o "$tmp/zlib"
mutate 'gcc, zlib' "$tmp/zlib"
if command -v clang >/dev/null; then
	clang -g -O2 "$src/plain.c" -o "$tmp/clang"
	mutate 'clang' "$tmp/clang"
fi
done_testing
