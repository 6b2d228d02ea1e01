#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# --cache: an index says what the files say, address by address; it serves when they are gone; and
# what is wrong with one does no harm.
. "$top/tests/lib/tap.sh"

command -v gcc >/dev/null || skip_all 'no gcc'
src=$top/tests/symbolize

# equal NAME BINARY: every byte of the code, by the files and by the index
equal() {
	readelf -SW "$2" | sed 's/^ *\[ *[0-9]*\]//' |
		awk '$1 ~ /^\.(text|plt|plt\.sec|plt\.got|init)$/ { print $3, $5 }' |
		while read -r low size; do
			echo $((0x$low - 3)) $((0x$size + 6))
		done | awk '{ for (i = 0; i < $2; i++) printf "%x\n", $1 + i }' |
		head -n "${most:-40000}" >"$tmp/addrs"
	symaddr "$2" <"$tmp/addrs" >"$tmp/want"
	rm -rf "$tmp/cache"
	symaddr -c "$tmp/cache" "$2" <"$tmp/addrs" >"$tmp/made"
	symaddr -c "$tmp/cache" "$2" <"$tmp/addrs" >"$tmp/read"
	is "$(find "$tmp/cache" -name '*.idx' | wc -l)" 1 "$1: an index is kept"
	cmp -s "$tmp/made" "$tmp/want" && cmp -s "$tmp/read" "$tmp/want"
	ok $? "$1: $(wc -l <"$tmp/addrs") addresses alike" || diff "$tmp/want" "$tmp/read" | head -n 20 | diag -
}
gcc -g -O2 "$src/plain.c" -o "$tmp/gcc" -lm
equal 'gcc' "$tmp/gcc"
g++ -g -O2 -gdwarf-4 "$src/inline.cc" -o "$tmp/gxx"
equal 'g++, version 4' "$tmp/gxx"
if clang -g -O2 -fuse-ld=lld -Wl,--build-id -ffunction-sections -Wl,--gc-sections \
	"$src/plain.c" -o "$tmp/clang" -lm 2>/dev/null; then
	equal 'clang' "$tmp/clang"
else
	skip 'no clang with lld' 'clang'
fi
objcopy --only-keep-debug "$tmp/gxx" "$tmp/gxx.debug"
strip -o "$tmp/apart" "$tmp/gxx"
(cd "$tmp" && objcopy --add-gnu-debuglink=gxx.debug apart)
equal 'debug file apart' "$tmp/apart"
strip -o "$tmp/bare" "$tmp/gcc"
equal 'stripped' "$tmp/bare"
printf 'package main\nimport "fmt"\nfunc sq(x int) int { return x * x }\nfunc main() { fmt.Println(sq(3)) }\n' \
	>"$tmp/main.go"
if (cd "$tmp" && GO111MODULE=off GOCACHE=${GOCACHE:-$tmp/gocache} CGO_ENABLED=0 \
	go build -ldflags='-s -w -B 0x0123456789abcdef' -o go main.go) 2>/dev/null; then
	most=30000 equal 'Go, stripped' "$tmp/go"
else
	skip 'no Go compiler' 'Go, stripped'
fi

# Profiles.
id=$(readelf -n "$tmp/gcc" | sed -n 's/.*Build ID: //p')
at=$(nm "$tmp/gcc" | awk '$3 == "main" { print $1 }')
off=$(readelf -lW "$tmp/gcc" | awk '$1 == "LOAD" && / R E / { print $2, $3 }')
cat >"$tmp/raw" <<END
# profpipe text 1
profile
time 1
duration 1
period "cpu" "nanoseconds" 1
type "samples" "count" default
mapping 1 0x550000001000 0x550000100000 ${off%% *} "$tmp/gcc" "$id" -
location 1 m1 $(printf '0x%x' $((0x550000001000 + 0x$at - ${off##* })))
sample 1 : 1 :
end
END
prof-symbolize "$tmp/raw" >"$tmp/want"
prof-render -f text "$tmp/want" >"$tmp/text"
like "$tmp/text" 'function .*"main" "main" ".*plain.c"' 'the files name it'
idx=$tmp/cache/$(echo "$id" | cut -c1-2)/$(echo "$id" | cut -c3-).idx
same_as() { # same_as DESCRIPTION
	prof-symbolize --cache="$tmp/cache" "$tmp/raw" >"$tmp/got" 2>"$tmp/err"
	cmp -s "$tmp/got" "$tmp/want" && [ ! -s "$tmp/err" ]
	ok $? "$1" || diag - "$tmp/err"
}
rm -rf "$tmp/cache"
same_as 'with an index made'
[ -s "$idx" ]
ok $? 'under the build id'
same_as 'with the index read'
cp "$idx" "$tmp/good"

# What is in the cache is not trusted.
size=$(wc -c <"$idx")
head -c $((size / 2)) "$tmp/good" >"$idx"
same_as 'cut short'
cmp -s "$idx" "$tmp/good"
ok $? 'and made again'
printf 'x' | dd of="$idx" bs=1 seek=30 conv=notrunc 2>/dev/null
same_as 'header damaged'
echo junk >"$idx"
same_as 'no index at all'
rm "$idx"
mkfifo "$idx"
same_as 'a pipe'
rm "$idx"
gid=$(readelf -n "$tmp/gxx" | sed -n 's/.*Build ID: //p')
prof-symbolize --cache="$tmp/cache" --index "$tmp/gxx"
is $? 0 '--index makes one ahead'
mv "$tmp/cache/$(echo "$gid" | cut -c1-2)/$(echo "$gid" | cut -c3-).idx" "$idx"
same_as 'of another build'
prof-symbolize --cache=/proc/no/cache "$tmp/raw" | cmp -s - "$tmp/want"
is $? 0 'a directory that cannot be written to'

# Debug information that comes later replaces what there was, and is not replaced by less.
cp "$tmp/gcc" "$tmp/full"
strip "$tmp/gcc"
same_as 'stripped: the index of the same build with debug information serves'
cmp -s "$idx" "$tmp/good"
ok $? 'and stays'
bare() { # bare DESCRIPTION: no name
	prof-symbolize --cache="$tmp/cache" "$tmp/raw" >"$tmp/got"
	prof-render -f text "$tmp/got" >"$tmp/text"
	is "$(grep -c '^function' "$tmp/text")" 0 "$1"
}
rm "$idx"
bare 'stripped, without an index'
bare 'with its own index'
cp "$tmp/full" "$tmp/gcc"
same_as 'the file has its debug information again'
objcopy --only-keep-debug "$tmp/full" "$tmp/gcc.debug"
strip "$tmp/gcc"
rm "$idx"
bare 'stripped again'
mkdir -p "$tmp/tree/.build-id/$(echo "$id" | cut -c1-2)"
cp "$tmp/gcc.debug" "$tmp/tree/.build-id/$(echo "$id" | cut -c1-2)/$(echo "$id" | cut -c3-).debug"
prof-symbolize --cache="$tmp/cache" --debug-dir="$tmp/tree" "$tmp/raw" >"$tmp/got"
cmp -s "$tmp/got" "$tmp/want"
ok $? 'a debug file that came later'
rm "$tmp/gcc"
rm -r "$tmp/tree"
same_as 'and went, with the binary'
cp "$tmp/full" "$tmp/gcc"

# The file is gone: from the index alone.
prof-symbolize --cache="$tmp/cache" --index "$tmp/gcc"
rm "$tmp/gcc"
prof-symbolize "$tmp/raw" >"$tmp/got"
prof-render -f text "$tmp/got" >"$tmp/text"
is "$(grep -c '^function' "$tmp/text")" 0 'gone: no names without a cache'
same_as 'gone: all names from the index alone'

# The size is limited: those not used for longest go.
prof-symbolize --cache="$tmp/cache" --index "$tmp/gxx"
touch -d '2001-01-01' "$idx"
prof-symbolize --cache="$tmp/cache" --cache-size=1 --index "$tmp/gxx"
is "$(find "$tmp/cache" -name '*.idx' | wc -l)" 0 'nothing fits: nothing is left'
cp "$tmp/good" "$idx"
touch -d '2001-01-01' "$idx"
prof-symbolize --cache="$tmp/cache" --index "$tmp/gxx"
size=$(find "$tmp/cache" -name '*.idx' -size +0 ! -path "$idx" -exec wc -c {} \; | cut -d' ' -f1)
prof-symbolize --cache="$tmp/cache" --cache-size="$size" --index "$tmp/gxx"
[ ! -e "$idx" ] && [ "$(find "$tmp/cache" -name '*.idx' | wc -l)" = 1 ]
ok $? 'the older one went, the newer one stays'

refuses 'no cache' prof-symbolize --index "$tmp/gxx"
refuses 'no program' prof-symbolize --cache="$tmp/cache" --index </dev/null
refuses 'not a program' prof-symbolize --cache="$tmp/cache" --index "$tmp/raw"
refuses 'no such file' prof-symbolize --cache="$tmp/cache" --index "$tmp/none"
gcc -Wl,--build-id=none "$src/plain.c" -o "$tmp/noid" -lm
refuses 'no build id' prof-symbolize --cache="$tmp/cache" --index "$tmp/noid"
done_testing
