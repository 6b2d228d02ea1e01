#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# prof-spool: whatever it does and whatever is done to it, a query has each profile once.
. "$top/tests/lib/tap.sh"
. "$top/tests/lib/spool.sh"

store=$tmp/store
# forty minutes around a midnight, long ago
midnight=$(($(date +%s) / 86400 * 86400 - 5 * 86400))
profiles "$tmp/in" $((midnight - 1200)) 240 10

run prof-spool init --keep=raw=20d,1m=30d "$store"
is "$status" 0 'a store is made'
is "$(stat -c %a "$store")" 750 'that others do not read'
refuses 'its levels overlap, so no other program reads it' prof-merge "$store"
like "$tmp/err" 'use prof-spool query' 'and says what does'
mkdir "$tmp/full"
: >"$tmp/full/x"
refuses 'what is not empty is no new store' prof-spool init "$tmp/full"
refuses 'a coarser level is kept no shorter' prof-spool init --keep=raw=5d,1m=1d "$store"
refuses 'what is no store' prof-spool tend "$tmp/full"
refuses 'an unknown command' prof-spool frob
refuses 'an empty store' prof-spool query "$store"
run prof-spool verify "$store"
is "$status $(cat "$tmp/err")" '0 ' 'in which nothing is wrong'

# half of it, and the same again in part: a file taken twice is there once
find "$tmp/in" -name '*.pb.gz' | sort >"$tmp/names"
sed -n 'n;p' "$tmp/names" | xargs prof-spool add "$store"
is "$(files raw)" 120 'files are added'
head -n 8 "$tmp/names" | xargs prof-spool add "$store"
is "$(files raw)" 124 'each once'
run prof-spool tend -q "$store"
is "$status $(cat "$tmp/err")" '0 ' 'minutes, hours and days are added up'
is "$(files 1d) $(files 1h)" '2 2' 'as many as there are'
is "$(prof-spool query --files "$store" | wc -l)" 2 'a query reads the coarsest'
# the other half comes late: what was made of it is made again
xargs prof-spool add "$store" <"$tmp/names"
is "$(files raw) $(files 1d)" '240 0' 'what comes late opens its windows again'
each_once 'a query has each profile once, while nothing is added up' "$tmp/in"
prof-spool tend -q "$store"
each_once 'and when all is' "$tmp/in"
is "$(prof-spool query --files "$store" | wc -l)" 2 'from the coarsest'
run prof-spool verify --deep "$store"
is "$status $(cat "$tmp/out")" '0 ' 'each file is the sum of its parts'

# ranges of time that begin and end anywhere
bad=0
for r in '7 1300' '1201 1799' '1200 1260' '0 2400' '1195 2399' '60 60000' '1800 1810'; do
	since=$((midnight - 1200 + ${r% *})) until=$((midnight - 1200 + ${r#* }))
	prof-merge -q --since="@$since" --until="@$until" "$tmp/in" >"$tmp/want" 2>"$tmp/want.err"
	prof-spool query "$store" --since="@$since" --until="@$until" -q >"$tmp/got" 2>"$tmp/err"
	cmp -s "$tmp/got" "$tmp/want" || bad=$((bad + 1))
done
is "$bad" 0 'any range is that of the files themselves'
t=$((midnight - 600))
is "$(prof-spool query --since=@$t --until=@$((t + 1200)) --files "$store" | sed 's|.*/store/||; s|/.*||' |
	sort | uniq -c | tr -s ' \n' ' ')" ' 20 1m ' 'minutes where an hour is not whole'
prof-spool query "$store" --window=10m | prof-render -f timeline >"$tmp/got"
prof-merge --window=10m "$tmp/in" | prof-render -f timeline >"$tmp/want"
same "$tmp/got" "$tmp/want" 'windows are cut from what is no longer than they are'
run prof-spool query "$store" -s comm=c1 -o "$tmp/c1"
prof-merge -s comm=c1 -o "$tmp/want" "$tmp/in"
same "$tmp/c1" "$tmp/want" "prof-merge's options select and name the output"
refuses 'a range with nothing in it' prof-spool query "$store" --since=@5 --until=@6
refuses 'a time that is none' prof-spool query "$store" --since=sometime

# Killed at any moment, with all that it started; two at a time; and again.
for round in 1 2 3 4 5; do
	# late files of the past, each time others
	sed -n "$round~29p" "$tmp/names" | while read -r f; do
		prof-merge -q --label=late=$round -o "$tmp/in/late$round-${f##*/}" "$f"
	done
	setsid prof-spool add "$store" "$tmp/in/late$round"-* 2>/dev/null &
	adder=$!
	setsid prof-spool tend -q "$store" 2>/dev/null &
	tender=$!
	sleep "0.$((round * 7 % 10))$round"
	kill -KILL -- "-$adder" "-$tender" 2>/dev/null
	wait "$adder" "$tender" 2>/dev/null
	prof-spool add "$store" "$tmp/in/late$round"-* || break
	[ $((round % 2)) = 1 ] || prof-spool tend -q "$store" || break
done
each_once 'killed at any moment and done again, a query has each profile once' "$tmp/in"
prof-spool tend -q "$store" &
prof-spool tend -q "$store"
wait $!
each_once 'as when two add up at once' "$tmp/in"
run prof-spool verify --deep "$store"
is "$status $(cat "$tmp/out")" '0 ' 'each file is the sum of its parts'
is "$(find "$store" -name '.*' -type f | sed 's|.*/||' | sort | tr '\n' ' ')" \
	'.lock .profpipe-store .run ' 'nothing half done is left'

# What is old goes, finest first, and what was made of it stays.
prof-spool init --keep=raw=4d,1m=30d "$store"
prof-spool tend -q "$store"
is "$(files raw) $([ "$(files 1m)" -gt 35 ] && echo kept)" '0 kept' 'the finest go'
each_once 'nothing is lost by it' "$tmp/in"
profiles "$tmp/late" $((midnight + 1)) 1 10
prof-spool add "$store" "$tmp/late"/* 2>"$tmp/err"
like "$tmp/err" 'lost: bad/.*: its window is closed' 'what comes when its minute is closed is lost, and said'
is "$(find "$store/bad" -type f | wc -l)" 1 'but kept'
run prof-spool status "$store"
like "$tmp/out" '^lost: 1 files: its window is closed' 'and counted'
like "$tmp/out" '^1d: 2 files, ' 'beside what there is'
prof-spool init --keep=1m=4d,1h=4d "$store"
prof-spool tend -q "$store"
is "$(files 1m) $(files 1h) $(files 1d)" '0 0 2' 'then minutes and hours'
each_once 'and days have all' "$tmp/in"
prof-spool query "$store" --since=@$((midnight + 3600)) >"$tmp/out" 2>"$tmp/err"
is "$?" 2 'a range that begins within the last day has nothing of it'
prof-spool init --keep=1d=4d "$store"
prof-spool tend -q "$store"
is "$(files 1d)" 0 'and days at last'

# A size.
rm -rf "$store"
prof-spool init --max-bytes=100K "$store"
head -n 120 "$tmp/names" | xargs prof-spool add "$store"
prof-spool tend -q "$store"
size=$(du -sk --apparent-size "$store" | cut -f1)
[ "$size" -le 100 ]
ok $? 'the finest go where there is too much' || du -k "$store" | diag
is "$(files raw)" 0 'of the smallest level'
head -n 120 "$tmp/names" | xargs prof-merge >"$tmp/want"
prof-spool query "$store" >"$tmp/got"
same "$tmp/got" "$tmp/want" 'and the sums stay'

# Files that are damaged.
rm -rf "$store"
prof-spool init --keep=raw=30d,1m=30d "$store"
head -n 60 "$tmp/names" | xargs prof-spool add "$store"
victim=$(find "$store/raw" -name '*.pb.gz' | sort | sed -n 5p)
truncate -s -7 "$victim"
none=$(find "$store/raw" -name '*.pb.gz' | sort | sed -n 9p)
: >"$none"
run prof-spool verify "$store"
is "$status" 1 'verify finds a file cut short'
like "$tmp/out" "${victim##*/}" 'and names it'
like "$tmp/out" "${none##*/}: empty file" 'and one of no bytes'
prof-spool tend "$store" 2>"$tmp/err"
is "$?" 0 'adding up goes on without it'
like "$tmp/err" "lost: bad/${victim##*/}: cannot be read" 'and says so'
like "$tmp/err" "lost: bad/${none##*/}: cannot be read" 'of both'
is "$(prof-spool query "$store" |
	prof-render -f text | sed -n 's/.*merged=\([0-9]*\).*/\1/p')" 58 'with all the others'
victim=$(find "$store/1m" -name '*.pb.gz' | sort | sed -n 3p)
truncate -s -7 "$victim"
run prof-spool verify "$store"
is "$status" 1 'a minute that is damaged is found too'
# an hour that is opened again finds it, and has its parts
prof-merge -q --label=x=y -o "$tmp/new.pb.gz" "$(sed -n 30p "$tmp/names")"
prof-spool add "$store" "$tmp/new.pb.gz"
prof-spool tend -q "$store"
run prof-spool verify --deep "$store"
is "$status $(cat "$tmp/out")" '0 ' 'and made again from its parts'

# whose it is: what root adds is the owner's, and others are told what they may not
run prof-spool query "$store" -s
is "$status $(grep -c 's.*argument' "$tmp/err")" '2 1' 'an option without its argument'
(umask 022 && prof-spool query "$store" -o "$tmp/mine" 2>"$tmp/err")
is "$(stat -c %a "$tmp/mine")" 644 'the output of a query is as readable as any file'
run prof-spool init "$tmp/last" --keep=raw=010d
is "$status $(grep keep-raw "$tmp/last/.profpipe-store")" '0 keep-raw=010d' 'init: DIR may come first'
(cd "$tmp" && prof-spool init -- -store)
ok "$?" 'and may begin with a dash after --'
refuses 'two DIRs' prof-spool init "$tmp/last" -- "$tmp/last"
as_other='setpriv --reuid=65534 --regid=65534 --clear-groups'
if [ "$(id -u)" != 0 ] || ! $as_other prof-spool --version >/dev/null 2>&1; then
	skip 'needs root, and programs that all may run' 'a store of another user'
else
	chmod 711 "$tmp"
	chown -R 65534:65534 "$tmp/last"
	head -n 2 "$tmp/names" | xargs prof-spool add "$tmp/last"
	prof-spool tend -q "$tmp/last"
	is "$(find "$tmp/last" ! -user 65534)" '' "what root adds is the owner's of the store"
	run $as_other prof-spool query "$tmp/last" --files
	is "$status $(wc -l <"$tmp/out")" '0 1' 'who can read it'
	for command in "query $store" "status $store" "tend $store" "init $store" "init $tmp/other" "add $store $tmp/mine"; do
		# shellcheck disable=SC2086 # words
		run $as_other prof-spool $command
		is "$status $(grep -c '^prof-spool: .*: Permission denied$' "$tmp/err") $(wc -l <"$tmp/err")" '2 1 1' "another user: ${command%% *}"
	done
	chmod -R a+rX "$store"
	run $as_other prof-spool tend "$store"
	is "$status $(cat "$tmp/err")" "2 prof-spool: $store: Permission denied" 'a store that can be read only'
fi

# A disk that is full.
cat >"$tmp/disk.sh" <<'END'
set -u
mkdir "$tmp/disk" && mount -t tmpfs -o size=400k none "$tmp/disk" || exit 77
prof-spool init "$tmp/disk/s" || exit 1
n=0
while read -r f && prof-spool add "$tmp/disk/s" "$f" 2>"$tmp/disk.err"; do
	n=$((n + 1))
done <"$tmp/names"
echo "added $n" >"$tmp/disk.out"
prof-spool tend "$tmp/disk/s" 2>>"$tmp/disk.err"
echo "tend $?" >>"$tmp/disk.out"
prof-spool query "$tmp/disk/s" >"$tmp/got" 2>>"$tmp/disk.err"
head -n "$n" "$tmp/names" | tr '\n' '\0' | prof-merge --files0-from=- >"$tmp/want"
cmp "$tmp/got" "$tmp/want" && echo same >>"$tmp/disk.out"
mount -o remount,size=4m "$tmp/disk" && prof-spool tend -q "$tmp/disk/s" && prof-spool verify --deep "$tmp/disk/s" &&
	prof-spool query "$tmp/disk/s" | cmp - "$tmp/want" && echo healed >>"$tmp/disk.out"
END
export tmp
unshare -m sh "$tmp/disk.sh" 2>"$tmp/disk.sh.err"
case $? in
77 | 1) skip 'no file system can be mounted here' 'a full disk' ;;
*)
	like "$tmp/disk.err" 'No space left on device' 'a full disk is said'
	is "$(sed 's/added .*/added/' "$tmp/disk.out" | tr '\n' ' ')" 'added tend 2 same healed ' \
		'nothing is lost by it, and all is added up when there is room' || diag "$tmp/disk.out" "$tmp/disk.err"
	;;
esac
done_testing
