#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# prof-merge: labels by file name and by replicate, weights, lists of names.
. "$top/tests/lib/tap.sh"

# one FILE SECONDS NODE: a profile of one sample of value 10 at that time
one() {
	cat >"$1" <<END
# profpipe text 1
profile
time $((1700000000 + $2))000000000
duration 10000000000
type "cpu" "nanoseconds"
comment "profpipe: kept=3"
sample 10 : : "node"="$3"
end
END
}
labels() { # the labels of what was merged, with their values
	prof-render -f text | sed -n 's/^sample \(.*\) : : /\1 /p'
}

mkdir -p "$tmp/in/web1" "$tmp/in/web2"
one "$tmp/in/web1/a.txt" 0 n1
one "$tmp/in/web2/a.txt" 10 n1
one "$tmp/in/plain" 20 n1
prof-merge --label-from-name '(?<host>web[0-9])/(?<part>.)' --without node "$tmp/in/web1/a.txt" \
	"$tmp/in/web2/a.txt" | labels >"$tmp/got"
printf '10 "host"="web%d" "part"="a"\n' 1 2 >"$tmp/want"
same "$tmp/got" "$tmp/want" 'a label for each group of the name'
run prof-merge --label-from-name 'in/((?<node>web.)/)?' "$tmp/in/web1/a.txt" "$tmp/in/plain"
labels <"$tmp/out" >"$tmp/got"
printf '10 "node"="%s"\n' n1 web1 >"$tmp/want"
same "$tmp/got" "$tmp/want" 'replaces the label, where the group has a part in the match'
is "$(cat "$tmp/err")" '' 'and nothing is said'
run prof-merge --label-from-name '(?<host>web.)' -s host=web2 "$tmp"/in/*/a.txt "$tmp/in/plain"
is "$(labels <"$tmp/out")" '10 "host"="web2" "node"="n1"' 'selectors see it'
is "$(cat "$tmp/err")" 'prof-merge: --label-from-name fits not all file names' \
	'a note about names that do not fit'
run prof-merge --label-from-name '(?<host>xyz)' "$tmp/in/plain"
is "$(cat "$tmp/err")" 'prof-merge: --label-from-name fits none of the file names' 'or if none does'
refuses 'no group with a name' prof-merge --label-from-name 'web(.)' "$tmp/in/plain"
refuses 'a bad expression' prof-merge --label-from-name '(?<x>' "$tmp/in/plain"

# replicates: the same in one merge and in a tree of merges, and all of them used
for i in $(seq 0 40); do
	one "$tmp/r$i.txt" "$((i * 10))" "n$((i % 20))"
done
prof-merge --replicates 4 --without node "$tmp"/r*.txt >"$tmp/flat"
labels <"$tmp/flat" >"$tmp/got"
is "$(cut -d' ' -f2 "$tmp/got" | tr '\n' ' ')" \
	'"replicate"="0" "replicate"="1" "replicate"="2" "replicate"="3" ' 'four replicates by time'
is "$(awk '{ n += $1 } END { print n }' "$tmp/got")" 410 'and all of the sum'
prof-merge --replicates 4 --without node "$tmp"/r1*.txt >"$tmp/part1.pb.gz"
prof-merge --replicates 4 --without node "$tmp"/r[02-9]*.txt >"$tmp/part2.pb.gz"
prof-merge --replicates 4 "$tmp/part2.pb.gz" "$tmp/part1.pb.gz" >"$tmp/tree"
same "$tmp/tree" "$tmp/flat" 'a replicate once chosen stays'
prof-merge --replicates 4:node "$tmp"/r*.txt | prof-render -f text |
	sed -n 's/.*"node"="\(.*\)" "replicate"="\(.*\)"/\1 \2/p' | sort -u >"$tmp/got"
is "$(wc -l <"$tmp/got")" 20 'by a label: a node is in one replicate'
is "$(cut -d' ' -f2 "$tmp/got" | sort -u | wc -l)" 4 'and all are used'
refuses 'one replicate' prof-merge --replicates 1 "$tmp/in/plain"
refuses 'no label' prof-merge --replicates 4: "$tmp/in/plain"

prof-merge "$tmp/r1.txt" "$tmp/r2.txt" "$tmp/r2.txt" "$tmp/r2.txt" >"$tmp/want"
prof-merge "$tmp/r1.txt" --weight 3 "$tmp/r2.txt" >"$tmp/got"
same "$tmp/got" "$tmp/want" '--weight: as if given so often'
prof-merge --weight 3 "$tmp/r2.txt" --weight 1 "$tmp/r1.txt" >"$tmp/got"
same "$tmp/got" "$tmp/want" 'for the files after it'
prof-merge "$tmp/r2.txt" "$tmp/r2.txt" >"$tmp/want"
prof-merge --weight 2 <"$tmp/r2.txt" >"$tmp/got"
same "$tmp/got" "$tmp/want" 'standard input too'
sed 's/^sample 10/sample 5000000000000000000/' "$tmp/r1.txt" >"$tmp/big.txt"
refuses 'a product over 64 bits' prof-merge --weight 2 "$tmp/big.txt"
refuses 'a weight of nothing' prof-merge --weight 0 "$tmp/r1.txt"

prof-merge "$tmp"/r*.txt >"$tmp/want"
printf '%s\0' "$tmp"/r*.txt >"$tmp/names"
prof-merge --files0-from "$tmp/names" >"$tmp/got"
same "$tmp/got" "$tmp/want" '--files0-from: names from a file'
prof-merge --files0-from - <"$tmp/names" >"$tmp/got"
same "$tmp/got" "$tmp/want" 'from standard input'
mkdir "$tmp/dir"
prof-merge -o "$tmp/dir/x.pb.gz" "$tmp"/r*.txt
printf %s "$tmp/dir" | prof-merge --files0-from=- >"$tmp/got"
same "$tmp/got" "$tmp/want" 'the last one without a NUL, and a directory'
refuses 'names and operands' prof-merge --files0-from "$tmp/names" "$tmp/r1.txt"
refuses 'no names' prof-merge --files0-from /dev/null
refuses 'a list that is not there' prof-merge --files0-from "$tmp/none"
printf '%s\0\0%s\0' "$tmp/r1.txt" "$tmp/r2.txt" >"$tmp/names"
refuses 'a name that is empty' prof-merge --files0-from "$tmp/names"
prof-merge "$tmp/r1.txt" "$tmp/r2.txt" >"$tmp/want"
run prof-merge --skip-bad --files0-from "$tmp/names"
same "$tmp/out" "$tmp/want" 'which --skip-bad leaves out'
done_testing
