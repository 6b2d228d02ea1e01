#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Values over time as CSV.
. "$top/tests/lib/tap.sh"

profile() {
	printf '# profpipe text 1\nprofile\n%sduration %s\ntype "cpu" "nanoseconds"\n' "$1" "$2"
	printf 'function 1 "main" "" "" 0\nfunction 2 "work" "" "" 0\nlocation 1 m0 0x0 f1:0:0\nlocation 2 m0 0x0 f2:0:0\n'
	cat
	echo end
}
{
	profile 'time 1764547210000000000
' 10000000000 <<'END'
sample 5000000000 : 1 : "comm"="app" "pid"=7
sample 15000000000 : 2 1 : "comm"="app" "pid"=8
sample 1000000000 : 1 : "comm"="=db,\"x\"" "pid"=9
END
	profile 'time 1764547200500000000
' 10000000000 <<'END'
sample 2000000000 : 2 1 : "comm"="app"
sample 4000000000 : 1 :
END
	profile '' 0 <<'END'
sample 3 : 2 1 : "comm"="app"
END
} >"$tmp/in.txt"
crlf() { awk '{ printf "%s\r\n", $0 }'; }

crlf >"$tmp/want" <<'END'
time,seconds,profiles,"comm",type,unit,value,rate
2025-12-01T00:00:00.5Z,10,1,"","cpu","nanoseconds",4000000000,0.4
2025-12-01T00:00:00.5Z,10,1,"app","cpu","nanoseconds",2000000000,0.2
2025-12-01T00:00:10Z,10,1,"'=db,""x""","cpu","nanoseconds",1000000000,0.1
2025-12-01T00:00:10Z,10,1,"app","cpu","nanoseconds",20000000000,2
,,,"app","cpu","nanoseconds",3,
END
prof-render -f timeline --by comm "$tmp/in.txt" >"$tmp/got"
same "$tmp/got" "$tmp/want" "by a label, in order of time; cores; a formula made safe"
crlf >"$tmp/want" <<'END'
time,seconds,profiles,type,unit,value,rate
2025-12-01T00:00:00.5Z,10,1,"cpu","nanoseconds",2000000000,0.2
2025-12-01T00:00:10Z,10,1,"cpu","nanoseconds",15000000000,1.5
,,,"cpu","nanoseconds",3,
END
prof-render -f timeline --focus work "$tmp/in.txt" >"$tmp/got"
same "$tmp/got" "$tmp/want" "without a label, of stacks through a function"
prof-render -f timeline --by comm,pid -s comm=app --since 2025-12-01T00:00:10Z "$tmp/in.txt" | tr -d '\r' >"$tmp/got"
is "$(tail -n +2 "$tmp/got" | cut -d , -f 4,5,8)" '"app","7",5000000000
"app","8",15000000000' "by two labels, of a part"

# the sums are those of windows that prof-merge makes
awk 'BEGIN { s = 5; for (t = 0; t < 50; t++) for (m = 0; m < 2; m++) {
	printf "# profpipe text 1\nprofile\ntime %d000000000\nduration 10000000000\ntype \"inuse_space\" \"bytes\"\ntype \"cpu\" \"nanoseconds\"\n", 1764547200 + t * 10 + m * 3
	print "function 1 \"f\" \"\" \"\" 0\nlocation 1 m0 0x0 f1:0:0"
	for (k = 0; k < 3; k++) { s = (s * 16807) % 2147483647; printf "sample %d %d : 1 : \"node\"=\"n%d\" \"k\"=%d\n", s % 1000, s, m, k }
	print "end" } }' >"$tmp/two.txt"
prof-render -f timeline --by node "$tmp/two.txt" | tr -d '\r"' | awk -F , 'NR > 1 { print $1, $4, $7 }' | sort >"$tmp/got"
prof-merge --window 10s --by node "$tmp/two.txt" | prof-render -f text | awk '
	/^time/ { t = $2 / 1e9 - $2 / 1e9 % 10 } /^sample/ { split($0, part, "\""); print strftime("%Y-%m-%dT%H:%M:%SZ", t, 1), part[4], $3 }' | sort >"$tmp/want"
same "$tmp/got" "$tmp/want" "two machines: windows, as prof-merge makes them"
is "$(wc -l <"$tmp/got")" 100 "all of them"
prof-render -f timeline -t inuse_space "$tmp/two.txt" | tr -d '\r' >"$tmp/got"
is "$(awk -F , 'NR > 1 && $3 != 2 || NR > 1 && $6 / 2 != $7' "$tmp/got")" "" "a level is the mean of its profiles"
prof-render -f timeline -t inuse_space --by node "$tmp/two.txt" | tr -d '\r' >"$tmp/got"
is "$(awk -F , 'NR > 1 && $3 != 1 || NR > 1 && $7 != $8' "$tmp/got")" "" "by machine it is that of the machine's own"
prof-render -f timeline --by node "$tmp/two.txt" | tr -d '\r' >"$tmp/got"
is "$(awk -F , 'NR > 1 && $2 != 10 || NR > 1 && sprintf("%.9g", $7 / 1e10) != $8' "$tmp/got")" "" "and its rate of its own time"
prof-render -f timeline -t inuse_space --by node,k "$tmp/two.txt" | tr -d '\r' >"$tmp/got"
is "$(awk -F , 'NR > 1 && $3 != 1' "$tmp/got")" "" "by a label besides that no machine has for itself, too"
prof-merge --window 1m "$tmp/two.txt" | prof-render -f timeline | tr -d '\r' >"$tmp/got"
is "$(awk -F , 'NR > 1 { print $1, $2 }' "$tmp/got" | head -n 3)" "2025-12-01T00:00:00Z 60
2025-12-01T00:01:00Z 60
2025-12-01T00:02:00Z 60" "merged before into windows, the machines together: each window is as long as it was"
is "$(wc -l <"$tmp/got")" 10 "and has a row of its own"
printf '# profpipe text 1\nprofile\ntime 5\nduration 2000000000\ntype "a" "b"\nend\n' | prof-render -f timeline >"$tmp/got"
is "$(tail -n 1 "$tmp/got" | tr -d '\r')" '1970-01-01T00:00:00.000000005Z,2,1,"a","b",0,0' "an interval without a sample has a row"
# one machine has nothing in an interval: it counts in what is of all, as it does in the page
sed '/^sample .*"n1"/d' "$tmp/two.txt" | awk '/^profile/ { n++ } n <= 4' >"$tmp/idle.txt"
{ cat "$tmp/idle.txt"; awk '/^# prof/ { n++ } n > 4 && n <= 6' "$tmp/two.txt"; } >"$tmp/idle2.txt"
prof-render -f timeline -t inuse_space "$tmp/idle2.txt" | tr -d '\r' >"$tmp/got"
is "$(awk -F , 'NR > 1 && $3 != 2 || NR > 1 && $6 / 2 != $7' "$tmp/got") $(wc -l <"$tmp/got")" " 4" "a machine without samples counts in what is of all"
refuses "--by with a table" prof-render --by k "$tmp/two.txt"
like "$tmp/err" "^prof-render: --by is for -f timeline and -f html, not for -f table; " "which says what --by is for"
refuses "--by with -f text" prof-render -f text --by k "$tmp/two.txt"
refuses "a sum that does not fit" prof-render -f timeline - <<'END'
# profpipe text 1
profile
time 5
type "a" "b"
function 1 "f" "" "" 0
location 1 m0 0x0 f1:0:0
sample 9000000000000000000 : 1 : "k"="a"
sample 9000000000000000000 : 1 : "k"="b"
end
END
done_testing
