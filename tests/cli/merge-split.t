#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# prof-merge --split-by: results by label values, as a stream and as files with safe names.
. "$top/tests/lib/tap.sh"

cat >"$tmp/in.txt" <<'END'
# profpipe text 1
profile
time 1700000000000000000
duration 10000000000
type "cpu" "nanoseconds"
mapping 1 0x400000 0x500000 0x0 "/bin/app" "abcd" -
function 1 "main" "" "m.c" 0
function 2 "work" "" "m.c" 0
location 1 m1 0x400001 f1:0:0
location 2 m1 0x400002 f2:0:0
sample 5 : 2 1 : "comm"="a" "pod"="web"
sample 3 : 2 1 : "comm"="b" "pod"="db"
sample 2 : 1 : "comm"="b" "pod"="web"
sample 7 : 1 : "comm"="c"
end
END
sed 's/^time .*/time 1700000060000000000/; s/"cpu"/"wall"/' "$tmp/in.txt" >"$tmp/wall.txt"
prof-merge -o "$tmp/in.pb.gz" "$tmp/in.txt"

prof-merge --split-by pod "$tmp/in.pb.gz" | prof-render -f text >"$tmp/got"
grep -E '^(profile|time|duration|sample)' "$tmp/got" | sed 's/ : .* : / /' >"$tmp/lines"
cat >"$tmp/want" <<'END'
profile
time 1700000000000000000
duration 10000000000
sample 7 "comm"="c"
profile
time 1700000000000000000
duration 10000000000
sample 3 "comm"="b" "pod"="db"
profile
time 1700000000000000000
duration 10000000000
sample 2 "comm"="b" "pod"="web"
sample 5 "comm"="a" "pod"="web"
END
same "$tmp/lines" "$tmp/want" 'a stream: one profile a value, in their order, none first'
is "$(grep -c '^mapping 1 0x400000 0x500000 0x0 "/bin/app" "abcd"' "$tmp/got")" 3 \
	'each has the mapping'
prof-merge --split-by pod "$tmp/in.pb.gz" | prof-merge --expect 3 | prof-render -f folded >"$tmp/got"
prof-render -f folded "$tmp/in.pb.gz" >"$tmp/want"
same "$tmp/got" "$tmp/want" 'what is split and merged again has the same sums'
prof-merge --split-by comm,pod --by nothing "$tmp/in.pb.gz" | prof-render -f text |
	grep -c '^profile$' >"$tmp/got"
is "$(cat "$tmp/got")" 4 'two labels, which --by keeps'
refuses '--without one of them' prof-merge --split-by pod --without pod "$tmp/in.pb.gz"

mkdir "$tmp/dir"
run prof-merge --split-by pod -o "$tmp/dir/{pod}.pb.gz" "$tmp/in.pb.gz"
is "$status" 0 'files'
is "$(cd "$tmp/dir" && echo *)" '_.pb.gz db.pb.gz web.pb.gz' 'named by value'
prof-merge -s pod=web "$tmp/in.pb.gz" >"$tmp/want"
same "$tmp/dir/web.pb.gz" "$tmp/want" 'a file holds what -s chooses'
rm "$tmp/dir"/*
prof-merge --split-by pod,comm -o "$tmp/dir/{pod}/{comm}-{type}-{time}.pb.gz" \
	"$tmp/in.txt" "$tmp/wall.txt"
is "$(cd "$tmp/dir" && find . -type f | sort | head -n 3 | tr '\n' ' ')" \
	"./_/c-cpu-2023-11-14T22:13:20Z.pb.gz ./_/c-wall-2023-11-14T22:14:20Z.pb.gz ./db/b-cpu-2023-11-14T22:13:20Z.pb.gz " \
	'directories, type and time'
rm -r "$tmp/dir"/*
prof-merge --split-by pod -o "$tmp/dir/{pod}.pb.gz" "$tmp/in.txt" "$tmp/wall.txt"
prof-render -f text "$tmp/dir/db.pb.gz" | grep '^type' >"$tmp/got"
printf 'type "%s" "nanoseconds"\n' cpu wall >"$tmp/want"
same "$tmp/got" "$tmp/want" 'types that share a file follow one another'
prof-merge --window 1m --split-by pod -o "$tmp/dir/w-{pod}.pb.gz" "$tmp/in.txt" "$tmp/wall.txt"
is "$(prof-render -f text "$tmp/dir/w-web.pb.gz" | grep -c '^profile$')" 2 'and so do windows'

# names nobody should be able to make
rm -r "$tmp/dir"/*
long=$(printf '%0300d' 0)
{
	sed '/^sample/,$d' "$tmp/in.txt"
	for v in .. ../../x /etc/passwd _ .hidden 'a b' 'q"\n' "$long" "${long}1"; do
		printf 'sample 1 : 1 : "pod"="%s"\n' "$(printf %s "$v" | sed 's/"/\\"/')"
	done
	echo end
} >"$tmp/hostile.txt"
run prof-merge --split-by pod -o "$tmp/dir/{pod}.pb.gz" "$tmp/hostile.txt"
is "$status" 0 'hostile values'
(cd "$tmp/dir" && find . -mindepth 1 | sort) | sed 's/0\{50,\}/0…/; s/-[0-9a-f]\{8\}/-CRC/' >"$tmp/got"
cat >"$tmp/want" <<'END'
./%2E.%2F..%2Fx.pb.gz
./%2E..pb.gz
./%2Ehidden.pb.gz
./%2Fetc%2Fpasswd.pb.gz
./%5F.pb.gz
./0…%-CRC.pb.gz
./0…%-CRC.pb.gz
./a%20b.pb.gz
./q%22%0A.pb.gz
END
same "$tmp/got" "$tmp/want" 'stay in the directory and apart'

sed 's/"comm"="a" "pod"="web"/"comm"="b" "pod"="webd"/' "$tmp/in.txt" >"$tmp/glue.txt"
sed 's/"comm"="c"/"comm"="db" "pod"="web"/' "$tmp/glue.txt" >"$tmp/glue2.txt"
refuses 'values that make one name' \
	prof-merge --split-by pod,comm -o "$tmp/dir/g{pod}{comm}" "$tmp/in.txt" "$tmp/glue2.txt"
like "$tmp/err" 'different values would both go to' 'and says so'
is "$(find "$tmp/dir" -name 'g*' | wc -l)" 0 'and nothing is written'

refuses 'a label that the pattern lacks' \
	prof-merge --split-by pod,comm -o "$tmp/dir/{pod}" "$tmp/in.txt"
refuses 'a name that is no label' prof-merge --split-by pod -o "$tmp/dir/{pod}{x}" "$tmp/in.txt"
refuses 'a directory that is not there' \
	prof-merge --split-by pod -o "$tmp/none/{pod}.pb.gz" "$tmp/in.txt"
sed '/^sample/d' "$tmp/in.txt" >"$tmp/empty.txt"
refuses 'no sample' prof-merge --split-by pod "$tmp/empty.txt"
prof-merge -o "$tmp/{x}" "$tmp/in.txt"
is "$(cmp "$tmp/{x}" "$tmp/in.pb.gz" 2>&1)" '' 'without --split-by braces are a name'

# a thousand files with room for few
{
	sed '/^sample/,$d' "$tmp/in.txt"
	awk 'BEGIN { for (i = 0; i < 1000; i++) printf "sample 1 : 1 : \"pod\"=\"p%d\"\n", i }'
	echo end
} >"$tmp/many.txt"
mkdir "$tmp/many"
prlimit --nofile=20 prof-merge --split-by pod -o "$tmp/many/{pod}.pb.gz" "$tmp/many.txt"
is "$(find "$tmp/many" -name 'p*.pb.gz' | wc -l)" 1000 'a thousand files, one open at a time'

# label values above the root
prof-merge --root-by pod --by none "$tmp/in.txt" | prof-render -f folded >"$tmp/got"
prof-render --root-by pod -f folded "$tmp/in.txt" >"$tmp/want"
same "$tmp/got" "$tmp/want" '--root-by, as prof-render has it'
done_testing
