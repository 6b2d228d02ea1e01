#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every pair of: compiler, version of DWARF, how much of it, how sections are packed, where it is
# kept, how it was linked, at a fixed address or not. The oracle is llvm-symbolizer on the same
# code with all debug information unpacked in one file.
. "$top/tests/lib/tap.sh"

for tool in llvm-symbolizer gcc g++ clang clang++ ld.lld objcopy; do
	command -v $tool >/dev/null || skip_all "no $tool"
done
. "$top/tests/lib/agree.sh"
src=$top/tests/symbolize
total=0

# code FILE: what runs
code() {
	objcopy -O binary -j .text "$1" "$tmp/text" && cksum <"$tmp/text"
}

# keep HOW PACKED: the program in its own directory as it is to be read, from there
keep() {
	case $1 in
	split | dwp) compile -gsplit-dwarf -o variant ;;
	*) cp base variant ;;
	esac || return
	if [ "$1" = dwz ]; then
		cp variant twin && dwz -m common variant twin &&
			readelf -S variant | grep -q gnu_debugaltlink || return
	fi
	if [ "$1" = dwp ]; then
		llvm-dwp -e variant -o variant.dwp && rm -rf ./*.dwo ./*_dwo || return
	fi
	if [ "$2" != none ]; then
		objcopy --compress-debug-sections="$2" variant || return
	fi
	if [ "$(code variant)" != "$(code base)" ]; then
		echo 'other code with the same options'
		return 1
	fi
}

compile() {
	# the options are words
	# shellcheck disable=SC2086
	"$compiler" -O2 -gdwarf-"$version" -g"$level" $link $pie "$source" "$@"
}

row() { # row COMPILER VERSION LEVEL PACKED KEPT LINK PIE
	name="$*"
	compiler=$1 version=$2 level=$3
	case $1 in
	*++) source=$src/inline.cc ;;
	*) source=$src/plain.c ;;
	esac
	case $6 in
	none) link= ;;
	gc) link='-ffunction-sections -Wl,--gc-sections' ;;
	icf) link='-ffunction-sections -fuse-ld=lld -Wl,--icf=all' ;;
	lto) link=-flto ;;
	esac
	case $1-$6 in
	clang*-lto) link='-flto -fuse-ld=lld' ;;
	esac
	case $7 in
	pie) pie='-fPIE -pie' ;;
	no-pie) pie='-fno-pie -no-pie' ;;
	esac
	rm -rf "$tmp/row"
	mkdir "$tmp/row"
	cd "$tmp/row" || exit
	if ! compile -o base 2>"$tmp/build" || ! keep "$5" "$4" >"$tmp/build" 2>&1; then
		skip "$(head -n 1 "$tmp/build")" "$name"
		return
	fi
	addresses base | awk 'NR % 4 == 0' >"$tmp/addrs"
	nm --defined-only base >"$tmp/nm"
	symaddr "$PWD/variant" <"$tmp/addrs" >"$tmp/ours" 2>"$tmp/ours.err"
	llvm-symbolizer --inlines --no-demangle -e base <"$tmp/addrs" >"$tmp/llvm" 2>/dev/null
	compare "$tmp/nm" "$tmp/ours" "$tmp/llvm" >"$tmp/diff"
	n=$(wc -l <"$tmp/addrs")
	total=$((total + n))
	inlined=$(awk '/^$/ { n += k > 2; k = 0; next } { k++ } END { print n + 0 }' "$tmp/ours")
	[ ! -s "$tmp/diff" ] && [ ! -s "$tmp/ours.err" ] && [ "$inlined" -gt 0 ]
	ok $? "$name: $n addresses, $inlined inlined" || head -n 10 "$tmp/diff" | diag - "$tmp/ours.err"
}

# gcc does not split with link-time optimization; dwz does not know what clang makes for DWARF 5
row gcc 4 1 none plain lto pie
row gcc 5 2 zstd dwz gc pie
row gcc 4 2 none split icf pie
row gcc 5 1 zlib dwp none no-pie
row g++ 4 2 zlib plain gc pie
row g++ 5 1 none dwz lto no-pie
row g++ 4 1 zstd split none no-pie
row g++ 5 2 none dwp icf pie
row clang 5 1 zstd plain icf no-pie
row clang 4 2 none dwz none pie
row clang 5 2 zlib split lto no-pie
row clang 4 1 none dwp gc no-pie
row clang++ 5 2 none plain none no-pie
row clang++ 4 1 zlib dwz icf pie
row clang++ 5 1 none split gc pie
row clang++ 4 2 zstd dwp lto pie

# Rust: names of both manglings, and a library that was compiled elsewhere; every 64th byte
cat >"$tmp/main.rs" <<'END'
use std::collections::HashMap;

#[inline(never)]
fn fold(v: &[u32]) -> u32 {
    v.iter().map(|x| x.rotate_left(3) ^ 7).filter(|x| x % 3 != 0)
        .fold(0u32, |a, b| a.wrapping_mul(31).wrapping_add(b))
}

fn main() {
    let mut m: HashMap<String, u32> = HashMap::new();
    for w in std::env::args() {
        *m.entry(w).or_insert(0) += 1;
    }
    let v: Vec<u32> = m.values().copied().collect();
    println!("{} {:?}", fold(&v), m);
}
END
if command -v rustc >/dev/null && rustc -g -O -o "$tmp/rust" "$tmp/main.rs" 2>"$tmp/build"; then
	addresses "$tmp/rust" | awk 'NR % 64 == 0' >"$tmp/addrs"
	nm --defined-only "$tmp/rust" | awk 'NF == 3' >"$tmp/nm"
	symaddr "$tmp/rust" <"$tmp/addrs" >"$tmp/ours"
	llvm-symbolizer --inlines --no-demangle -e "$tmp/rust" <"$tmp/addrs" >"$tmp/llvm"
	compare "$tmp/nm" "$tmp/ours" "$tmp/llvm" >"$tmp/diff"
	[ ! -s "$tmp/diff" ] && grep -q fold "$tmp/ours"
	ok $? "rust: $(wc -l <"$tmp/addrs") addresses" || head -n 10 "$tmp/diff" | diag
else
	skip 'no Rust compiler that works' 'rust'
fi
[ "$total" -ge 10000 ]
ok $? "$total addresses"
done_testing
