#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Agreement with llvm-symbolizer at every byte of every function of programs built here, over
# compilers, versions of DWARF, linkers and ways to store sections. Depth, file and line of all
# frames must be equal. Where llvm-symbolizer is known to be wrong or says less, the right
# answer is what is checked.
. "$top/tests/lib/tap.sh"

command -v llvm-symbolizer >/dev/null || skip_all 'no llvm-symbolizer'
command -v g++ >/dev/null || skip_all 'no g++'
src=$top/tests/symbolize

. "$top/tests/lib/agree.sh"

# build NAME COMPILER OPTIONS…: build and compare
build() {
	name=$1
	shift
	if "$@" -g -o "$tmp/prog" 2>"$tmp/build"; then
		agree "$name" "$tmp/prog"
	else
		skip "$(head -n 1 "$tmp/build")" "$name"
	fi
}

cc=$src/inline.cc c=$src/plain.c
build 'g++, DWARF 5' g++ -O2 -gdwarf-5 "$cc"
build 'gcc, DWARF 4, zlib' gcc -O2 -gdwarf-4 -gz=zlib "$c"
build 'gcc, DWARF 3' gcc -O3 -gdwarf-3 "$c"
build 'gcc, DWARF 2, old zlib sections' gcc -O2 -gdwarf-2 -gz=zlib-gnu "$c"
build 'gcc, 64-bit DWARF' gcc -O2 -gdwarf64 "$c"
build 'gcc -g1' gcc -O2 -g1 "$c"
build 'gcc, link-time optimization' gcc -O2 -flto "$c"
build 'gcc, sections collected' gcc -O2 -ffunction-sections -Wl,--gc-sections "$c"
build 'gcc, fixed address' gcc -O2 -no-pie "$c"
want_inlined=0 build 'gcc -O0' gcc -O0 "$c"
if command -v clang++ >/dev/null; then
	build 'clang++, DWARF 5' clang++ -O2 -gdwarf-5 "$cc"
	build 'clang, DWARF 4, zlib' clang -O2 -gdwarf-4 -gz=zlib "$c"
	build 'clang, lines only' clang -O2 -gdwarf-5 -gline-tables-only "$c"
fi
if [ -n "${PROFPIPE_LONG:-}" ]; then
	build 'g++, DWARF 4, zlib' g++ -O2 -gdwarf-4 -gz=zlib "$cc"
	build 'g++ -g1' g++ -O2 -g1 "$cc"
	build 'g++, link-time optimization' g++ -O2 -flto "$cc"
	build 'g++ -O3, fixed address' g++ -O3 -no-pie "$cc"
	want_inlined=0 build 'g++ -O0' g++ -O0 "$cc"
	build 'clang++ -g1' clang++ -O2 -gdwarf-5 -gline-tables-only "$cc"
fi
if command -v clang++ >/dev/null && command -v ld.lld >/dev/null; then
	build 'clang++, lld, sections collected' clang++ -O2 -gdwarf-4 -ffunction-sections \
		-fuse-ld=lld -Wl,--gc-sections "$cc"
	build 'clang, lld, thin link-time optimization' clang -O2 -flto=thin -fuse-ld=lld "$c"
fi

# A unit of thousands of ranges that are not in order of their addresses: functions in sections that
# the linker sorts by name, calls within calls that begin at one address
awk 'BEGIN {
	print "static inline int in(int x) { return x * 7 + 1; }"
	print "static inline int out(int x) { return in(x) ^ in(x + 2); }"
	for (i = 0; i < 700; i++) {
		at = (i * 311) % 700
		printf "__attribute__((noinline, section(\".text.s%03d\"))) int f%d(int x)\n", at, i
		printf "{ return out(x) + out(x ^ %d); }\n", i
	}
	print "int main(int n, char **v) { return (int)(long)v + n; }"
}' >"$tmp/many.c"
build 'gcc, thousands of ranges, not in order' gcc -O2 -Wl,--sort-section=name "$tmp/many.c"

# zstd and dwz are beyond this llvm-symbolizer: the same program stored plainly is the oracle
g++ -O2 -g "$cc" -o "$tmp/plain"
addresses "$tmp/plain" >"$tmp/addrs"
symaddr "$tmp/plain" <"$tmp/addrs" >"$tmp/want"
if objcopy --compress-debug-sections=zstd "$tmp/plain" "$tmp/zstd" 2>"$tmp/build"; then
	symaddr "$tmp/zstd" <"$tmp/addrs" >"$tmp/got"
	same "$tmp/got" "$tmp/want" 'zstd sections'
else
	skip "$(head -n 1 "$tmp/build")" 'zstd sections'
fi
objcopy --only-keep-debug "$tmp/plain" "$tmp/plain.debug"
strip -o "$tmp/stripped" "$tmp/plain"
objcopy --add-gnu-debuglink="$tmp/plain.debug" "$tmp/stripped"
symaddr "$tmp/stripped" <"$tmp/addrs" >"$tmp/got"
same "$tmp/got" "$tmp/want" 'separate debug file by link'
if command -v dwz >/dev/null; then
	mkdir "$tmp/dwz"
	cp "$tmp/plain" "$tmp/dwz/a"
	g++ -O2 -g -DOTHER "$cc" -o "$tmp/dwz/b"
	(cd "$tmp/dwz" && dwz -m common a b) 2>"$tmp/build"
	if readelf -S "$tmp/dwz/a" | grep -q gnu_debugaltlink; then
		symaddr "$tmp/dwz/a" <"$tmp/addrs" >"$tmp/got"
		same "$tmp/got" "$tmp/want" 'names in a supplementary file (dwz)'
		rm "$tmp/dwz/common"
		symaddr "$tmp/dwz/a" <"$tmp/addrs" >"$tmp/got" 2>"$tmp/err"
		# outermost frames have their symbols; an inlined one that nobody can name is gone
		for f in want got; do
			awk '/^$/ { print last; next } { last = prev; prev = $0 }' "$tmp/$f" |
				sed 's/C2E/C1E/; s/D2E/D1E/' >"$tmp/outer.$f"
		done
		same "$tmp/outer.got" "$tmp/outer.want" 'without that file: outer functions by symbol'
		! grep -q '^??$' "$tmp/got"
		ok $? 'and nothing unnamed'
	else
		skip "dwz made no supplementary file" 'names in a supplementary file (dwz)'
	fi
else
	skip 'no dwz' 'names in a supplementary file (dwz)'
fi

# Split DWARF: functions are elsewhere, the lines are here
for split in 'gcc -gdwarf-4' 'gcc -gdwarf-5' 'clang -gdwarf-5'; do
	command -v "${split%% *}" >/dev/null || continue
	# shellcheck disable=SC2086
	(cd "$tmp" && $split -O2 -g -gsplit-dwarf "$c" -o split) || continue
	addresses "$tmp/split" >"$tmp/addrs"
	symaddr "$tmp/split" <"$tmp/addrs" >"$tmp/ours"
	llvm-symbolizer --inlines --no-demangle -e "$tmp/split" <"$tmp/addrs" >"$tmp/llvm"
	# leaf places, and outermost names by the symbol table
	awk '/^$/ { k = 0; next } k++ == 1 { sub(/:[0-9]+$/, ""); print }' "$tmp/ours" >"$tmp/a"
	awk '/^$/ { k = 0; next } k++ == 1 { sub(/:[0-9]+$/, ""); print }' "$tmp/llvm" >"$tmp/b"
	# code that no line is to blame for: it says 0, we the line before (prof-symbolize(1))
	paste -d '\t' "$tmp/a" "$tmp/b" | awk -F '\t' '
		$2 ~ /:0$/ { sub(/:[0-9]+$/, ":0", $1) } { print $1 }' >"$tmp/a0"
	same "$tmp/a0" "$tmp/b" "$split, split: lines"
done

# Go: inflated sections, names with dots and brackets, many small units; every 64th byte
if command -v go >/dev/null; then
	mkdir "$tmp/go"
	cat >"$tmp/go/main.go" <<'END'
package main

import (
	"encoding/json"
	"fmt"
	"sort"
	"strings"
)

type counter[K comparable] struct{ seen map[K]int }

func (c *counter[K]) add(k K) { c.seen[k]++ }

func main() {
	c := &counter[string]{map[string]int{}}
	for _, w := range strings.Fields("a b c a") {
		c.add(w)
	}
	b, _ := json.Marshal(c.seen)
	v := []int{3, 1, 2}
	sort.Slice(v, func(i, j int) bool { return v[i] < v[j] })
	fmt.Println(string(b), v)
}
END
	if (cd "$tmp/go" && GO111MODULE=off GOCACHE=${GOCACHE:-$tmp/gocache} CGO_ENABLED=0 \
		go build -o "$tmp/prog" main.go) 2>"$tmp/build"; then
		addresses() {
			nm -S --defined-only "$1" | awk '$3 ~ /^[tT]$/ && NF == 4 { print $1, $2 }' | sort -u |
				while read -r low size; do
					echo $((0x$low)) $((0x$size))
				done | awk '{ for (i = 0; i < $2; i += 64) printf "0x%x\n", $1 + i }'
		}
		# llvm-symbolizer has .abi0 symbols where the debug information has the name
		go=1 names=0 agree 'go' "$tmp/prog"
		grep -q '^main\.(\*counter\[.*\])\.add$' "$tmp/ours"
		ok $? 'go: generic methods by name'
		! grep -q '^??$' "$tmp/ours"
		ok $? 'go: no function without a name'
	else
		skip "$(head -n 1 "$tmp/build")" 'go'
	fi
else
	skip 'no Go compiler' 'go'
fi

# The C library with its debug file: assembly, aliases, thousands of units, relative paths
libc=$(PATH=$PATH:/usr/sbin ldconfig -p | awk '/libc\.so\.6 .*x86-64/ { print $NF; exit }')
id=$(readelf -n "${libc:-/}" 2>/dev/null | awk '/Build ID/ { print $3 }')
debug=/usr/lib/debug/.build-id/$(echo "$id" | cut -c1-2)/$(echo "$id" | cut -c3-).debug
if [ -n "$id" ] && [ -e "$debug" ]; then
	nm -S --defined-only "$debug" | awk '$3 ~ /^[tTwWi]$/ && NF == 4 { print "0x" $1 }' | sort -u |
		awk 'NR % 3 == 0' >"$tmp/addrs"
	symaddr "$libc" /usr/lib/debug <"$tmp/addrs" >"$tmp/a"
	llvm-symbolizer --inlines --no-demangle -e "$libc" <"$tmp/addrs" >"$tmp/b"
	# llvm doubles relative directories: base names of files, lines and columns
	for f in a b; do
		awk '/^$/ { print; k = 0; next } k++ % 2 { sub(/.*\//, ""); print }' "$tmp/$f" >"$tmp/$f.places"
	done
	same "$tmp/a.places" "$tmp/b.places" "libc: places of $(wc -l <"$tmp/addrs") functions"
	! grep -q '^??$' "$tmp/a"
	ok $? 'libc: all named'
else
	skip 'no libc6-dbg' 'libc'
fi

# A dropped function larger than what lies below main: its entry still claims those addresses
cat >"$tmp/dead.c" <<'END'
int dead(int x)
{
	__asm__ volatile(".skip 0x4000, 0x90");
	return x;
}
END
for linker in bfd gold lld; do
	for pie in -no-pie -pie; do
		command -v "ld.$linker" >/dev/null || continue
		if ! gcc -g -O2 -ffunction-sections -fuse-ld=$linker $pie -Wl,--gc-sections \
			"$tmp/dead.c" "$c" -o "$tmp/prog" 2>/dev/null; then
			skip "$linker does not link" "dead unit, $linker $pie"
			continue
		fi
		nm "$tmp/prog" | awk '$3 == "main" { print $1 }' | symaddr "$tmp/prog" >"$tmp/got"
		grep -A1 '^main$' "$tmp/got" | grep -q 'plain.c:4[0-9]:'
		ok $? "dead unit over main, $linker $pie" || diag "$tmp/got"
	done
done
done_testing
