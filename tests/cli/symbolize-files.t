#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Which file is used, and that a wrong one never is: the reason is told instead.
. "$top/tests/lib/tap.sh"

command -v gcc >/dev/null || skip_all 'no gcc'
src=$top/tests/symbolize
id=00112233445566778899aabbccddeeff00112233
mkdir -p "$tmp/bin" "$tmp/dbg" "$tmp/none"

# program ID FILE: build with that build id ("" for none)
program() {
	if [ -n "$1" ]; then
		note=-Wl,--build-id=0x$1
	else
		note=-Wl,--build-id=none
	fi
	gcc -g -O2 "$note" -DBUILD_ID="\"$1\"" "$src/whereami.c" -o "$2"
}

# sym OPTIONS…: $tmp/profile through the program; sets $names to the functions' names
sym() {
	run prof-symbolize -v --debug-dir="$tmp/dbg" "$@" "$tmp/profile"
	names=$(prof-render -f text "$tmp/out" | sed -n 's/^function [0-9]* "\([^"]*\)".*/\1/p' | xargs)
}
both='first_function second_function'

program "$id" "$tmp/bin/prog"
"$tmp/bin/prog" >"$tmp/profile"
cp "$tmp/bin/prog" "$tmp/good"

sym
is "$names" "$both" 'a binary with its debug information'
like "$tmp/err" '^prog +2  dwarf +2$' 'told as such'
like "$tmp/err" "^/.*/bin/prog, build id $id\$" 'with path and build id'

# stripped: dynsym, symtab, debug file
strip --strip-debug -o "$tmp/bin/prog" "$tmp/good"
sym
is "$names" "$both" 'a binary with symbols alone'
like "$tmp/err" '^prog +2  symtab +2$' 'told as such'
like "$tmp/err" '^  lines would need .build-id/00/1122.*\.debug$' 'and what would help'
strip -o "$tmp/bin/prog" "$tmp/good"
sym
is "$names" '' 'a stripped binary'
like "$tmp/err" '^prog +2 +no-function +2$' 'has no function there that it tells of'

objcopy --only-keep-debug "$tmp/good" "$tmp/good.debug"
mkdir -p "$tmp/dbg/.build-id/00"
cp "$tmp/good.debug" "$tmp/dbg/.build-id/00/${id#00}.debug"
sym
is "$names" "$both" 'debug file by build id'
like "$tmp/err" '^prog +2  dwarf +2$' 'told as such'
like "$tmp/err" '^  debug file .*/dbg/.build-id/00/' 'named'

# another build at any of the places is refused
program ffffffff "$tmp/other"
objcopy --only-keep-debug "$tmp/other" "$tmp/dbg/.build-id/00/${id#00}.debug"
sym
is "$names" '' 'debug file of another build, in the right place'
like "$tmp/err" "${id#00}.debug: build id differs" 'refused with the reason'
rm "$tmp/dbg/.build-id/00/${id#00}.debug"
cp "$tmp/other" "$tmp/bin/prog"
sym
is "$names" '' 'binary of another build'
like "$tmp/err" '^prog +2 +build-id-mismatch +2$' 'the reason'
like "$tmp/err" '^  /.*/bin/prog: build id differs$' 'and the file'
like "$tmp/err" '^  wanted: .*/bin/prog with build id 0011' 'and what is wanted'
program '' "$tmp/bin/prog"
sym
is "$names" '' 'binary without a build id where one is wanted'
like "$tmp/err" '^prog +2 +build-id-mismatch +2$' 'is a mismatch'
like "$tmp/err" '^  /.*/bin/prog: has no build id$' 'with the reason'

# other ways to the right one
sym --binary "$tmp/other" --binary "$tmp/good"
is "$names" "$both" '--binary, chosen by build id'
mkdir -p "$tmp/root$tmp/bin" "$tmp/root/real"
cp "$tmp/good" "$tmp/root/real/prog"
ln -s /real/prog "$tmp/root$tmp/bin/prog"
sym --sysroot "$tmp/none" --sysroot "$tmp/root"
is "$names" "$both" '--sysroot, over a link that is absolute inside it'
ln -sf ../../../../../../../../../../../../../../../../etc/passwd "$tmp/root$tmp/bin/prog"
sym --sysroot "$tmp/root"
is "$names" '' 'a link out of the sysroot stays inside'
mkdir -p "$tmp/root/usr/lib/debug/.build-id/00"
cp "$tmp/good.debug" "$tmp/root/usr/lib/debug/.build-id/00/${id#00}.debug"
strip -o "$tmp/bin/prog" "$tmp/good"
sym --sysroot "$tmp/root"
is "$names" "$both" 'debug file in the sysroot'
rm -r "$tmp/root/usr"

# .gnu_debuglink, beside, in .debug, in the debug directory
strip -o "$tmp/bin/prog" "$tmp/good"
cp "$tmp/good.debug" "$tmp/bin/prog.debug"
objcopy --add-gnu-debuglink="$tmp/bin/prog.debug" "$tmp/bin/prog"
sym
is "$names" "$both" 'debug link beside the binary'
mkdir "$tmp/bin/.debug"
mv "$tmp/bin/prog.debug" "$tmp/bin/.debug/prog.debug"
sym
is "$names" "$both" 'debug link in .debug'
mkdir -p "$tmp/dbg$tmp/bin"
mv "$tmp/bin/.debug/prog.debug" "$tmp/dbg$tmp/bin/prog.debug"
sym
is "$names" "$both" 'debug link below the debug directory'
objcopy --only-keep-debug "$tmp/other" "$tmp/dbg$tmp/bin/prog.debug"
sym
is "$names" '' 'debug link to another build'
rm -r "${tmp:?}/dbg$tmp"

# without build ids the checksum decides
program '' "$tmp/good0"
objcopy --only-keep-debug "$tmp/good0" "$tmp/bin/prog.debug"
cp "$tmp/good0" "$tmp/bin/prog"
"$tmp/bin/prog" >"$tmp/profile"
strip "$tmp/bin/prog"
objcopy --add-gnu-debuglink="$tmp/bin/prog.debug" "$tmp/bin/prog"
sym
is "$names" "$both" 'debug link without build ids, right checksum'
like "$tmp/err" 'unverified: the mapping has no build id' 'told as unverified'
printf x >>"$tmp/bin/prog.debug"
sym
is "$names" '' 'wrong checksum'
like "$tmp/err" 'prog.debug: checksum differs' 'is the reason'
cp "$tmp/bin/prog" "$tmp/bin/prog.debug" # a link to what it is in
ln -f "$tmp/bin/prog" "$tmp/bin/prog.debug"
sym
is "$names" '' 'a debug link that leads back to the binary'

# of a system elsewhere, as one without build ids has them: that system's own debug files
image=$tmp/image
program '' "$tmp/bin/prog"
"$tmp/bin/prog" >"$tmp/profile"
mkdir -p "$image$tmp/bin" "$image/usr/lib/debug$tmp/bin" "$tmp/trees$tmp/bin" "$image/moved"
objcopy --only-keep-debug "$tmp/bin/prog" "$tmp/prog.debug"
strip -o "$image$tmp/bin/prog" "$tmp/bin/prog"
(cd "$tmp" && objcopy --add-gnu-debuglink=prog.debug "$image$tmp/bin/prog")
rm -f "$tmp"/bin/prog*
sym --sysroot="$image"
is "$names" '' 'a sysroot without debug files'
sed -n 's/^ *looked at \(.*prog\.debug:\)/\1/p' "$tmp/err" | grep -v "^/usr/lib/debug$tmp" >"$tmp/got"
cat >"$tmp/want" <<END
$image$tmp/bin/prog.debug: no such file
$image$tmp/bin/.debug/prog.debug: no such file
$tmp/dbg$tmp/bin/prog.debug: no such file
$image/usr/lib/debug$tmp/bin/prog.debug: no such file
END
same "$tmp/got" "$tmp/want" 'which are looked for where the binary is in it'
mv "$tmp/prog.debug" "$image/usr/lib/debug$tmp/bin"
sym --sysroot="$tmp/none" --sysroot="$image"
is "$names" "$both" 'debug link below the sysroot'
mv "$image/usr/lib/debug$tmp/bin/prog.debug" "$image/moved"
ln -s /moved/prog.debug "$image/usr/lib/debug$tmp/bin"
sym --sysroot="$image"
is "$names" "$both" 'over a link that is absolute inside it'
mv "$image/moved/prog.debug" "$tmp/trees$tmp/bin"
sym --sysroot="$image" --debug-dir="$tmp/trees"
is "$names" "$both" 'debug link below a debug directory, by the path in the sysroot'

# deleted files
program "$id" "$tmp/bin/prog"
"$tmp/bin/prog" | sed 's|\(/bin/prog\)"|\1 (deleted)"|' >"$tmp/profile"
sym
is "$names" "$both" 'a deleted file whose path holds the same build again'
program '' "$tmp/bin/prog"
"$tmp/bin/prog" | sed 's|\(/bin/prog\)"|\1 (deleted)"|' >"$tmp/profile"
sym
is "$names" '' 'a deleted file without a build id is nobody knows what'
like "$tmp/err" 'no-file +2$' 'no file'
rm "$tmp/bin/prog"
sym
like "$tmp/err" '^prog.* +2 +no-file +2$' 'a file that is gone'

# what is no file, or no program
for what in fifo directory text empty unreadable; do
	rm -rf "$tmp/bin/prog"
	case $what in
	fifo)
		mkfifo "$tmp/bin/prog"
		sh -c 'echo written >"$1"; echo opened >"$2"' sh "$tmp/bin/prog" "$tmp/opened" \
			2>/dev/null &
		writer=$!
		;;
	directory) mkdir "$tmp/bin/prog" ;;
	text) echo text >"$tmp/bin/prog" ;;
	empty) : >"$tmp/bin/prog" ;;
	unreadable) ln -s prog "$tmp/bin/prog" ;;
	esac
	sed 's/ (deleted)//' "$tmp/profile" >"$tmp/p" && cp "$tmp/p" "$tmp/profile"
	sym
	is "$status$names" 0 "$what in the place of the binary"
	like "$tmp/err" '^prog +2 +unusable-file +2$' "$what: unusable"
	[ "$what" = fifo ] || continue
	sleep 0.2
	kill "$writer" 2>/dev/null && [ ! -e "$tmp/opened" ]
	ok $? 'a FIFO is not even opened'
	wait "$writer" 2>/dev/null
done

# Names that are no UTF-8: those of files are bytes, and found by them; those of sources and functions
# become UTF-8, since that is what strings are in pprof. The text twin tells them apart.
. "$top/tests/lib/inmain.sh"
odd=$(printf 'd\377r') mark=$(printf '\357\277\275')
mkdir "$tmp/$odd"
printf 'int main(int n, char **v) { (void)v; return n; }\n' >"$tmp/$odd/a.c"
gcc -g -O0 "$tmp/$odd/a.c" -o "$tmp/plainly"
objcopy --redefine-sym main="$(printf '\377m\303\244\303in\355\240\200')" "$tmp/plainly" "$tmp/$odd/prog"
in_main "$tmp/plainly" "$tmp/d\\xffr/prog" "$(readelf -n "$tmp/plainly" | sed -n 's/.*Build ID: //p')" >"$tmp/raw"
for cache in '' '--cache'; do
	for again in 1 2; do
		prof-symbolize ${cache:+"$cache=$tmp/cache $odd"} --report=json:"$tmp/report" -o "$tmp/out.pb.gz" "$tmp/raw"
		prof-render -f text "$tmp/out.pb.gz" >"$tmp/text"
		like "$tmp/text" '^mapping 1 .*/d[\]xffr/prog"' "no UTF-8 in a path, ${cache:-no cache} $again: as it is"
		grep -q "^function 1 \"main\" \"main\" \".*/d${mark}r/a\.c\" 1$" "$tmp/text"
		ok $? 'nor in the path of its source: a mark in the place' || diag "$tmp/text"
	done
done
if command -v python3 >/dev/null; then
	python3 -c 'import json, sys; json.load(open(sys.argv[1], encoding="utf-8"))' "$tmp/report"
	ok $? 'the report is JSON all the same'
else
	skip 'no python3' 'the report is JSON all the same'
fi
strip -g "$tmp/$odd/prog"
prof-symbolize "$tmp/raw" >"$tmp/out.pb.gz"
prof-render -f text "$tmp/out.pb.gz" >"$tmp/text"
grep -q "^function 1 \"\(${mark}mä${mark}in$mark$mark$mark\)\" \"\1\" \"\" 0$" "$tmp/text"
ok $? 'nor in a symbol' || diag "$tmp/text"
prof-symbolize --force "$tmp/out.pb.gz" | cmp -s - "$tmp/out.pb.gz"
is $? 0 'once more: the same bytes'
done_testing
