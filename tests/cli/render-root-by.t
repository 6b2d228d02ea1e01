#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Label values above the root of stacks.
. "$top/tests/lib/tap.sh"

cat >"$tmp/in.txt" <<'END'
# profpipe text 1
profile
type "cpu" "nanoseconds"
function 1 "main" "" "m.c" 0
function 2 "work" "" "m.c" 0
location 1 m0 0x0 f1:0:0
location 2 m0 0x0 f2:0:0
sample 5 : 2 1 : "comm"="app" "pid"=7
sample 3 : 2 1 : "comm"="db" "comm"="sql" "pid"=8
sample 2 : 1 : "pid"=8
end
END
printf '%s\n' 'app;main;work 5' 'db,sql;main;work 3' 'main 2' >"$tmp/want"
prof-render -f folded --root-by comm "$tmp/in.txt" >"$tmp/got"
same "$tmp/got" "$tmp/want" "by one label: several values together, none where there is none"
printf '%s\n' '7;app;main;work 5' '8;db,sql;main;work 3' '8;main 2' >"$tmp/want"
prof-render -f folded --root-by pid,comm "$tmp/in.txt" >"$tmp/got"
same "$tmp/got" "$tmp/want" "by two, the first outermost, numbers in decimal"
prof-render -f folded --root-by pid --root-by=comm "$tmp/in.txt" >"$tmp/got"
same "$tmp/got" "$tmp/want" "the same by repeating the option"
prof-render --root-by comm -f csv "$tmp/in.txt" >"$tmp/got"
like "$tmp/got" '^0,.*,5,.*,"app","comm",' "a row of the table, whose file is the key"
like "$tmp/got" '^2,.*,10,.*,"main","m.c",' "what functions have stays"
prof-render --root-by comm --focus '^db' -f folded "$tmp/in.txt" >"$tmp/got"
is "$(cat "$tmp/got")" "db,sql;main;work 3" "stack filters see it"
if command -v go >/dev/null; then
	prof-merge -o "$tmp/in.pb.gz" "$tmp/in.txt"
	rows() { awk 'on { print $1, $4, $6 } $1 == "flat" { on = 1 }' | sort; }
	go tool pprof -top -tagroot=pid -unit=ns -nodefraction=0 "$tmp/in.pb.gz" 2>/dev/null | rows >"$tmp/want"
	prof-render --root-by=pid --unit=ns --no-trim "$tmp/in.txt" | rows >"$tmp/got"
	same "$tmp/got" "$tmp/want" "as go tool pprof -tagroot has it"
else
	skip "no go" "as go tool pprof -tagroot has it"
fi
printf '# profpipe text 1\nprofile\ntype "a" "b"\nsample 4 : : "comm"="app"\nend\n' | prof-render -f folded --root-by comm >"$tmp/got"
is "$(cat "$tmp/got")" "app 4" "a sample without frames"
refuses "not for the text form" prof-render -f text --root-by comm "$tmp/in.txt"
refuses "a label is wanted" prof-render --root-by , "$tmp/in.txt"
done_testing
