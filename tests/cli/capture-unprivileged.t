#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# prof-capture of a user who has no capability: own processes, by perf events.
. "$top/tests/lib/tap.sh"
. "$top/tests/lib/capture.sh"

chmod 755 "$tmp"
mkdir "$tmp/u"
cp "$(command -v prof-capture)" "$workload" "$tmp/"
workload=$tmp/workload
as_user=
if [ "$(id -u)" -eq 0 ]; then
	command -v setpriv >/dev/null || skip_all 'needs setpriv'
	chown 65534 "$tmp/u"
	as_user='setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --bounding-set=-all'
fi
capture() {
	$as_user "$tmp/prof-capture" "$@"
}

run capture -q -F 99 -o "$tmp/u/p" -- "$workload" burn 50
if [ "$status" -ne 0 ] && grep -q 'perf events are blocked' "$tmp/err"; then
	skip_all "$(cat "$tmp/err")"
fi
is "$status" 0 'a user captures a command' || diag "$tmp/err"

# --- shares, stacks, labels ----------------------------------------------------------------------
run capture -F 999 -o "$tmp/u/p" -- "$workload" split 3
is "$status" 0 'a command: captured to its end'
like "$tmp/err" '^prof-capture: without CAP_BPF and CAP_PERFMON: by perf events' 'and says how'
is "$(grep -c '^prof-capture' "$tmp/err")" 1 'in one line'
grep -v '^prof-capture' "$tmp/err" >"$tmp/truth"
stacks "$tmp/u/p" >"$tmp/s"
major=$(samples '(^|;)hot_major(;|$)' <"$tmp/s")
minor=$(samples '(^|;)hot_minor(;|$)' <"$tmp/s")
shares "$major" "$minor" "$tmp/truth"
ok $? "two functions at 75 : 25: $major and $minor samples" || diag "$tmp/truth" "$tmp/s"
whole=$(samples '^_start;.*main;split;hot_(major|minor)(;|$)' <"$tmp/s")
most "$whole" $((major + minor)) 99
ok $? "their stacks are whole: $whole of $((major + minor))" || diag "$tmp/s"
balanced "$tmp/u/p" 1 'each tick is accounted for'
is "$(comment "$tmp/u/p" mode)" unprivileged 'the profile says how it came about'
awk -v e="$(comment "$tmp/u/p" expected)" '{ t = ($1 + $2) * 999 / 1e9; exit !(e > t * 0.98 && e < t * 1.1) }' "$tmp/truth"
ok $? 'as many ticks are expected as the program took time' || diag "$tmp/truth"
most "$(comment "$tmp/u/p" kept)" "$(comment "$tmp/u/p" expected)" 90
ok $? 'most of them are there'
prof-render -f text "$tmp/u/p" >"$tmp/text"
like "$tmp/text" "\"comm\"=\"workload\".*\"executable\"=\"$workload\"" 'labels of the program'
id=$(readelf -n "$workload" | sed -n 's/.*Build ID: //p')
like "$tmp/text" "^mapping .* \"$workload\" \"$id\"" 'its mapping has the build id'

if gcc -O2 -g -fno-optimize-sibling-calls -fomit-frame-pointer -o "$tmp/nofp" \
	"$top/tests/lib/workload.c" -lpthread 2>"$tmp/err"; then
	capture -q -F 999 -o "$tmp/u/p" -- "$tmp/nofp" recurse 1 20
	stacks "$tmp/u/p" | sed -E 's/;main(;descend){20}([; ])/;twenty\2/' >"$tmp/s"
	all=$(samples ';descend|;twenty' <"$tmp/s")
	deep=$(samples '^_start;([^;]*;)*twenty(;[^d]|$)' <"$tmp/s")
	most "$deep" "$all" 99
	ok $? "no frame pointers: a recursion of 20 is 20 frames: $deep of $all" || diag "$tmp/s"
else
	skip 'no gcc here' 'a program without frame pointers'
fi
capture -q -F 999 -o "$tmp/u/p" -- "$workload" recurse 1 600
stacks "$tmp/u/p" | sed -E 's/(;descend){30,}/;many/' >"$tmp/s"
all=$(samples ';many' <"$tmp/s")
short=$(samples '^\[(unwind stopped: end of the copied stack|truncated)\];many' <"$tmp/s")
most "$short" "$all" 95
ok $? "a stack that is deeper than the copy says so: $short of $all" || diag "$tmp/s"
[ "$(($(comment "$tmp/u/p" stacks_copy_end) + $(comment "$tmp/u/p" stacks_depth | grep . || echo 0)))" -ge "$short" ]
ok $? 'and is counted'

# --- processes -----------------------------------------------------------------------------------
capture -q -F 999 -o "$tmp/u/p" -- "$workload" spawn 60 40
read -r users mapped ids exe <<-END
	$(user_frames "$tmp/u/p")
END
most "$mapped" "$users" 95
ok $? "60 processes of 40 ms: $mapped of $users samples have a mapping"
is "$ids" "$mapped" 'and each of those a build id'
most "$exe" "$users" 95
ok $? "and $exe name the executable"
stacks "$tmp/u/p" >"$tmp/s"
all=$(samples 'short_burn' <"$tmp/s")
[ "$all" -gt 1000 ]
ok $? "children are followed: $all samples in them"
whole=$(samples '^_start;.*short_burn' <"$tmp/s")
most "$whole" "$all" 95
ok $? "with whole stacks: $whole"

cp "$workload" "$tmp/first"
cp "$workload" "$tmp/second"
capture -q -F 999 -o "$tmp/u/p" -- "$tmp/first" become 300 "$tmp/second"
prof-render -f text "$tmp/u/p" | sed -n 's/.*"comm"="\([^"]*\)".*"executable"="\([^"]*\)".*/\1 \2/p' |
	sort | uniq -c >"$tmp/pairs"
awk -v t="$tmp" '$2 == "first" && $3 == t "/first" { a += $1 }
	$2 == "second" && $3 == t "/second" { b += $1 }
	$2 ~ /^(first|second)$/ { n += $1 } END { exit !(a && b && a + b >= n - 3) }' "$tmp/pairs"
ok $? 'a process that execs is two programs' || diag "$tmp/pairs"

capture -q -F 999 --exclude comm=second -o "$tmp/u/p" -- "$tmp/first" become 300 "$tmp/second"
! prof-render -f text "$tmp/u/p" | grep -q '"comm"="second"'
ok $? '--exclude'
[ "$(comment "$tmp/u/p" filtered)" -gt 100 ]
ok $? 'counts what it left out'
balanced "$tmp/u/p" 1 'each tick is accounted for'

$as_user "$workload" orphan 20 &
orphan=$!
while grep -qs '^State:.[^Z]' "/proc/$orphan/status"; do sleep 0.05; done
capture -q -F 999 -d 0.5 --labels thread_id,ppid -p "$orphan" -o "$tmp/u/p"
is $? 0 '-p: a process that runs already, without its first thread'
prof-render -f text "$tmp/u/p" >"$tmp/text"
thread=$(find "/proc/$orphan/task" -mindepth 1 -maxdepth 1 ! -name "$orphan" -printf "%f")
like "$tmp/text" "^sample .*\"comm\"=\"workload\" .*\"pid\"=$orphan .*\"thread_id\"=$thread( |\$)" 'its labels' ||
	grep '^sample' "$tmp/text" | head -n 3 | diag
like "$tmp/text" "^sample .*\"ppid\"=$$( |\$)" 'and its parent'
kill "$orphan"
wait "$orphan" 2>/dev/null

# --- the end -------------------------------------------------------------------------------------
$as_user "$workload" burn 60000 &
load=$!
run capture -q -F 499 -p "$load" -i 0.3 -o "$tmp/u/i"
is "$status" 2 'a pattern that names intervals alike is refused as ever'
$as_user "$tmp/prof-capture" -q -F 499 -p "$load" -i 0.3 >"$tmp/p" &
pid=$!
intervals() {
	prof-render -f text "$tmp/p" 2>"$tmp/partial" | grep -c '^profile$'
}
for _ in $(seq 300); do
	[ "$(intervals)" -lt 3 ] || break
	sleep 0.1
done
kill -INT "$pid"
wait "$pid"
is $? 0 'an interrupt is an ordinary end'
[ "$(intervals)" -ge 4 ]
ok $? 'with all intervals'
balance "$tmp/p" >"$tmp/balance"
grep -q '^ok$' "$tmp/balance" && ! grep -qv '^ok$' "$tmp/balance"
ok $? 'each accounted for' || diag "$tmp/balance"
: >"$tmp/err"
$as_user "$tmp/prof-capture" -v -F 999 --ring 64K -d 2 -p "$load" -o "$tmp/u/p" 2>"$tmp/err" &
pid=$!
begun "$tmp/err"
standstill "$pid"
wait "$pid"
[ "$(comment "$tmp/u/p" lost_ring)" -gt 0 ]
ok $? "a ring that is too small: $(comment "$tmp/u/p" lost_ring) samples lost"
balanced "$tmp/u/p" 1 'and counted'
kill "$load"
wait "$load" 2>/dev/null

# --- what is refused -----------------------------------------------------------------------------
refuses 'the whole machine' capture -d 1
like "$tmp/err" 'needs CAP_BPF and CAP_PERFMON .*-- COMMAND, -p PID.*setcap' 'and says both ways'
refuses '--comm is for the whole machine' capture -d 1 --comm x
refuses 'a form of the BPF program' capture --unwinder loop -- true
if [ "$(id -u)" -eq 0 ]; then
	"$workload" burn 60000 &
	load=$!
	refuses "somebody else's process" capture -d 1 -p "$load"
	like "$tmp/err" "process $load is not yours" 'and says so'
	kill "$load"
	wait "$load" 2>/dev/null
	# a kernel that knows level 3, as Debian's do, as far as we can tell it from here
	echo 3 >"$tmp/paranoid"
	if command -v strace >/dev/null &&
		unshare -m mount --bind "$tmp/paranoid" /proc/sys/kernel/perf_event_paranoid 2>/dev/null; then
		# shellcheck disable=SC2016,SC2086 # expanded by the inner shell; words
		run unshare -m sh -c 'mount --bind "$0" /proc/sys/kernel/perf_event_paranoid && exec "$@"' \
			"$tmp/paranoid" $as_user env ASAN_OPTIONS=detect_leaks=0 strace -o "$tmp/u/trace" -e trace=perf_event_open \
			-e inject=perf_event_open:error=EACCES "$tmp/prof-capture" -o "$tmp/u/x" -- "$workload" burn 10
		is "$status" 2 'level 3: refused'
		is "$(cat "$tmp/err")" "prof-capture: perf events are blocked: kernel.perf_event_paranoid=3; as \
root: sysctl kernel.perf_event_paranoid=2" 'and says the command that changes it'
	else
		skip 'needs strace and mount namespaces' 'level 3 of perf_event_paranoid'
	fi
	capture_perfmon() {
		setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all,+perfmon \
			--ambient-caps=-all,+perfmon --bounding-set=-all,+perfmon \
			"$tmp/prof-capture" "$@"
	}
	run capture_perfmon -F 499 -o "$tmp/u/p" -- "$workload" kernel 1
	is "$status" 0 'with CAP_PERFMON alone'
	is "$(comment "$tmp/u/p" lost_kernel)" '' 'the kernel is not hidden'
	prof-render -f text "$tmp/u/p" >"$tmp/text"
	like "$tmp/text" '^mapping .* "\[kernel.kallsyms\]' 'but in the stacks'
	balanced "$tmp/u/p" 1 'and accounted for'
fi
refuses 'a process that is not there' capture -d 1 -p 999999999
done_testing
