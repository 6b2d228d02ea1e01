#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Other people's forms, known by sight: collapsed stacks are read.
. "$top/tests/lib/tap.sh"

printf '%s\n' 'main;work;leaf 12' 'main;work 3' '' 'main;work;leaf 5' >"$tmp/plain"
prof-merge "$tmp/plain" | prof-render -f text >"$tmp/text"
grep -E '^(type|time|duration|sample|function)' "$tmp/text" >"$tmp/got"
cat >"$tmp/want" <<'END'
type "samples" "count"
function 1 "leaf" "" "" 0
function 2 "main" "" "" 0
function 3 "work" "" "" 0
sample 3 : 3 2
sample 17 : 1 3 2
END
same "$tmp/got" "$tmp/want" 'collapsed stacks: frames from the root, counts add up'
gzip -c "$tmp/plain" | prof-merge | prof-render -f text >"$tmp/got"
same "$tmp/got" "$tmp/text" 'compressed and from a pipe'
sed 's/$/\r/' "$tmp/plain" | prof-merge | prof-render -f text >"$tmp/got"
same "$tmp/got" "$tmp/text" 'with line ends of another system'
prof-render -f folded "$tmp/plain" >"$tmp/got"
printf '%s\n' 'main;work 3' 'main;work;leaf 17' >"$tmp/want"
same "$tmp/got" "$tmp/want" 'prof-render reads and writes them'
prof-render -f folded "$tmp/got" >"$tmp/again"
same "$tmp/again" "$tmp/want" 'and its own'

printf '%s\n' '<module> (app.py:30);run (lib/x.py:7);f(int, char) 4' \
	'std::map<int, long>::at(int const&) 2' 'swapper;[unknown];x_[k] 1' >"$tmp/names"
prof-merge "$tmp/names" | prof-render -f text | grep -E '^(function|location)' >"$tmp/got"
cat >"$tmp/want" <<'END'
function 1 "<module>" "" "app.py" 0
function 2 "[unknown]" "" "" 0
function 3 "f(int, char)" "" "" 0
function 4 "run" "" "lib/x.py" 0
function 5 "std::map<int, long>::at(int const&)" "" "" 0
function 6 "swapper" "" "" 0
function 7 "x_[k]" "" "" 0
location 1 m0 0x0 f1:30:0
location 2 m0 0x0 f2:0:0
location 3 m0 0x0 f3:0:0
location 4 m0 0x0 f4:7:0
location 5 m0 0x0 f5:0:0
location 6 m0 0x0 f6:0:0
location 7 m0 0x0 f7:0:0
END
same "$tmp/got" "$tmp/want" 'names with blanks, and files and lines as py-spy has them'
printf 'a;b\xff\xc3\xa9 1\n' | prof-render -f text >"$tmp/got"
like "$tmp/got" 'function 2 "b' 'bytes that are no ASCII'
printf '%s\n' 'main;work;leaf 12' 'work' >"$tmp/bad"
refuses 'a line without a count' prof-merge "$tmp/bad"
is "$(cat "$tmp/err")" "prof-merge: $tmp/bad: line 2: no count at the end of a collapsed stack" \
	'is named'
echo 'a;b 9223372036854775808' >"$tmp/bad"
refuses 'a count over 64 bits' prof-merge "$tmp/bad"
printf '%s\n' 'a 9223372036854775807' 'a 1' >"$tmp/bad"
refuses 'a sum over 64 bits' prof-merge "$tmp/bad"
echo 'a line of text' >"$tmp/bad"
refuses 'other text' prof-merge "$tmp/bad"
like "$tmp/err" 'text of an unknown kind' 'is not taken for them'
printf 'heap profile: 1: 2 [3: 4] @ heapprofile\n' >"$tmp/bad"
refuses 'a text heap profile' prof-merge "$tmp/bad"
like "$tmp/err" 'gperftools or Go text heap profile: convert it with' 'is named'
printf 'goroutine profile: total 5\n1 @ 0x1\n' >"$tmp/bad"
refuses 'one of goroutines, whose first line ends in a count' prof-merge "$tmp/bad"
like "$tmp/err" 'a Go text profile' 'too'
printf '{\n "a": 1\n}\n' >"$tmp/bad"
refuses 'JSON' prof-merge "$tmp/bad"
if command -v go >/dev/null; then
	prof-merge -o "$tmp/x.pb.gz" "$tmp/plain"
	go tool pprof -symbolize=none -top "$tmp/x.pb.gz" 2>/dev/null | awk '$NF == "leaf" { print $1 }' >"$tmp/got"
	is "$(cat "$tmp/got")" 17 'go tool pprof opens what comes of it'
else
	skip 'no go' 'go tool pprof opens what comes of it'
fi
done_testing
