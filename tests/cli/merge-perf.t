#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What `perf script` prints is a profile.
. "$top/tests/lib/tap.sh"

cat >"$tmp/one" <<'END'
# ========
# captured on    : by perf
# ========
#
my app 2   310/311 [001] 57137.720534:    1001001 cpu-clock:ppp: 
	            2f69 deps(int, (anonymous namespace)::x)+0xcf9 (/usr/lib/ld.so)
	            2f69 leaf+0x3 (inlined)
	           1db15 dl_main+0x1b55 (/usr/lib/ld.so)
	ffffffff81000c82 [unknown] ([kernel.kallsyms])

my app 2   310/311 [000] 57138.720534:    1001001 cpu-clock:ppp: 
	            2f69 deps(int, (anonymous namespace)::x)+0xcf0 (/usr/lib/ld.so)
	            2f60 dl_main+0x1 (/memfd:code (deleted))

END
prof-merge "$tmp/one" | prof-render -f text | grep -vE '^(comment|period)' >"$tmp/got"
cat >"$tmp/want" <<'END'
# profpipe text 1
profile
duration 1000000000
type "samples" "count"
type "cpu" "nanoseconds" default
mapping 1 0x0 0x0 0x0 "/usr/lib/ld.so" "" FI
mapping 2 0x0 0x0 0x0 "/memfd:code (deleted)" "" FI
mapping 3 0x0 0x0 0x0 "[kernel.kallsyms]" "" FI
function 1 "[unknown]" "" "" 0
function 2 "deps(int, (anonymous namespace)::x)" "" "" 0
function 3 "dl_main" "" "" 0
function 4 "leaf" "" "" 0
location 1 m1 0x0 f2:0:0
location 2 m1 0x0 f4:0:0 f3:0:0
location 3 m2 0x0 f3:0:0
location 4 m3 0x0 f1:0:0
sample 1 1001001 : 1 3 : "comm"="my app 2" "pid"=310 "thread_id"=311
sample 1 1001001 : 1 2 4 : "comm"="my app 2" "pid"=310 "thread_id"=311
end
END
same "$tmp/got" "$tmp/want" 'stacks, inlined frames, files, labels and time'

# as it is without stacks and with several events; a tracepoint has fields behind it
cat >"$tmp/several" <<'END'
              ls   321 57139.306190:          1 page-faults:  ffffffff8177819a elf_load+0x28a ([kernel.kallsyms])
              ls   321 57139.306595:     250000   cpu-clock:  ffffffff8177819a elf_load+0x28a ([kernel.kallsyms])
              ls   321 57139.306600:          7 sched:sched_stat_runtime: comm=ls pid=321 runtime=7 [ns]
END
prof-merge "$tmp/several" | prof-render -f text | grep -E '^(type|sample)' >"$tmp/got"
cat >"$tmp/want" <<'END'
type "page-faults" "count"
type "cpu" "nanoseconds"
type "sched:sched_stat_runtime" "count" default
sample 0 0 7 : : "comm"="ls" "thread_id"=321
sample 1 250000 0 : 1 : "comm"="ls" "thread_id"=321
END
same "$tmp/got" "$tmp/want" 'a type for each event'
sed 's/[0-9]* *cpu-clock/cpu-clock/' "$tmp/one" | prof-merge | prof-render -f text | grep '^type' >"$tmp/got"
is "$(cat "$tmp/got")" 'type "samples" "count" default' 'samples alone where no period is told'
gzip -c "$tmp/one" | prof-render -f folded >"$tmp/got"
like "$tmp/got" '^.unknown.;dl_main;leaf;deps.* 1001001$' 'compressed, for prof-render'

{ cat "$tmp/one"; echo 'Warning: something else'; } >"$tmp/bad"
refuses 'a line that is none of it' prof-merge "$tmp/bad"
is "$(cat "$tmp/err")" "prof-merge: $tmp/bad: line 15: not what perf script prints" 'is named'
awk 'BEGIN { for (i = 0; i < 17; i++) printf "a 1 1.0: 1 e%d: \n\n", i }' >"$tmp/bad"
refuses 'too many events' prof-merge "$tmp/bad"
like "$tmp/err" 'more than 16 kinds of events' 'are counted'
printf 'a 1 1.0: 9223372036854775807 x: \n\na 1 1.0: 9 x: \n' >"$tmp/bad"
refuses 'a sum over 64 bits' prof-merge "$tmp/bad"
printf 'PERFILE2xxxxxxxx' >"$tmp/bad"
refuses 'perf.data itself' prof-merge "$tmp/bad"
like "$tmp/err" 'perf.data file: print it with perf script, which is read' 'and what to do'

# perf's own word, summed by another program
if perf record -q -e cpu-clock -F 999 -g -o "$tmp/data" "$build/tests/lib/workload" burn 500 2>/dev/null &&
	perf script -i "$tmp/data" >"$tmp/script" 2>/dev/null; then
	awk '/^[^ \t#]/ { v = $(NF - 1); first = 1; next }
		first && NF > 1 { sub(/\+0x.*/, "", $2); self[$2] += v; first = 0 }
		END { for (n in self) print n, self[n] }' "$tmp/script" | sort >"$tmp/want"
	prof-render -f csv "$tmp/script" | sed 1d | awk -F, '$1 > 0 { gsub(/"/, ""); print $6, $1 }' | sort >"$tmp/got"
	same "$tmp/got" "$tmp/want" 'what perf script prints here adds up to the same'
else
	skip 'perf does not record here' 'what perf script prints here adds up to the same'
fi
done_testing
