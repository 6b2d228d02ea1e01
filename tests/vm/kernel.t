#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# prof-capture on another kernel, in a virtual machine of scripts/vmtest: its programs load and
# what it says is right. A busybox has to do.
. "$top/tests/lib/tap.sh"
. "$top/tests/lib/capture.sh"
late_part=8 # an emulated processor waits for the host

uname -r -m | diag
[ -r /sys/kernel/btf/vmlinux ]
ok $? 'the kernel has type information'

# during LOAD OPTION…: capture a load that runs already. One that is new has to wait for its
# tables, here for long.
during() {
	# shellcheck disable=SC2086
	"$workload" $1 >/dev/null &
	load=$!
	shift
	sleep 0.5
	run prof-capture -q -F 499 -d 1.5 -p "$load" "$@"
	kill "$load"
}

# form OPTION…: one form of the programs, by the options that make prof-capture load it
form() {
	how=${*:-by default}
	run prof-capture "$@" -q -F 99 -d 0.5 -o "$tmp/all"
	is "$status" 0 "$how: loads" || diag "$tmp/err"
	balanced "$tmp/all" 1 "$how: each tick is accounted for"
	during 'split 60' "$@" -o "$tmp/split"
	is "$status" 0 "$how: loads with a filter" || diag "$tmp/err"
	stacks "$tmp/split" >"$tmp/s"
	all=$(samples 'hot_(major|minor)' <"$tmp/s")
	root='^_start;(.*;)?' # frame pointers lose those of libc
	[ "$*" != '--unwinder fp' ] || root='(^|;)'
	whole=$(samples "${root}main;split;hot_(major|minor)(;|\$)" <"$tmp/s")
	most "$whole" "$all" 95
	ok $? "$how: stacks are right: $whole of $all" || diag "$tmp/s"
	balanced "$tmp/split" 1 "$how: each tick is accounted for, with a filter"
	prof-render -f text "$tmp/split" >"$tmp/text"
	like "$tmp/text" "\"comm\"=\"workload\".*\"executable\"=\"$workload\"" "$how: labels"
}

# tables_of OPTION…: stacks that are followed by tables, with and without a table to begin with
tables_of() {
	during 'recurse 60 20' "$@" -o "$tmp/recurse"
	stacks "$tmp/recurse" | sed -E 's/;main(;descend){20}([; ])/;twenty\2/' >"$tmp/s"
	all=$(samples ';descend|;twenty' <"$tmp/s")
	deep=$(samples '^_start;([^;]*;)*twenty(;[^d]|$)' <"$tmp/s")
	most "$deep" "$all" 95
	ok $? "$*: a recursion of 20 is 20 frames, from _start on: $deep of $all" || diag "$tmp/s"
	during 'signal 60' "$@" -o "$tmp/signal"
	stacks "$tmp/signal" >"$tmp/s"
	all=$(samples ';on_signal' <"$tmp/s")
	below=$(samples '^_start;.*;main;signal_load;(.*;)?on_signal' <"$tmp/s")
	most "$below" "$all" 95
	ok $? "$*: what a signal handler interrupted is there: $below of $all" || diag "$tmp/s"
}

form
run prof-capture -v -d 0.1 -o /dev/null
like "$tmp/err" 'unwinder loop, [0-9]+ verifier steps' 'stacks are followed in a loop'
steps=$(sed -n 's/.*unwinder loop, \([0-9]*\) verifier steps$/\1/p' "$tmp/err")
[ "${steps:-500000}" -lt 500000 ]
ok $? "in ${steps:-?} steps of the verifier"
tables_of --unwinder loop
form --unwinder tail
tables_of --unwinder tail
form --unwinder fp

# --- waits and faults, as the program counts them -------------------------------------------------
load=$build/tests/lib/eventload
run prof-capture -e offcpu,faults -o "$tmp/events" -- "$load" nap 1000 faults 2000 sleep 1000
cp "$tmp/out" "$tmp/said"
is "$status" 0 '-e offcpu,faults' || diag "$tmp/err"
prof-symbolize -q "$tmp/events" >"$tmp/named"
prof-render -q -f folded -t faults "$tmp/named" >"$tmp/s"
is "$(samples 'touch_pages' <"$tmp/s")" 2000 'page faults: as many as pages were touched' || diag "$tmp/s"
prof-render -q -f folded -t offcpu "$tmp/named" | awk '{ $NF = int($NF / 1000000); print }' >"$tmp/s"
slept=$(samples '(long|short)_sleep' <"$tmp/s")
said=$(awk '$1 == "slept" { print int(($2 + $3) / 1000000) }' "$tmp/said")
[ $((slept * 100)) -ge $((said * 97)) ] && [ $((slept * 100)) -le $((said * 101)) ]
ok $? "waits: $slept ms of $said"
is "$(prof-render -f text "$tmp/events" | grep -c 'unexplained=0"')" 2 'none is unexplained'

# --- allocations, as the program counts them ------------------------------------------------------
load=$build/tests/lib/allocload
run prof-capture -e alloc --inuse --alloc-bytes=1 --force -d 12 -o "$tmp/alloc" -- \
	"$load" nap 6000 small 300 leak 40 stretch 30 nap 20000
is "$status" 0 '-e alloc' || diag "$tmp/err"
prof-symbolize -q "$tmp/alloc" >"$tmp/named"
prof-render -q -f folded -t alloc_space "$tmp/named" >"$tmp/s"
is "$(samples ';small$' <"$tmp/s") $(samples ';leak$' <"$tmp/s") $(samples ';stretch$' <"$tmp/s")" \
	'30000 4920 4650' 'bytes that were asked for' || diag "$tmp/s" "$tmp/err"
prof-render -q -f folded -t inuse_space "$tmp/named" >"$tmp/s"
is "$(samples ';(small|stretch)$' <"$tmp/s") $(samples ';leak$' <"$tmp/s")" '0 4920' 'and that are in use' || diag "$tmp/s"

# --- without privilege: Debian's kernels do not allow it by themselves ---------------------------
paranoid=/proc/sys/kernel/perf_event_paranoid
level=$(cat $paranoid)
mkdir "$tmp/u"
chown 65534 "$tmp/u"
chmod 755 "$tmp"
own() {
	start-stop-daemon -S -c nobody -x "$(command -v prof-capture)" -- \
		-F 499 -o "$tmp/u/p" "$@"
}
if [ "$level" -gt 2 ]; then
	refuses 'without privilege: refused' own -- "$workload" burn 50
	like "$tmp/err" "perf_event_paranoid=$level; as root: sysctl kernel.perf_event_paranoid=2\$" \
		'and the command is said that changes it'
	echo 2 >$paranoid
fi
for n in 2 1; do
	echo $n >$paranoid
	run own -- "$workload" recurse 1 20
	is "$status" 0 "perf_event_paranoid=$n: own programs can be profiled" || diag "$tmp/err"
	stacks "$tmp/u/p" | sed -E 's/;main(;descend){20}([; ])/;twenty\2/' >"$tmp/s"
	all=$(samples ';descend|;twenty' <"$tmp/s")
	deep=$(samples '^_start;([^;]*;)*twenty(;[^d]|$)' <"$tmp/s")
	most "$deep" "$all" 95
	ok $? "with whole stacks: $deep of $all" || diag "$tmp/s"
done
echo "$level" >$paranoid

if [ "${PROFPIPE_LONG-}" ]; then
	# a machine that stands still inside of a function leaves the program no time to make up for it
	for _ in 1 2 3; do
		prof-capture -q -F 499 -o "$tmp/split" -- "$workload" split 8 >"$tmp/truth" 2>&1
		awk '{ p = $1 / ($1 + $2); exit !(p > 0.73 && p < 0.77) }' "$tmp/truth" && break
	done
	stacks "$tmp/split" >"$tmp/s"
	major=$(samples '(^|;)hot_major(;|$)' <"$tmp/s")
	minor=$(samples '(^|;)hot_minor(;|$)' <"$tmp/s")
	shares "$major" "$minor" "$tmp/truth"
	ok $? "two functions at 75 : 25: $major and $minor samples" || diag "$tmp/truth" "$tmp/s"

	prof-capture -q -F 499 -o "$tmp/kernel" -- "$workload" kernel 2
	stacks "$tmp/kernel" >"$tmp/s"
	all=$(samples '(sys|vfs)_read' <"$tmp/s")
	joined=$(samples '(^|;)main;kernel_load;.*(sys|vfs)_read' <"$tmp/s")
	most "$joined" "$all" 80
	ok $? "kernel frames stand on the program's: $joined of $all" || diag "$tmp/s"

	prof-capture -q -F 499 -o "$tmp/short" -- "$workload" spawn 50 15
	read -r users mapped ids exe <<-END
		$(user_frames "$tmp/short")
	END
	most "$mapped" "$users" 95
	ok $? "50 processes of 15 ms: $mapped of $users samples have a mapping"
	is "$ids" "$mapped" 'and each of those a build id'
	most "$exe" "$users" 95
	ok $? "and $exe name the executable"

	"$workload" split 600 >/dev/null &
	load=$!
	prof-capture -q -F 499 -d 4 -i 0.4 -n 10 >"$tmp/ten"
	balanced "$tmp/ten" 10 'ten intervals: each tick is accounted for'
	prof-capture -q -F 999 -d 2 --ring 4K >"$tmp/lossy"
	balanced "$tmp/lossy" 1 'a ring too small: each tick is accounted for'
	[ "$(comment "$tmp/lossy" lost_ring)" -gt 0 ]
	ok $? "and what it lost: $(comment "$tmp/lossy" lost_ring)"
	kill "$load"
fi
done_testing
