#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# prof-merge: factors, means, rates, and cutting small branches. Sums stay exact.
. "$top/tests/lib/tap.sh"

# 2,000 samples of random stacks and values, many of them small
awk 'BEGIN {
	srand(7)
	print "# profpipe text 1\nprofile\ntime 1700000000000000000\nduration 20000000000"
	print "type \"samples\" \"count\"\ntype \"cpu\" \"nanoseconds\" default"
	print "comment \"profpipe: merged=8\""
	for (i = 1; i <= 12; i++) printf "function %d \"f%d\" \"\" \"\" 0\n", i, i
	for (i = 1; i <= 12; i++) printf "location %d m0 0x0 f%d:0:0\n", i, i
	for (i = 0; i < 2000; i++) {
		n = int(1 / (0.0005 + rand()))
		printf "sample %d %d :", n, n * 7 + 3
		for (d = int(rand() * 7); d >= 0; d--) printf " %d", 1 + int(rand() * rand() * 12)
		printf " : \"pod\"=\"p%d\"\n", int(rand() * 3)
	}
	print "end"
}' >"$tmp/in.txt"
prof-merge -o "$tmp/in.pb.gz" "$tmp/in.txt"

# sums FILE: both columns, and the number of samples and of distinct stacks
sums() {
	prof-render -f text "$1" | awk '
		/^sample/ { a += $2; b += $3; n++; s = $0; sub(/^sample [^:]*: /, "", s); sub(/ :.*/, "", s)
			if (!(s in seen)) { seen[s]; k++ } }
		END { printf "%d %d %d %d\n", a, b, n, k }'
}
sums "$tmp/in.pb.gz" >"$tmp/sums"
read -r samples cpu rows stacks <"$tmp/sums"
ok "$([ "$stacks" -gt 300 ]; echo $?)" 'a profile with many stacks'

# subtrees FILE SCALE: cumulative value of each path from the root, times SCALE
subtrees() {
	prof-render -f folded -t samples "$1" | awk -v f="$2" '
		{ v = $NF; sub(/ [0-9]*$/, ""); k = split($0, part, ";"); path = ""
		  for (i = 1; i <= k; i++) { path = path ";" part[i]; sum[path] += v } }
		END { for (p in sum) printf "%s %.9f\n", p, sum[p] * f }' | sort
}
for factor in 0.1 1/3 7 0.001 2.5; do
	prof-merge --scale "$factor" -o "$tmp/scaled.pb.gz" "$tmp/in.pb.gz"
	f=$(awk "BEGIN { printf \"%.12f\", $factor }")
	want=$(awk "BEGIN { printf \"%d %d\", int($samples * $f + 0.5 + 1e-6), int($cpu * $f + 0.5 + 1e-6) }")
	is "$(sums "$tmp/scaled.pb.gz" | cut -d' ' -f1,2)" "$want" "--scale $factor: totals are exact"
	subtrees "$tmp/in.pb.gz" "$f" >"$tmp/exact"
	subtrees "$tmp/scaled.pb.gz" 1 >"$tmp/got"
	join -a1 "$tmp/exact" "$tmp/got" | awk '{ d = $2 - $3; if (d < 0) d = -d; if (d > 1.000001) print }' >"$tmp/far"
	is "$(wc -l <"$tmp/far")" 0 "--scale $factor: every subtree is right to 1"
done
prof-merge --scale 3 -o "$tmp/got" "$tmp/in.pb.gz"
prof-merge --weight 3 "$tmp/in.pb.gz" | prof-render -f text | grep '^sample' >"$tmp/want.s"
prof-render -f text "$tmp/got" | grep '^sample' >"$tmp/got.s"
same "$tmp/got.s" "$tmp/want.s" '--scale 3 is three times'
sed 's/^sample \([0-9]*\) \([0-9]*\)/sample -\1 -\2/' "$tmp/in.txt" | prof-merge --scale 1/3 >"$tmp/neg"
is "$(sums "$tmp/neg" | cut -d' ' -f1)" "$(awk "BEGIN { print int(-$samples / 3 + 0.5) - ((-$samples / 3 + 0.5) < int(-$samples / 3 + 0.5)) }")" \
	'negative values too'

prof-merge --mean -o "$tmp/got" "$tmp/in.pb.gz"
is "$(sums "$tmp/got" | cut -d' ' -f1)" "$(((samples + 4) / 8))" '--mean: the sum divided by merged'
prof-render -f text "$tmp/got" >"$tmp/text"
like "$tmp/text" '^duration 2500000000$' 'so is the duration'
like "$tmp/text" '^comment "profpipe: mean_of=8"$' 'and it is said'
prof-merge --rate -o "$tmp/got" "$tmp/in.pb.gz"
is "$(sums "$tmp/got" | cut -d' ' -f1)" "$(((samples + 10) / 20))" '--rate: in a second'
prof-render -f text "$tmp/got" >"$tmp/text"
like "$tmp/text" '^duration 1000000000$' 'which is its duration'
prof-merge --rate --scale 60 -o "$tmp/got" "$tmp/in.pb.gz"
is "$(sums "$tmp/got" | cut -d' ' -f1)" "$((samples * 3))" '--rate --scale 60: in a minute'
sed '/^duration/d' "$tmp/in.txt" >"$tmp/endless.txt"
refuses '--rate without a duration' prof-merge --rate "$tmp/endless.txt"
refuses 'both' prof-merge --rate --mean "$tmp/in.txt"
for factor in 0 -1 1/0 x 1e3 '' 1/ 12345678901; do
	refuses "--scale '$factor'" prof-merge --scale "$factor" "$tmp/in.txt"
done
sed 's/^sample [0-9]*/sample 9000000000000000000/; t; ' "$tmp/in.txt" | awk '/^sample/ && n++ { next } 1' >"$tmp/big.txt"
refuses 'a product over 64 bits' prof-merge --scale 2 "$tmp/big.txt"

for pct in 0.5% 5% 100%; do
	prof-merge --trim "$pct" -o "$tmp/cut.pb.gz" "$tmp/in.pb.gz"
	is "$(sums "$tmp/cut.pb.gz" | cut -d' ' -f1,2)" "$samples $cpu" "--trim $pct: sums stay"
done
prof-merge --trim 2% -o "$tmp/cut.pb.gz" "$tmp/in.pb.gz"
prof-render -f folded "$tmp/cut.pb.gz" | awk -v least="$(awk "BEGIN { print $cpu * 0.02 }")" '
	{ v = $NF; sub(/ [0-9]*$/, ""); k = split($0, part, ";"); path = ""
	  for (i = 1; i <= k; i++) { path = path ";" part[i]; if (part[i] != "[other]") sum[path] += v } }
	END { for (p in sum) if (sum[p] < least) print p, sum[p] }' >"$tmp/small"
is "$(wc -l <"$tmp/small")" 0 'no frame is left that carries less'
cumulative() {
	prof-render -f folded "$1" | awk '
		{ v = $NF; sub(/ [0-9]*$/, ""); k = split($0, part, ";"); path = ""
		  for (i = 1; i <= k && part[i] != "[other]"; i++) { path = path ";" part[i]; sum[path] += v } }
		END { for (p in sum) print p, sum[p] }' | sort
}
cumulative "$tmp/in.pb.gz" >"$tmp/all"
cumulative "$tmp/cut.pb.gz" >"$tmp/kept"
is "$(comm -13 "$tmp/all" "$tmp/kept" | wc -l)" 0 'and those that are have what they had'
is "$(awk -v least="$(awk "BEGIN { print $cpu * 0.02 }")" '$2 >= least' "$tmp/all" | wc -l)" \
	"$(wc -l <"$tmp/kept")" 'all that carry as much are left'
bylabel() {
	prof-render -f text "$1" | awk '/^sample/ { s[$NF] += $3 } END { for (k in s) print k, s[k] }' | sort
}
bylabel "$tmp/in.pb.gz" >"$tmp/want"
bylabel "$tmp/cut.pb.gz" >"$tmp/got"
same "$tmp/got" "$tmp/want" 'sums by label stay'
prof-merge --trim 0 "$tmp/in.pb.gz" >"$tmp/got"
same "$tmp/got" "$tmp/in.pb.gz" '--trim 0 cuts nothing'

for max in 2 3 10 100 300 "$stacks" 100000; do
	prof-merge --max-stacks "$max" -o "$tmp/cut.pb.gz" "$tmp/in.pb.gz"
	sums "$tmp/cut.pb.gz" >"$tmp/sums"
	read -r s c _ left <"$tmp/sums"
	is "$s $c" "$samples $cpu" "--max-stacks $max: sums stay"
	ok "$([ "$left" -le "$max" ]; echo $?)" "and at most so many are left ($left)"
done
same "$tmp/cut.pb.gz" "$tmp/in.pb.gz" 'room for all changes nothing'
prof-merge "$tmp/in.txt" | prof-merge --max-stacks 50 >"$tmp/a"
prof-merge --max-stacks 50 "$tmp/in.txt" >"$tmp/b"
same "$tmp/a" "$tmp/b" 'what is cut depends on the content alone'
refuses 'no stacks' prof-merge --max-stacks 1 "$tmp/in.txt"
refuses 'a bad share' prof-merge --trim 101% "$tmp/in.txt"
done_testing
