#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# prof-spool among those that mean it harm: numbers that leave 64 bits, times that no profile has,
# names that a line does not hold, a new store on a disk that is full.
. "$top/tests/lib/tap.sh"
. "$top/tests/lib/spool.sh"

store=$tmp/store
profiles "$tmp/in" 1790000000 3 10
first=$(find "$tmp/in" -type f | sort | head -n 1)
prof-spool init "$store"

# --- numbers -------------------------------------------------------------------------------------

for what in 'keep=raw=99999y' 'keep=1d=999999999999d' 'keep=raw=9999999999999y' 'max-bytes=99999999T' \
	'min-free=9999999999G' 'max-bytes=9999999999999M' 'max-bytes=99999999999999' 'keep=raw=x' 'keep=raw=-1d'; do
	refuses "init --$what" prof-spool init "--$what" "$store"
done
refuses 'init: a new one' prof-spool init --max-bytes=99999999T "$tmp/new"
[ ! -e "$tmp/new" ]
ok $? '... is not made'
for keep in raw=x raw=99999y 5m=1d raw=5d,1m=1d; do
	refuses "init --keep=$keep: a new one" prof-spool init "--keep=$keep" "$tmp/new"
	[ ! -e "$tmp/new" ]
	ok $? '... is not made'
done
mkdir "$tmp/half" "$tmp/half/new" "$tmp/half/raw" && : >"$tmp/half/.lock"
prof-spool init "$tmp/half" && prof-spool add "$tmp/half" "$first"
ok $? 'an init that was killed is done again'
rm -r "$tmp/half" && mkdir "$tmp/half" "$tmp/half/raw" && echo x >"$tmp/half/.lock"
refuses '... but not over files of others' prof-spool init "$tmp/half"
for what in x 99999y 99999999999999999999 -5 ''; do
	refuses "status --max-age=$what" prof-spool status "--max-age=$what" "$store"
done
prof-spool init --keep=raw=0009999y,1m=9999y,1h=9999y --max-bytes=999999T "$store"
ok $? 'what fits is taken'
prof-spool add "$store" "$tmp/in"/*.pb.gz
run prof-spool tend -q "$store"
is "$status $(cat "$tmp/err")" '0 ' '... and counted with'
run prof-spool status --max-age=9999y "$store"
is "$status" 0 '... in both directions'

# --- times -----------------------------------------------------------------------------------------

prof-merge "$tmp/in" >"$tmp/want"
for range in --since=1900-01-01 --since=-9999y --since=-99999999999d --since=@00 --until=@9223372036 \
	--until=@5000000000000 --until=@9999999999999 --until=9999-12-31 --until=12345-01-01; do
	prof-spool query "$store" "$range" >"$tmp/got" 2>"$tmp/err"
	same "$tmp/got" "$tmp/want" "query $range has all"
	is "$(prof-spool query --files "$store" "$range" 2>&1 | sed "s|$store/||; s|/.*||")" 1d '... from the coarsest'
done
for range in --until=1900-01-01 --until=-9999y --since=@9999999999999 --since=12345-01-01 --since=@-5 \
	--since= --until=@ --since=@99999999999999; do
	refuses "query $range has none" prof-spool query "$store" "$range"
done

# --- names -----------------------------------------------------------------------------------------

cd "$tmp" || exit
mkdir 'a dir
of lines '
for name in 'a b' 'a  ' ' a' '-a' 'a
b' 'a
' 'a dir
of lines /x y ' 'a\nb' 'a	'; do
	cp "$first" "./$name"
	rm -rf "$store"
	prof-spool init "$store"
	run prof-spool add "$store" "$name"
	is "$status $(cat err) $(files raw)" '0  1' "a file named '$(printf %s "$name" | tr '\n' ' ')'"
done
cd 'a dir
of lines ' || exit
prof-spool add "$store" 'x y '
is "$? $(files raw)" '0 1' 'a directory of lines'
mkdir "$tmp/else" "$tmp/here"
prof-spool init "$tmp/else/here"
(cd "$tmp" && CDPATH=$tmp/else prof-spool init here && CDPATH=$tmp/else prof-spool add here "$first")
is "$? $(find "$tmp/here/raw" "$tmp/else" -name '*.pb.gz' | sed "s|$tmp/||; s|/.*||")" '0 here' \
	'a store here is not one that CDPATH leads to'
refuses 'a store with lines for a name' prof-spool init "$tmp/a
b c"
like "$tmp/err" 'a line feed in its name' '... and says why'
refuses '... that is one' prof-spool status "$tmp/a dir
of lines "
is "$(ls)" 'x y ' '... and nothing is made'

# --- a disk that is full ---------------------------------------------------------------------------

cat >"$tmp/disk.sh" <<'END'
set -u
mkdir "$tmp/disk" && mount -t tmpfs -o size=64k,nr_inodes=20 none "$tmp/disk" || exit 77
fill() {
	dd if=/dev/zero of="$tmp/disk/fill" bs=1k
} 2>/dev/null
init() {
	prof-spool init "$@" "$tmp/disk/s"
	echo "init $?"
	find "$tmp/disk/s" -name .mark.new
}
fill
init --keep=raw=1d
rm "$tmp/disk/fill"
init --keep=raw=1d
fill
init --keep=raw=9h
rm "$tmp/disk/fill"
grep keep-raw "$tmp/disk/s/.profpipe-store"
rm -r "$tmp/disk/s"
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13; do
	: >"$tmp/disk/$i"
done
init
rm "$tmp/disk/"[0-9]*
init
END
export tmp
unshare -m sh "$tmp/disk.sh" >"$tmp/disk.out" 2>"$tmp/disk.err"
case $? in
77 | 1) skip 'no file system can be mounted here' 'a full disk' ;;
*)
	is "$(tr '\n' ' ' <"$tmp/disk.out")" \
		'init 2 init 0 init 2 keep-raw=1d init 2 init 0 ' 'init, where there is no room, and where there is' ||
		diag "$tmp/disk.err"
	is "$(sort "$tmp/disk.err" | uniq -c | sed 's/^ *//')" \
		"3 prof-spool: $tmp/disk/s: No space left on device" '... a line each'
	;;
esac
done_testing
