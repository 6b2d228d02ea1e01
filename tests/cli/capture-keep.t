#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# prof-capture --keep-binaries: what is gone after the capture can be symbolized.
. "$top/tests/lib/tap.sh"
. "$top/tests/lib/capture.sh"

needs_capture
kept=$tmp/kept
export tmp

build_id() {
	readelf -n "$1" | sed -n 's/.*Build ID: //p'
}

place() { # place ID: where a copy is
	echo "$kept/.build-id/$(echo "$1" | cut -c 1-2)/$(echo "$1" | cut -c 3-)"
}

# named FILE: as stacks, with debug information from what was kept alone
named() {
	prof-symbolize -q --sysroot="$tmp/none" --debug-dir="$kept" "$1" |
		prof-render -f folded -t samples
}

# --- a container's program -----------------------------------------------------------------------
id=$(build_id "$workload")
cat >"$tmp/inside" <<-'END'
	mount -t tmpfs none "$tmp/mnt" || exit 77
	cp "$tmp/program" "$tmp/mnt/program"
	"$tmp/mnt/program" split 1 >/dev/null
END
mkdir "$tmp/mnt" "$tmp/none"
cp "$workload" "$tmp/program"
if unshare -m true 2>/dev/null; then
	run prof-capture -v -F 999 --keep-binaries "$kept" -o "$tmp/p" -- unshare -m sh "$tmp/inside"
	is "$status" 0 'a program in a file system that is gone with it' || diag "$tmp/err"
	like "$tmp/err" 'kept [0-9]+ files of [0-9]+ KiB; 0 were there, 0 are above the limit' 'told with -v'
	rm "$tmp/program"
	cmp -s "$(place "$id")" "$workload"
	ok $? 'is kept as it was' || find "$kept" | diag
	named "$tmp/p" >"$tmp/s"
	all=$(samples 'hot_(major|minor)' <"$tmp/s")
	whole=$(samples '(^|;)main;split;hot_(major|minor)(;|$)' <"$tmp/s")
	[ "$all" -gt 500 ] && most "$whole" "$all" 98
	ok $? "and gives its names back: $whole of $all samples" || diag "$tmp/s"
	libc=$(prof-render -f text "$tmp/p" | sed -n 's/^mapping .* "\(.*libc\.so\.6\)" .*/\1/p' | head -n 1)
	cmp -s "$(place "$(build_id "$libc")")" "$libc"
	ok $? "its libraries are kept, too: $libc"
else
	skip 'no mount namespaces here' 'a program in a file system that is gone with it'
	prof-capture -q -F 999 --keep-binaries "$kept" -o "$tmp/p" -- "$workload" split 1 >&2
fi

# --- which, and how many -------------------------------------------------------------------------
find "$kept" -type f | sed 's/.*build-id//; s|/||g' >"$tmp/ids"
sort "$tmp/ids" | uniq -d >"$tmp/twice"
[ -s "$tmp/ids" ] && [ ! -s "$tmp/twice" ]
ok $? 'one copy for each build id'
prof-render -f text "$tmp/p" | awk '$1 == "mapping" { print $7 }' | tr -d '"' | sort -u >"$tmp/mapped"
is "$(sort "$tmp/ids" | comm -23 - "$tmp/mapped")" '' 'and none that is in no stack' || diag "$tmp/mapped"
is "$(find "$kept" -name '.*' -type f)" '' 'nothing else is there'

before=$(stat -c %Y.%i "$(place "$id")")
run prof-capture -v -F 999 --keep-binaries "$kept" -o "$tmp/p" -- "$workload" clock 0.5
like "$tmp/err" 'kept [0-9]+ files .*; [1-9][0-9]* were there' 'what is there is not copied again'
is "$(stat -c %Y.%i "$(place "$id")")" "$before" 'indeed'
named "$tmp/p" >"$tmp/s"
all=$(samples 'clock_load' <"$tmp/s")
# what it exports, that is: there are no other names in it
n=$(samples 'main;clock_load;.*__(vdso|kernel)_clock_gettime' <"$tmp/s")
most "$n" "$all" 50
ok $? "the vDSO is kept and named, too: $n of $all" || diag "$tmp/s"

# --- limits --------------------------------------------------------------------------------------
kept=$tmp/small
run prof-capture -F 999 --keep-binaries "$kept" --keep-limit 100K -o "$tmp/p" -- "$workload" split 0.5
is "$status" 0 'a limit: the capture goes on'
is "$(grep -c 'is full by --keep-limit' "$tmp/err")" 1 'and says once what is not kept' || diag "$tmp/err"
size=$(find "$kept" -type f -printf '%s\n' | awk '{ s += $1 } END { print s + 0 }')
[ "$size" -le 102400 ]
ok $? "not more than that is there: $size bytes"
refuses '--keep-limit alone' prof-capture --keep-limit 1G -d 1
refuses 'a directory that cannot be' prof-capture -d 1 --keep-binaries "$workload/x"

# --- few files may be open -----------------------------------------------------------------------
kept=$tmp/few
# shellcheck disable=SC2016 # for the other shell
prlimit --nofile=20: \
	prof-capture -F 999 --keep-binaries "$kept" --cache "$tmp/cache" -o "$tmp/p" -- \
	sh -c 'prlimit --nofile -p $$ -o SOFT --noheadings >"$0"; exec "$1" split 0.5' \
	"$tmp/limit" "$workload" >/dev/null 2>"$tmp/err"
[ -e "$(place "$id")" ] && [ "$(find "$tmp/cache" -name '*.unwind' | wc -l)" -ge 2 ]
ok $? 'a small soft limit of files is none for a capture' || diag "$tmp/err"
is "$(tr -d " " <"$tmp/limit")" 20 'but it is for the command'

# --- who may read what ---------------------------------------------------------------------------
kept=$tmp/modes
cp "$workload" "$tmp/secret"
chmod 700 "$tmp/secret"
prof-capture -q -F 999 --keep-binaries "$kept" -o "$tmp/p" -- "$tmp/secret" split 0.5 >/dev/null
is "$(stat -c %a "$(place "$id")")" 600 'a program that others may not read: nor its copy'
mkdir "$tmp/theirs"
chown 65534 "$tmp/theirs"
kept=$tmp/theirs/kept
mkdir "$kept"
chown 65534 "$kept"
prof-capture -q -F 999 --keep-binaries "$kept" -o "$tmp/p" -- "$workload" split 0.5 >/dev/null
[ -e "$(place "$id")" ]
ok $? "in a directory of somebody else's"
done_testing
