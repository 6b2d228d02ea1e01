#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# --cache: an index says what the files say, address by address; it serves when they are gone; and
# what is wrong with one does no harm.
. "$top/tests/lib/tap.sh"
. "$top/tests/lib/inmain.sh"

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

# An index has the names of the linker: one that was made in one mode serves all.
rm -rf "$tmp/cache"
gid=$(readelf -n "$tmp/gxx" | sed -n 's/.*Build ID: //p')
nm --defined-only "$tmp/gxx" | awk '$3 ~ /^_Z/ && $2 ~ /[tTwW]/ { print $1 }' >"$tmp/at"
{
	printf '# profpipe text 1\nprofile\ntype "samples" "count"\n'
	echo "mapping 1 0x0 0x0 0x0 \"$tmp/gxx\" \"$gid\" -"
	awk '{ printf "location %d m1 0x%s\n", NR, $1 }' "$tmp/at"
	awk '{ printf "sample 1 : %d\n", NR }' "$tmp/at"
	echo end
} >"$tmp/raw.gxx"
for mode in simple none templates full; do
	prof-symbolize --demangle=$mode "$tmp/raw.gxx" >"$tmp/want.$mode"
	prof-symbolize --demangle=$mode --cache="$tmp/cache" "$tmp/raw.gxx" | cmp -s - "$tmp/want.$mode"
	is $? 0 "an index of any mode: $mode"
done
is "$(cksum "$tmp"/want.* | cut -d' ' -f 1 | sort -u | wc -l)" 4 'which are told apart'

# Profiles.
id=$(readelf -n "$tmp/gcc" | sed -n 's/.*Build ID: //p')
in_main "$tmp/gcc" "$tmp/gcc" "$id" >"$tmp/raw"
prof-symbolize "$tmp/raw" >"$tmp/want"
prof-render -f text "$tmp/want" >"$tmp/text"
like "$tmp/text" 'function .*"main" "main" ".*plain.c"' 'the files name it'
idx=$tmp/cache/$(echo "$id" | cut -c1-2)/$(echo "$id" | cut -c3-).idx
same_as() { # same_as DESCRIPTION: as the files themselves say, and no more words
	prof-symbolize --cache="$tmp/cache" "$tmp/raw" >"$tmp/got" 2>"$tmp/err"
	cmp -s "$tmp/got" "$tmp/want" && [ ! -s "$tmp/err" ]
	ok $? "$1" || diag "$tmp/err"
}
damaged() { # damaged DESCRIPTION WHAT: the same, with a note, and the index is made again
	prof-symbolize --cache="$tmp/cache" "$tmp/raw" >"$tmp/got" 2>"$tmp/err"
	cmp -s "$tmp/got" "$tmp/want"
	ok $? "$1: names all the same"
	is "$(cat "$tmp/err")" "prof-symbolize: $idx: $2: not used" "$1: one note"
	cmp -s "$idx" "$tmp/good"
	ok $? "$1: made again"
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
damaged 'cut short' 'damaged index'
printf 'x' | dd of="$idx" bs=1 seek=30 conv=notrunc 2>/dev/null
damaged 'header' 'damaged index'
for part in 150 $((size - 10)); do
	cp "$tmp/good" "$idx"
	printf '\377\1' | dd of="$idx" bs=1 seek="$part" conv=notrunc 2>/dev/null
	damaged "byte $part" 'damaged index'
done
echo junk >"$idx"
damaged 'something else' 'not an index of symbols'
printf 'PPSYMX99' | dd of="$idx" bs=1 conv=notrunc 2>/dev/null
same_as 'of another version'
cmp -s "$idx" "$tmp/good"
ok $? 'which is made again without a word'
rm "$idx"
mkfifo "$idx"
prof-symbolize --cache="$tmp/cache" "$tmp/raw" 2>"$tmp/err" | cmp -s - "$tmp/want"
is $? 0 'a pipe: names all the same'
is "$(wc -l <"$tmp/err")" 2 'that it is none, and that none is kept'
rm "$idx"
gid=$(readelf -n "$tmp/gxx" | sed -n 's/.*Build ID: //p')
prof-symbolize --cache="$tmp/cache" --index "$tmp/gxx"
is $? 0 '--index makes one ahead'
mv "$tmp/cache/$(echo "$gid" | cut -c1-2)/$(echo "$gid" | cut -c3-).idx" "$idx"
damaged 'of another build' 'index of another build'
prof-symbolize --cache=/proc/no/cache "$tmp/raw" 2>"$tmp/err" | cmp -s - "$tmp/want"
is $? 0 'a directory that cannot be written to'
like "$tmp/err" '^prof-symbolize: /proc/no.*: indexes are not kept$' 'is named'

# the profile goes into a pipe, which may be as long as it likes
(ulimit -f 1 && prof-symbolize --cache="$tmp/small" "$tmp/raw" 2>"$tmp/err"
	echo "$?" >"$tmp/status") | cmp -s - "$tmp/want"
is "$? $(cat "$tmp/status")" '0 0' 'a limit on the size of files'
like "$tmp/err" '^prof-symbolize: cannot write .*: File too large: indexes are not kept$' 'is named'
is "$(find "$tmp/small" -type f)" '' 'nothing is left of the index'

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

# Damage further in shows when something there is looked up: no name comes from there.
awk 'BEGIN { for (i = 0; i < 600; i++) printf "int function_%d(int x) { return x * %d; }\n", i, i
	print "int main(void) { return 0; }" }' >"$tmp/many.c"
(cd "$tmp" && gcc -g -O1 many.c -o many)
mid=$(readelf -n "$tmp/many" | sed -n 's/.*Build ID: //p')
midx=$tmp/cache/$(echo "$mid" | cut -c1-2)/$(echo "$mid" | cut -c3-).idx
in_main "$tmp/many" "$tmp/many" "$mid" >"$tmp/raw.many"
prof-symbolize --cache="$tmp/cache" "$tmp/raw.many" >"$tmp/want.many"
cp "$midx" "$tmp/good.many"
size=$(wc -c <"$midx")
spoil() { # spoil OFFSET
	cp "$tmp/good.many" "$midx"
	printf '\377\1' | dd of="$midx" bs=1 seek="$1" conv=notrunc 2>/dev/null
}
part=200 bad=0 seen=0 unseen=0
while [ $part -lt $((size - 2)) ]; do
	spoil $part
	prof-symbolize --cache="$tmp/cache" "$tmp/raw.many" >"$tmp/got" 2>"$tmp/err"
	cmp -s "$tmp/got" "$tmp/want.many" || bad=$((bad + 1))
	if [ ! -s "$tmp/err" ]; then
		unseen=$((unseen + 1))
	elif cmp -s "$midx" "$tmp/good.many"; then
		seen=$((seen + 1))
	else
		bad=$((bad + 1))
	fi
	part=$((part + 2048))
done
is $bad 0 'damage in any block: names all the same, made again where it showed'
[ $seen -gt 2 ] && [ $unseen -gt 2 ]
ok $? 'which it does not everywhere' || echo "$seen seen, $unseen not, $size bytes" | diag -
rm "$tmp/many"
name=$(LC_ALL=C grep -abo 'many\.c' "$tmp/good.many" | head -n 1 | cut -d: -f1)
spoil "$name"
prof-symbolize --cache="$tmp/cache" --report="json:$tmp/report" "$tmp/raw.many" >"$tmp/got" 2>"$tmp/err"
is $? 0 'gone, and damage where the name is: fine'
prof-render -f text "$tmp/got" >"$tmp/text"
is "$(grep -c '^function' "$tmp/text")" 0 'but no name'
like "$tmp/report" '"damaged": *1' 'for that reason'
is "$(cat "$tmp/err")" \
	"prof-symbolize: index in $tmp/cache: damaged index: used where it is whole" 'one note'
prof-symbolize --cache="$tmp/cache" --export-index="$tmp/spoilt" "$tmp/raw.many" >"$tmp/got" 2>"$tmp/err"
[ ! -e "$tmp/spoilt" ]
ok $? 'and it is not handed on'
rm "$midx"

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

# Two at once, and many: each index is whole, and nothing is left behind.
rm -rf "$tmp/cache"
cp "$tmp/full" "$tmp/gcc"
n=0
while [ $((n += 1)) -le 8 ]; do
	{
		prof-symbolize --cache="$tmp/cache" "$tmp/raw" >"$tmp/got.$n" 2>"$tmp/err.$n"
		echo $? >"$tmp/status.$n"
	} &
	prof-symbolize --cache="$tmp/cache" --cache-size=$((n * 1000)) --index "$tmp/gxx" \
		2>"$tmp/err.x$n" &
done
wait
n=0 bad=0
while [ $((n += 1)) -le 8 ]; do
	cmp -s "$tmp/got.$n" "$tmp/want" && [ "$(cat "$tmp/status.$n")" = 0 ] || bad=$((bad + 1))
done
is "$bad" 0 'eight at once: the same names'
cat "$tmp"/err.[0-9x]* >"$tmp/err"
is "$(wc -c <"$tmp/err")" 0 'and no complaint' || diag "$tmp/err"
is "$(find "$tmp/cache" -type f ! -name '*.idx' | wc -l)" 0 'nothing but indexes is left'
same_as 'which can be used'
# while another makes it, nobody waits
rm -f "$idx"
mkdir -p "${idx%/*}"
lock=${idx%/*}/.$(basename "$idx" .idx).lock
(flock 9 && touch "$tmp/held" && while [ ! -e "$tmp/enough" ]; do sleep 0.1; done) 9>"$lock" &
until [ -e "$tmp/held" ]; do sleep 0.1; done
same_as 'while another process makes the index: from the files'
[ ! -e "$idx" ]
ok $? 'without making it too'
touch "$tmp/enough"
wait
same_as 'a lock that was left behind'
[ -e "$idx" ]
ok $? 'does not stand in the way'

# What no index can be made of is not tried again for a while.
(cd "$tmp" && gcc -g -gsplit-dwarf -O1 -o split "$src/plain.c" -lm && rm -f ./*.dwo)
sid=$(readelf -n "$tmp/split" | sed -n 's/.*Build ID: //p')
none=$tmp/cache/$(echo "$sid" | cut -c1-2)/$(echo "$sid" | cut -c3-).none
sed "s|/gcc\" \"$id|/split\" \"$sid|" "$tmp/raw" >"$tmp/raw.split"
prof-symbolize --cache="$tmp/cache" "$tmp/raw.split" 2>"$tmp/err" >"$tmp/got"
prof-symbolize "$tmp/raw.split" | cmp -s - "$tmp/got"
is $? 0 'without its .dwo file: what the files say'
[ -e "$none" ] && [ ! -s "$tmp/err" ]
ok $? 'and that it has no index'
touch -d '1 minute ago' "$none"
find "$none" -printf '%T@' >"$tmp/when"
prof-symbolize --cache="$tmp/cache" "$tmp/raw.split" >"$tmp/got"
is "$(find "$none" -printf '%T@')" "$(cat "$tmp/when")" 'not tried again'
touch -d '2 hours ago' "$none"
find "$none" -printf '%T@' >"$tmp/when"
prof-symbolize --cache="$tmp/cache" "$tmp/raw.split" >"$tmp/got"
[ "$(find "$none" -printf '%T@')" != "$(cat "$tmp/when")" ]
ok $? 'but after a while it is'

# For others: the indexes of what was used.
in_export() { # in_export DESCRIPTION
	cmp -s "$tmp/export/${idx#"$tmp/cache/"}" "$tmp/good"
	ok $? "$1"
}
prof-symbolize --export-index="$tmp/export" "$tmp/raw" | cmp -s - "$tmp/want"
is $? 0 '--export-index: the same names'
in_export 'without a cache'
rm -r "$tmp/export"
prof-symbolize --cache="$tmp/cache" --export-index="$tmp/export" "$tmp/raw" >"$tmp/got"
in_export 'and from one'
rm -r "$tmp/export"
prof-symbolize --export-index="$tmp/export" --index "$tmp/gcc"
in_export 'and ahead'
mv "$tmp/gcc" "$tmp/gcc.away"
prof-symbolize --cache="$tmp/export" "$tmp/raw" | cmp -s - "$tmp/want"
is $? 0 'it serves when the program is gone'
rm -r "$tmp/export"
prof-symbolize --cache="$tmp/cache" --export-index="$tmp/export" "$tmp/raw" | cmp -s - "$tmp/want"
in_export 'and goes from hand to hand'
mv "$tmp/gcc.away" "$tmp/gcc"
run prof-symbolize --export-index="$tmp/export2" -o "$tmp/got" "$tmp/raw.split"
is "$status" 0 'a file without an index is no failure'
like "$tmp/err" '^prof-symbolize: .*/split: no index: ' 'but is named'
is "$(find "$tmp/export2" -type f 2>/dev/null | wc -l)" 0 'and there is nothing in it'
refuses 'an export that cannot be written' \
	prof-symbolize --export-index=/proc/no/where -o "$tmp/got" "$tmp/raw"

# --index does not put less in the place of more.
strip "$tmp/gcc"
prof-symbolize --cache="$tmp/cache" --index "$tmp/gcc"
is $? 0 '--index of the stripped file'
cmp -s "$idx" "$tmp/good"
ok $? 'leaves the better one'

refuses 'no cache' prof-symbolize --index "$tmp/gxx"
refuses 'no program' prof-symbolize --cache="$tmp/cache" --index </dev/null
refuses 'not a program' prof-symbolize --cache="$tmp/cache" --index "$tmp/raw"
refuses 'no such file' prof-symbolize --cache="$tmp/cache" --index "$tmp/none"
gcc -Wl,--build-id=none "$src/plain.c" -o "$tmp/noid" -lm
refuses 'no build id' prof-symbolize --cache="$tmp/cache" --index "$tmp/noid"
done_testing
