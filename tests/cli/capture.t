#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# prof-capture on this machine's kernel: what it says of loads that are known.
. "$top/tests/lib/tap.sh"
. "$top/tests/lib/capture.sh"

needs_capture
loads=
trap 'kill $loads 2>/dev/null; rm -rf "$tmp"' EXIT

# --- accounting of CPUs that have nothing to do ------------------------------------------------
prof-capture -F 99 -d 4 -i 2 -o "$tmp/quiet-%S"
cat "$tmp"/quiet-* >"$tmp/quiet"
balanced "$tmp/quiet" 2 'ticks of idle CPUs are accounted for'

# --- shares and stacks -----------------------------------------------------------------------
prof-capture -F 999 -o "$tmp/split" -- "$workload" split 3 >"$tmp/truth" 2>"$tmp/err"
ok $? 'a command: captured to its end' || diag "$tmp/err"
stacks "$tmp/split" >"$tmp/s"
major=$(samples '(^|;)hot_major(;|$)' <"$tmp/s")
minor=$(samples '(^|;)hot_minor(;|$)' <"$tmp/s")
shares "$major" "$minor" "$tmp/truth"
ok $? "two functions at 75 : 25: $major and $minor samples" || diag "$tmp/truth" "$tmp/s"
whole=$(samples '(^|;)main;split;hot_(major|minor)(;|$)' <"$tmp/s")
most "$whole" $((major + minor)) 95
ok $? "their callers are there: $whole of $((major + minor))" || diag "$tmp/s"
balanced "$tmp/split" 1 'each tick is accounted for'
[ "$(comment "$tmp/split" filtered)" -gt 0 ]
ok $? 'what was not asked for is filtered'
prof-render -f text "$tmp/split" >"$tmp/text"
like "$tmp/text" '^type "cpu" "nanoseconds" default$' 'the CPU time is the default type'
like "$tmp/text" '^period "cpu" "nanoseconds" 1001001$' 'the period is that of the rate'
like "$tmp/text" "\"comm\"=\"workload\".*\"executable\"=\"$workload\"" 'labels of the program'
like "$tmp/text" '"pid"=[0-9]+( |$)' 'the label pid is a number'
like "$tmp/text" "\"node\"=\"$(uname -n)\"" 'the label node is the host'
id=$(readelf -n "$workload" | sed -n 's/.*Build ID: //p')
like "$tmp/text" "^mapping .* \"$workload\" \"$id\"" 'its mapping has the build id'
like "$tmp/text" "\"build_id\"=\"$id\"" 'and so has the label'

prof-capture -F 999 -o "$tmp/recurse" -- "$workload" recurse 1 20
# but for when it asks for the time: the vdso has no frame pointers, and a caller is missing
stacks "$tmp/recurse" | grep -v ';__clock_gettime' |
	sed -E 's/;main(;descend){20}([; ])/;twenty\2/' >"$tmp/s"
all=$(samples ';descend|;twenty' <"$tmp/s")
deep=$(samples ';twenty(;[^d]|$)' <"$tmp/s")
most "$deep" "$all" 95
ok $? "a recursion of 20 is 20 frames: $deep of $all" || diag "$tmp/s"

capture_running "$workload" recurse 600 600 --
stacks "$tmp/p" | sed -E 's/(;descend){100,}/;hundred/' >"$tmp/s"
all=$(samples 'descend|hundred' <"$tmp/s")
deep=$(samples '^\[truncated\];hundred' <"$tmp/s")
most "$deep" "$all" 95
ok $? "a deeper stack than is followed says so: $deep of $all" || diag "$tmp/s"

prof-capture -F 999 -o "$tmp/kernel" -- "$workload" kernel 1
stacks "$tmp/kernel" >"$tmp/s"
all=$(samples 'read_much' <"$tmp/s")
joined=$(samples '(^|;)main;kernel_load;read_much;.*sys_read;.*read' <"$tmp/s")
most "$joined" "$all" 80
ok $? "kernel frames stand on the program's: $joined of $all" || diag "$tmp/s"
prof-render -f text "$tmp/kernel" >"$tmp/text"
like "$tmp/text" '^mapping .* 0x0 "\[kernel.kallsyms\]_stext" "[0-9a-f]+" F' 'the kernel is a mapping'
stext=$(sed -n 's/ T _stext$//p' /proc/kallsyms)
like "$tmp/text" "^mapping [0-9]+ 0x$stext .*kernel.kallsyms" 'from _stext on'

prof-capture -F 999 --anonymous-kernel -o "$tmp/hidden" -- "$workload" kernel 0.5
prof-render -f text "$tmp/hidden" >"$tmp/text"
case $(uname -m) in
x86_64) linked=0xffffffff81000000 ;;
*) linked=0xffff800008000000 ;;
esac
like "$tmp/text" '^mapping .* "\[kernel.kallsyms\]_stext" "[0-9a-f]+" F' 'the mapping is there'
like "$tmp/text" "^mapping [0-9]+ $linked .*kernel.kallsyms" '--anonymous-kernel: as linked'
prof-merge "$tmp/kernel" "$tmp/hidden" | prof-render -f text >"$tmp/text"
is "$(grep -c '^mapping.*kernel.kallsyms' "$tmp/text")" 1 'and is the same for prof-merge'

if [ "$(uname -m)" = x86_64 ]; then
	prof-capture -F 999 -o "$tmp/jit" -- "$workload" jit 0.5
	stacks "$tmp/jit" >"$tmp/s"
	all=$(samples 'jit_load' <"$tmp/s")
	jit=$(samples '^\[jit: no map\].*main;jit_load;[^;_]*$' <"$tmp/s")
	most "$jit" "$all" 90
	ok $? "code made at run time is pointed out: $jit of $all" || diag "$tmp/s"
fi

# --- processes ---------------------------------------------------------------------------------
prof-capture -F 999 -o "$tmp/short" -- "$workload" spawn 100 15
read -r users mapped ids exe <<-END
	$(user_frames "$tmp/short")
END
most "$mapped" "$users" 95
ok $? "100 processes of 15 ms: $mapped of $users samples have a mapping"
is "$ids" "$mapped" 'and each of those a build id'
most "$exe" "$users" 95
ok $? "and $exe name the executable"
stacks "$tmp/short" >"$tmp/s"
all=$(samples 'short_burn' <"$tmp/s")
[ "$all" -gt 1000 ]
ok $? "children are followed: $all samples in them"

cp "$workload" "$tmp/first"
cp "$workload" "$tmp/second"
prof-capture -F 999 -o "$tmp/become" -- "$tmp/first" become 300 "$tmp/second"
prof-render -f text "$tmp/become" | sed -n 's/.*"comm"="\([^"]*\)".*"executable"="\([^"]*\)".*/\1 \2/p' |
	sort | uniq -c >"$tmp/pairs"
awk -v t="$tmp" '$2 == "first" && $3 == t "/first" { a += $1 }
	$2 == "second" && $3 == t "/second" { b += $1 }
	$2 ~ /^(first|second)$/ { n += $1 } END { exit !(a && b && a + b >= n - 3) }' "$tmp/pairs"
ok $? 'a process that execs is two programs' || diag "$tmp/pairs"

prof-capture -F 999 -o "$tmp/orphan" -- "$workload" orphan 0.5
stacks "$tmp/orphan" >"$tmp/s"
all=$(samples 'orphan;short_burn' <"$tmp/s")
[ "$all" -gt 250 ]
ok $? "a process whose main thread has ended: $all samples" || diag "$tmp/s"

"$workload" orphan 60 &
orphan=$!
while grep -qs '^State:.[^Z]' "/proc/$orphan/status"; do sleep 0.05; done
prof-capture -F 999 -d 0.5 -p "$orphan" -o "$tmp/orphan"
thread=$(find "/proc/$orphan/task" -mindepth 1 -maxdepth 1 ! -name "$orphan" -printf "%f")
refuses '-p: a thread is no process' prof-capture -d 1 -p "$thread"
like "$tmp/err" "$thread is a thread of process $orphan" 'and says whose'
kill "$orphan"
stacks "$tmp/orphan" >"$tmp/s"
all=$(samples 'orphan;short_burn' <"$tmp/s")
[ "$all" -gt 50 ]
ok $? "its main thread ended before the capture: $all samples" || diag "$tmp/s"
prof-render -f text "$tmp/orphan" >"$tmp/text"
like "$tmp/text" "\"executable\"=\"$workload\"" 'and the executable is known'

"$workload" split 600 >/dev/null &
load=$!
loads=$load
prof-capture -F 999 -d 0.5 -p "$load" >"$tmp/pid"
prof-render -f text "$tmp/pid" >"$tmp/text"
is "$(grep -o '"pid"=[0-9]*' "$tmp/text" | sort -u)" "\"pid\"=$load" '-p: only that process'
# how much of a CPU it gets is up to others
[ "$(comment "$tmp/pid" kept)" -gt 10 ]
ok $? '-p: which was running before'

# --- selection by name: one that runs already, one that starts later, one that is not meant ------
cp "$workload" "$tmp/wanted_a"
cp "$workload" "$tmp/wanted_b"
"$tmp/wanted_a" burn 600000 &
one=$!
loads="$loads $one"
start_capture -F 999 --comm 'wanted_?' --comm nothing >"$tmp/comm"
"$tmp/wanted_b" burn 300
kill "$pid" "$one"
wait "$pid"
prof-render -f text "$tmp/comm" | grep -o '"comm"="[^"]*"' | sort -u | tr '\n' ' ' >"$tmp/names"
is "$(cat "$tmp/names")" '"comm"="wanted_a" "comm"="wanted_b" ' '--comm: by name, also later'
balanced "$tmp/comm" 1 '--comm: each tick is accounted for'

# --- labels --------------------------------------------------------------------------------------
prof-capture -F 999 -d 0.2 -p "$load" --label env=test --label 'team=a=b' --node n1 \
	--labels thread_name,thread_id,ppid,cpu,kernel_release >"$tmp/labels"
prof-render -f text "$tmp/labels" >"$tmp/text"
for l in '"env"="test"' '"team"="a=b"' '"node"="n1"' '"thread_name"="workload"' \
	"\"thread_id\"=$load" "\"ppid\"=$$" '"cpu"="[0-9]+"' "\"kernel_release\"=\"$(uname -r)\""; do
	like "$tmp/text" "^sample .*$l( |\$)" "label $l"
done
prof-capture -F 999 -d 0.2 -p "$load" --label comm=own --label x=1 --label x=2 >"$tmp/labels"
prof-render -f text "$tmp/labels" >"$tmp/text"
is "$(grep -o '"\(comm\|x\)"="[^"]*"' "$tmp/text" | sort -u | tr '\n' ' ')" \
	'"comm"="own" "x"="2" ' '--label: in place of other values'
refuses '--labels: an unknown one' prof-capture --labels thread_name,nonsense
refuses '--label without =' prof-capture --label x

# --- intervals -----------------------------------------------------------------------------------
prof-capture -q -F 999 -d 4 -i 0.4 -n 10 >"$tmp/ten"
prof-render -f text "$tmp/ten" >"$tmp/text"
awk '$1 == "time" { if (n++ && $2 != end) bad = 1; time = $2 }
	$1 == "duration" { end = time + $2; if ($2 <= 0) bad = 1 }
	END { exit !(n == 10 && !bad) }' "$tmp/text"
ok $? 'ten intervals, each begins where the one before ended' || grep -E '^(time|dur)' "$tmp/text" | diag
balanced "$tmp/ten" 10 'ten intervals: in each one every tick is accounted for'
# the same process in both, at the same time but for how much later one of them began
apart() {
	for f in ten long; do
		prof-render -f text "$tmp/$f" | awk '$1 == "time" { printf "%.3f ", $2 / 1e9; exit }'
	done | awk '{ d = $1 - $2; print d < 0 ? -d : d }'
}
for _ in 1 2 3 4 5 6; do
	prof-capture -q -F 999 -d 4 -i 0.4 -p "$load" >"$tmp/ten" &
	a=$!
	prof-capture -q -F 999 -d 4 -p "$load" >"$tmp/long" &
	wait "$a"
	wait $!
	later=$(apart)
	awk -v l="$later" 'BEGIN { exit !(l < 1) }' && break
done
balanced "$tmp/ten" 10 'and what is filtered counts in its interval'
sum=$(prof-merge "$tmp/ten" | prof-render -f folded -t samples | samples .)
long=$(prof-render -f folded -t samples "$tmp/long" | samples .)
awk -v a="$sum" -v b="$long" -v later="$later" 'BEGIN {
	d = a > b ? a - b : b - a
	exit !(b > 200 && later < 1 && d <= 4 * sqrt(b) + 0.05 * b + 999 * later) }'
ok $? "ten intervals hold what one long one does: $sum, $long, begun $later s apart"

# by no higher rate: a timer that is late by some periods may look like one on time
start_capture -F 999 --ring 4K -d 2 -o "$tmp/lossy"
standstill "$pid"
wait "$pid"
like "$tmp/err" '^prof-capture: lost [0-9]+ of [0-9]+ samples \([0-9.]+ %\): ring too small, try --ring' \
	'a ring too small: says so'
is "$(grep -c 'too small' "$tmp/err")" 1 'once'
[ "$(comment "$tmp/lossy" lost_ring)" -gt 0 ]
ok $? "and counts it: $(comment "$tmp/lossy" lost_ring)"
run prof-capture -v -F 1 --ring 1 -d 0.05
like "$tmp/err" 'ring of [1-9][0-9]* KiB' 'a ring has the size of a page at least'
balanced "$tmp/lossy" 1 'and all the others'

prof-capture -q -d 0.3 -i 0.1 -p 1 --stats >"$tmp/empty" 2>"$tmp/err"
is "$(prof-render -f text "$tmp/empty" | grep -c '^profile$')" 3 'a profile for each interval, with samples or not'
is "$(wc -l <"$tmp/err")" 4 '--stats: a heading and a line for each'

# --- ends ----------------------------------------------------------------------------------------
start_capture >"$tmp/int"
"$workload" burn 300
kill -INT "$pid"
wait "$pid"
is $? 0 'an interrupt is an ordinary end'
[ "$(comment "$tmp/int" kept)" -gt 0 ]
ok $? 'with the data'
balanced "$tmp/int" 1 'and each tick accounted for'
: >"$tmp/err"
{
	begun "$tmp/err"
	"$workload" burn 300
	kill -INT "$(cat "$tmp/pid")"
} &
sh -c 'echo $$ >"$0/pid" && exec timeout 100 sh -c "$1"' "$tmp" \
	"prof-capture -v 2>$tmp/err | prof-symbolize | prof-render >$tmp/table"
like "$tmp/table" 'hot_major' 'Ctrl-C on a pipeline: the table is there' || diag "$tmp/err"

(
	timeout 20 prof-capture -i 0.2 2>"$tmp/err"
	echo $? >"$tmp/st"
) | head -c 1 >/dev/null
is "$(cat "$tmp/st")" 0 'a reader that has enough is an ordinary end'
is "$(cat "$tmp/err")" '' 'and a quiet one'

mkdir "$tmp/dir"
start_capture -o "$tmp/dir/killed.pb.gz"
kill -9 "$pid"
wait "$pid" 2>/dev/null
is "$(ls "$tmp/dir")" '' 'killed: nothing under the final name'

run sh -c 'prof-capture -d 0.1 >/dev/full'
is "$status" 2 'a full device: exit status 2'
is "$(wc -l <"$tmp/err")" 1 'a full device: one line' || diag "$tmp/err"
run prof-capture -d 0.1 -o /dev/full
is "$status" 2 'a full device by -o: exit status 2'
refuses 'no standard output' sh -c 'exec prof-capture -d 0.1 >&-'
run prof-capture -v -d 0.1 -o /dev/null
like "$tmp/err" "99 samples/s on each of $cpus CPUs" '-v says what was set up'
# shellcheck disable=SC2086 # numbers
kill $loads 2>/dev/null

# --- names of files ------------------------------------------------------------------------------
refuses 'one name for many intervals' prof-capture -i 1 -o "$tmp/dir/x.pb.gz"
refuses 'names that come again' prof-capture -i 1 -o "$tmp/dir/%H%M%S.pb.gz"
refuses 'names too coarse' prof-capture -i 1 -n 3 -o "$tmp/dir/%Y%m%d%H%M.pb.gz"
refuses 'a directory that is not there' prof-capture -d 1 -o "$tmp/none/x.pb.gz"
run prof-capture -d 60 -o "$tmp/dir" # at the start, not when all is captured
is "$status: $(cat "$tmp/err")" "2: prof-capture: $tmp/dir: Is a directory" 'a directory: refused'
is "$(ls "$tmp/dir")" '' 'refused: no file'
prof-capture -q -d 2 -i 1 -o "$tmp/dir/{type}-%s.pb.gz"
is $? 0 'a file for each interval'
is "$(echo "$tmp/dir"/* | sed "s|$tmp/dir/||g; s/[0-9]\{10\}/TIME/g")" \
	'cpu-TIME.pb.gz cpu-TIME.pb.gz' 'named by type and time'
for f in "$tmp/dir"/*; do
	is "cpu-$(prof-render -f text "$f" | sed -n 's/^time \([0-9]*\)[0-9]\{9\}$/\1/p').pb.gz" \
		"$(basename "$f")" 'the time is that of the start'
done

# --- a command -----------------------------------------------------------------------------------
run prof-capture -- sh -c 'echo out; echo err >&2'
is "$status" 0 'a command without -o'
is "$(grep -c '^out$\|^err$' "$tmp/err")" 2 'its standard output goes to standard error'
prof-render -f text "$tmp/out" >/dev/null 2>&1
ok $? 'and standard output holds the profile'
refuses 'a command that is not there' prof-capture -- "$tmp/no-such-command"
refuses 'a command without --' prof-capture true
refuses 'a command before --' prof-capture true --
refuses '-- without a command' prof-capture --
refuses 'a process that is not there' prof-capture -p 2147483646
refuses 'a rate of nothing' prof-capture -F 0
refuses '-n without -i' prof-capture -n 3

# --- namespaces ----------------------------------------------------------------------------------
if unshare -p -f --mount-proc true 2>/dev/null; then
	refuses 'another PID namespace: refused' unshare -p -f --mount-proc prof-capture -d 1
	like "$tmp/err" 'PID namespace.*--pid=host' 'and what to do is said'
else
	skip 'no PID namespaces here' 'another PID namespace'
fi
done_testing
