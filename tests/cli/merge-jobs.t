#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# prof-merge -j: the same bytes, messages and statuses as without threads.
. "$top/tests/lib/tap.sh"

# 60 profiles of a few samples each, in files of one and of many members, and as text
profiles() { # profiles FIRST LAST
	awk -v a="$1" -v b="$2" 'BEGIN {
		print "# profpipe text 1"
		for (i = a; i <= b; i++) {
			printf "profile\ntime %d000000000\nduration 10000000000\n", 1700000000 + 10 * i
			print "type \"cpu\" \"nanoseconds\""
			for (k = 1; k <= 40; k++) printf "function %d \"f%d\" \"\" \"\" 0\n", k, (i * 7 + k) % 90
			for (k = 1; k <= 40; k++) printf "location %d m0 0x0 f%d:0:0\n", k, k
			for (k = 1; k <= 40; k++)
				printf "sample %d : %d %d : \"n\"=\"%d\"\n", i + k, k, (k * i) % 40 + 1, k % 5
			print "end"
		}
	}'
}
mkdir "$tmp/in"
i=0
while [ "$i" -lt 40 ]; do
	profiles "$i" "$i" | prof-merge -o "$tmp/in/$(printf %02d "$i").pb.gz"
	i=$((i + 1))
done
profiles 40 59 >"$tmp/many.txt"
prof-merge --window 10s -o "$tmp/many.pb.gz" "$tmp/many.txt"

prof-merge --expect 80 "$tmp/in" "$tmp/many.pb.gz" "$tmp/many.txt" >"$tmp/want"
for jobs in 1 2 3 8; do
	prof-merge -j "$jobs" --expect 80 "$tmp/in" "$tmp/many.pb.gz" "$tmp/many.txt" >"$tmp/got"
	same "$tmp/got" "$tmp/want" "-j $jobs: the same bytes"
done
cat "$tmp/in"/*.pb.gz "$tmp/many.pb.gz" | prof-merge -j 2 - "$tmp/many.txt" >"$tmp/got"
same "$tmp/got" "$tmp/want" 'of a stream, too'
# threads that have finished before the one that takes has begun; by chance, so many times
bad=0
for _ in $(seq 100); do
	prof-merge -j 2 "$tmp/in/00.pb.gz" 2>"$tmp/err" | cmp -s - "$tmp/in/00.pb.gz" || bad=$((bad + 1))
done
is "$bad" 0 'of one small file, a hundred times'
prof-merge --window 30s --label-from-name '(?<part>[0-9])[0-9][.]' "$tmp/in" "$tmp/many.pb.gz" >"$tmp/want" 2>/dev/null
prof-merge -j2 --window 30s --label-from-name '(?<part>[0-9])[0-9][.]' "$tmp/in" "$tmp/many.pb.gz" >"$tmp/got" 2>/dev/null
same "$tmp/got" "$tmp/want" 'windows and labels by name'
prof-merge --list values "$tmp/in" >"$tmp/want"
prof-merge -j2 --list values "$tmp/in" >"$tmp/got"
same "$tmp/got" "$tmp/want" 'lists'

# what is bad is told of in order, and with the same words
head -c 90 "$tmp/in/11.pb.gz" >"$tmp/in/11x.pb.gz"
echo nonsense, text of no kind >"$tmp/in/15x.pb.gz"
{ cat "$tmp/many.pb.gz" && printf 'tail'; } >"$tmp/in/20x.pb.gz"
printf 'x\1y' | gzip -n >"$tmp/in/25x.pb.gz"
: >"$tmp/in/30x.pb.gz"
mkdir "$tmp/store"
: >"$tmp/store/.profpipe-store"
status=0
prof-merge --skip-bad "$tmp/none" "$tmp/in" "$tmp/store" "$tmp/many.txt" >"$tmp/want" 2>"$tmp/want.err" || status=$?
is "$status $(wc -l <"$tmp/want.err")" '0 7' 'bad files, a missing one and a store are left out'
for jobs in 2 5; do
	run prof-merge -j "$jobs" --skip-bad "$tmp/none" "$tmp/in" "$tmp/store" "$tmp/many.txt"
	same "$tmp/err" "$tmp/want.err" "-j $jobs: the same messages"
	same "$tmp/out" "$tmp/want" "-j $jobs: the same bytes of what is good"
	refuses "-j $jobs: the first bad file ends it" prof-merge -j "$jobs" "$tmp/in" "$tmp/many.txt"
	like "$tmp/err" '11x.pb.gz: truncated' 'whatever else is bad'
done
: >"$tmp/empty"
refuses 'no profile at all' prof-merge -j 2 "$tmp/empty"
like "$tmp/err" "^prof-merge: $tmp/empty: empty file: no profile in input\$" 'and says so'
refuses 'a file that is not there' prof-merge -j 2 "$tmp/none"
refuses 'no threads' prof-merge -j 0 "$tmp/many.txt"

# a writer that waits does not keep it from ending when there is trouble
mkfifo "$tmp/fifo"
sleep 600 >"$tmp/fifo" &
sleeper=$!
refuses 'trouble while a thread waits for a pipe' prof-merge -j 2 "$tmp/none" "$tmp/fifo"
kill "$sleeper"
done_testing
