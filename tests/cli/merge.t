#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# prof-merge: what equals what, and what each option does. Results are read in the text twin.
. "$top/tests/lib/tap.sh"

# text FILE…: the merged result as text.
text() {
	prof-render -f text "$@"
}

# samples: the sample lines of text on standard input, without location numbers, sorted.
samples() {
	sed -n 's/^sample \([^:]*\) : [^:]*\( : .*\)*$/\1\2/p' | sort
}

# profile NAME TIME TYPE: writes $tmp/NAME.txt with samples from standard input.
profile() {
	{
		cat <<-EOF
			# profpipe text 1
			profile
			time $2
			duration 10000000000
			period "$3" "nanoseconds" 10101010
			type "samples" "count"
			type "$3" "nanoseconds" default
			mapping 1 0x${4}000 0x${5}000 0x1000 "/usr/bin/app" "abcd" -
			function 1 "main" "main" "main.c" 10
			function 2 "work" "work" "work.c" 20
			location 1 m1 0x${4}111 f1:12:0
			location 2 m1 0x${4}222 f2:22:0
		EOF
		cat
		echo end
	} >"$tmp/$1.txt"
}

# The same binary at two addresses.
profile a 1700000000000000000 cpu 400 500 <<'EOF'
sample 1 10 : 2 1 : "comm"="app" "pid"=1
sample 2 20 : 1 : "comm"="app" "pid"=2
EOF
profile b 1700000060000000000 cpu 700 800 <<'EOF'
sample 3 30 : 2 1 : "comm"="app" "pid"=1
sample 4 40 : 2 1 : "comm"="db" "pid"=3
sample 0 0 : 1 : "comm"="idle" "pid"=9
EOF
profile heap 1700000000000000000 wall 400 500 <<'EOF'
sample 1 10 : 1 : "comm"="app"
EOF

prof-merge "$tmp/a.txt" "$tmp/b.txt" | text >"$tmp/got"
samples <"$tmp/got" >"$tmp/got.samples"
cat >"$tmp/want" <<'EOF'
2 20 : "comm"="app" "pid"=2
4 40 : "comm"="app" "pid"=1
4 40 : "comm"="db" "pid"=3
EOF
same "$tmp/got.samples" "$tmp/want" "one binary at two addresses: samples add up, zero ones go"
is "$(grep -c '^location' "$tmp/got")" 2 "its two locations are two"
is "$(grep '^time\|^duration' "$tmp/got" | tr '\n' ' ')" \
	"time 1700000000000000000 duration 20000000000 " "time is the earliest, durations add"
like "$tmp/got" '^mapping 1 0x400000 0x500000 0x1000 "/usr/bin/app" "abcd"' \
	"the mapping lies at the lowest base"
like "$tmp/got" '"profpipe: merged=2"' "merged counts the inputs"

prof-merge "$tmp/b.txt" "$tmp/a.txt" >"$tmp/ba"
prof-merge "$tmp/a.txt" "$tmp/b.txt" >"$tmp/ab"
same "$tmp/ab" "$tmp/ba" "the order of inputs does not matter"

prof-merge --by comm "$tmp/a.txt" "$tmp/b.txt" | text | samples >"$tmp/got"
printf '%s\n' '2 20 : "comm"="app"' '4 40 : "comm"="app"' '4 40 : "comm"="db"' >"$tmp/want"
same "$tmp/got" "$tmp/want" "--by keeps a label"
prof-merge --without comm,pid "$tmp/a.txt" "$tmp/b.txt" | text | samples >"$tmp/got"
printf '%s\n' '2 20' '8 80' >"$tmp/want"
same "$tmp/got" "$tmp/want" "--without drops labels and adds"
prof-merge --without pid --label comm=x --label version=v1 "$tmp/a.txt" | text | samples >"$tmp/got"
printf '%s\n' '1 10 : "comm"="x" "version"="v1"' '2 20 : "comm"="x" "version"="v1"' >"$tmp/want"
same "$tmp/got" "$tmp/want" "--label replaces and adds"
prof-merge -s 'comm=db' "$tmp/a.txt" "$tmp/b.txt" | text | samples >"$tmp/got"
echo '4 40 : "comm"="db" "pid"=3' >"$tmp/want"
same "$tmp/got" "$tmp/want" "-s selects by label"
example=$(prof-merge --help | tr -s '\n ' ' ' | sed -n "s/.* e\\.g\\. '\\([^']*\\)'.*/\\1/p")
prof-merge --label comm=app --label pod=web-1 "$tmp/a.txt" >"$tmp/web"
prof-merge -s "${example:-example=none}" "$tmp/web" | text | samples >"$tmp/got"
text <"$tmp/web" | samples >"$tmp/want"
same "$tmp/got" "$tmp/want" "the selector that --help shows is one"

prof-merge --window 1m "$tmp/a.txt" "$tmp/b.txt" | text >"$tmp/got"
is "$(grep -c '^profile$' "$tmp/got")" 2 "--window separates"
is "$(grep '^time' "$tmp/got" | tr '\n' ' ')" "time 1700000000000000000 time 1700000060000000000 " \
	"windows come in order of time"
prof-merge --since @1700000060 "$tmp/a.txt" "$tmp/b.txt" | text | grep -c '^sample' >"$tmp/got"
is "$(cat "$tmp/got")" 2 "--since leaves out what starts before"
prof-merge --until 2023-11-14T22:14:20Z "$tmp/a.txt" "$tmp/b.txt" | text | grep '^time' >"$tmp/got"
is "$(cat "$tmp/got")" "time 1700000000000000000" "--until is exclusive"
refuses "nothing in the time asked for is trouble" \
	prof-merge --since 2030-01-01 "$tmp/a.txt" "$tmp/b.txt"

prof-merge "$tmp/a.txt" "$tmp/heap.txt" | text >"$tmp/got"
is "$(grep -c '^profile$' "$tmp/got")" 2 "different types are different results"
prof-merge -t wall "$tmp/a.txt" "$tmp/heap.txt" | text >"$tmp/got"
is "$(grep -c '^profile$' "$tmp/got")" 1 "-t leaves out profiles without the type"
prof-merge -t samples "$tmp/a.txt" | text >"$tmp/got"
like "$tmp/got" '^type "samples" "count" default' "-t makes its type the default"
refuses "a type that no profile has is trouble" prof-merge -t nosuch "$tmp/a.txt"

prof-merge --focus work "$tmp/a.txt" "$tmp/b.txt" | text | samples | awk '{ n += $1 } END { print n }' \
	>"$tmp/got"
is "$(cat "$tmp/got")" 8 "--focus keeps matching stacks"
prof-merge --hide work --without comm,pid "$tmp/a.txt" "$tmp/b.txt" | text | samples >"$tmp/got"
is "$(cat "$tmp/got")" '10 100' "--hide moves values to the caller"

prof-merge "$tmp/a.txt" >"$tmp/a.pb.gz"
prof-merge "$tmp/b.txt" >"$tmp/b.pb.gz"
cat "$tmp/a.pb.gz" "$tmp/b.pb.gz" | prof-merge --expect 2 >"$tmp/got"
same "$tmp/got" "$tmp/ab" "a stream is the same as files"
refuses "--expect more than there are" prof-merge --expect 3 "$tmp/a.pb.gz" "$tmp/b.pb.gz"
like "$tmp/err" '^prof-merge: expected 3 profiles, got 2$' "and says so"

head -c 100 "$tmp/b.pb.gz" >"$tmp/cut.pb.gz"
refuses "a cut file" prof-merge "$tmp/a.pb.gz" "$tmp/cut.pb.gz"
like "$tmp/err" "^prof-merge: .*cut.pb.gz: truncated gzip member at byte 100" "names file and byte"
cat "$tmp/a.pb.gz" "$tmp/b.pb.gz" "$tmp/cut.pb.gz" >"$tmp/stream"
refuses "a cut stream" prof-merge "$tmp/stream"
like "$tmp/err" "stream: member 3: truncated" "names the member"
run prof-merge --skip-bad "$tmp/a.pb.gz" "$tmp/cut.pb.gz" "$tmp/b.pb.gz"
is "$status" 0 "--skip-bad goes on"
same "$tmp/out" "$tmp/ab" "with what was good"
is "$(wc -l <"$tmp/err")" 1 "and names what was not"
run prof-merge --skip-bad "$tmp/cut.pb.gz"
is "$status" 2 "nothing good is trouble also then"

sed 's/^sample 1 10 /sample 9223372036854775807 10 /' "$tmp/a.txt" >"$tmp/big.txt"
refuses "a sum over 64 bits" prof-merge "$tmp/big.txt" "$tmp/b.txt"
like "$tmp/err" 'the sum of samples in work does not fit' "names type and function"
refuses "--by and --without together" prof-merge --by a --without b "$tmp/a.txt"
refuses "--by with no label in it" prof-merge --by , "$tmp/a.txt"
refuses "--without, neither" prof-merge --without '' "$tmp/a.txt"
refuses "a label without a value" prof-merge --label x "$tmp/a.txt"
refuses "a window of nothing" prof-merge --window 0 "$tmp/a.txt"
refuses "a bad selector" prof-merge -s 'a=~"("' "$tmp/a.txt"

prof-merge -o "$tmp/out.pb.gz" "$tmp/a.txt" "$tmp/b.txt"
same "$tmp/out.pb.gz" "$tmp/ab" "-o writes the same bytes"
done_testing
