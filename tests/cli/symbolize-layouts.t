#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The kernel as oracle: programs in every layout linkers make print where their functions lie;
# each address must come back with the function's name, its file and a line in it.
. "$top/tests/lib/tap.sh"

command -v gcc >/dev/null || skip_all 'no gcc'
src=$top/tests/symbolize
cat >"$tmp/library.c" <<'END'
int library_function(int x)
{
	return x * 5;
}
END

# Samples whose label `want` is not the name of their function, from the text twin: the sample
# lines tell the location, that its function.
wrong() {
	awk '
	$1 == "function" { name[$2] = $3 }
	$1 == "location" { split($5, f, ":"); fn[$2] = substr(f[1], 2); line[$2] = f[2] }
	$1 == "sample" {
		want = $0; sub(/.*"want"=/, "", want)
		loc = $4; n++
		if (name[fn[loc]] != want || line[loc] + 0 == 0) { print; bad++ }
	}
	END { if (!n) print "no samples" }'
}

# layout NAME COMPILER OPTIONS…: build, run, symbolize, compare
layout() {
	name=$1
	shift
	if ! "$@" -g -O2 -DBUILD_ID='""' -o "$tmp/prog" "$src/whereami.c" >"$tmp/build" 2>&1; then
		skip "$(head -n 1 "$tmp/build")" "$name"
		return
	fi
	"$tmp/prog" >"$tmp/profile"
	prof-symbolize "$tmp/profile" 2>"$tmp/err" | prof-render -f text | wrong >"$tmp/bad"
	[ ! -s "$tmp/bad" ] && [ ! -s "$tmp/err" ]
	ok $? "$name" || diag "$tmp/bad" "$tmp/err" "$tmp/profile"
}

layout 'gcc, position independent' gcc -fPIE -pie
layout 'gcc, at a fixed address' gcc -fno-pie -no-pie
layout 'gcc, static' gcc -static
layout 'gcc, static and position independent' gcc -static-pie
layout 'gcc, one segment for code and constants' gcc -Wl,-z,noseparate-code
layout 'gcc, at a fixed address, one segment' gcc -no-pie -Wl,-z,noseparate-code
layout 'gcc, segments aligned to 2 MiB' gcc -Wl,-z,max-page-size=0x200000
layout 'gcc, fixed, segments aligned to 2 MiB' gcc -no-pie -Wl,-z,max-page-size=0x200000
layout 'gcc, linked far up' gcc -no-pie -Wl,-Ttext-segment=0x10000000
layout 'gcc, gold' gcc -fuse-ld=gold
layout 'gcc, gold, fixed' gcc -fuse-ld=gold -no-pie
if command -v clang >/dev/null && command -v ld.lld >/dev/null; then
	# lld packs segments in the file, so that offsets and addresses differ
	layout 'clang and lld' clang -fuse-ld=lld -fPIE -pie
	layout 'clang and lld, fixed' clang -fuse-ld=lld -no-pie
	layout 'clang and lld, separate pages' clang -fuse-ld=lld -Wl,-z,separate-loadable-segments
	layout 'clang and lld, code first' clang -fuse-ld=lld -Wl,--no-rosegment
	layout 'clang and lld, 2 MiB' clang -fuse-ld=lld -Wl,-z,max-page-size=0x200000
else
	skip 'no clang or lld' 'layouts of lld'
fi

# A shared library, also one that was linked for an address of its own (as prelink does).
for at in '' -Wl,-Ttext-segment=0x3f00000000; do
	if gcc -g -O2 -shared -fPIC $at -o "$tmp/libx.so" "$tmp/library.c" 2>"$tmp/build"; then
		layout "shared library $at" gcc -DWITH_LIBRARY -L"$tmp" -lx -Wl,-rpath,"$tmp" \
			-Wl,--no-as-needed "$tmp/libx.so"
	else
		skip "$(head -n 1 "$tmp/build")" "shared library $at"
	fi
done

# Debug information in a file of its own, whose headers have lost the segments' places.
separate() {
	name=$1
	shift
	gcc "$@" -g -O2 -Wl,--build-id=0x1122334455 -DBUILD_ID='"1122334455"' -o "$tmp/prog" \
		"$src/whereami.c"
	mkdir -p "$tmp/dbg/.build-id/11"
	objcopy --only-keep-debug "$tmp/prog" "$tmp/dbg/.build-id/11/22334455.debug"
	strip "$tmp/prog"
	"$tmp/prog" >"$tmp/profile"
	# the build id is the program's: the libraries' mappings must not pass for it
	prof-symbolize --debug-dir="$tmp/dbg" "$tmp/profile" 2>"$tmp/err" |
		prof-render -f text | wrong >"$tmp/bad"
	[ ! -s "$tmp/bad" ]
	ok $? "$name, stripped, debug file by build id" || diag "$tmp/bad" "$tmp/err"
	mv "$tmp/prog" "$tmp/gone"
	prof-symbolize -v --debug-dir="$tmp/dbg" "$tmp/profile" 2>"$tmp/err" |
		prof-render -f text | wrong >"$tmp/bad"
	[ ! -s "$tmp/bad" ]
	ok $? "$name, only the debug file at hand" || diag "$tmp/bad" "$tmp/err"
}
separate 'position independent' -fPIE -pie
separate 'fixed' -no-pie

# With lld the debug file alone cannot tell: better no name than a wrong one.
if command -v ld.lld >/dev/null; then
	gcc -fuse-ld=lld -g -O2 -Wl,--build-id=0x1122334455 -DBUILD_ID='"1122334455"' \
		-o "$tmp/prog" "$src/whereami.c"
	objcopy --only-keep-debug "$tmp/prog" "$tmp/dbg/.build-id/11/22334455.debug"
	"$tmp/prog" >"$tmp/profile"
	rm "$tmp/prog"
	prof-symbolize -v --debug-dir="$tmp/dbg" "$tmp/profile" 2>"$tmp/err" |
		prof-render -f text >"$tmp/out"
	! grep -q '^function' "$tmp/out"
	ok $? 'lld, only the debug file at hand: no name'
	like "$tmp/err" 'need-binary +2$' 'and the reason'
	like "$tmp/err" 'wanted: the binary' 'and what would help'
else
	skip 'no lld' 'debug file of lld'
fi
done_testing
