#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# prof-capture: who is profiled, by targets, selectors and rules.
. "$top/tests/lib/tap.sh"
. "$top/tests/lib/capture.sh"

needs_capture
for n in one_a one_b other; do
	cp "$workload" "$tmp/$n"
done
loads=
pid_one_a='' pid_one_b='' pid_other=''
trap 'kill $loads 2>/dev/null; rm -rf "$tmp"' EXIT
for n in one_a one_b other; do
	TEAM=$n "$tmp/$n" burn 120000 &
	loads="$loads $!"
	eval "pid_$n=$!"
done

# values KEY FILE: those of a label, sorted
values() {
	prof-render -f text "$2" | grep -o "\"$1\"=[^ ]*" | sort -u | tr '\n' ' '
}
capture() {
	prof-capture -F 499 -d 0.6 -o "$tmp/p" "$@" 2>"$tmp/err"
}
comms() { # comms WANTED DESCRIPTION: who of the three is in
	is "$(values comm "$tmp/p" | grep -oE '"(one_a|one_b|other)"' | tr '\n' ' ')" "$1" "$2" || diag "$tmp/err"
}

capture --comm 'one_?' --exclude 'comm=one_b'
comms '"one_a" ' '--exclude: not that one'
balanced "$tmp/p" 1 '--exclude: each tick is accounted for'
capture -p "$pid_one_a,$pid_other" -s 'comm=~"o.*",comm!="other"'
comms '"one_a" ' '-p and --select: both must fit'
capture -p "$pid_other" --comm one_a
comms '"one_a" "other" ' '-p and --comm: one of them is enough'
capture --exclude 'comm=other'
comms '"one_a" "one_b" ' '--exclude alone: all the others'
capture -v --select "executable=\"$tmp/one_b\""
comms '"one_b" ' '--select by another label'
like "$tmp/err" '[0-9]+ samples were taken before it was known' '-v: says what was decided late'
# of these three alone: the machine may be full of processes that come and go
capture -v -p "$pid_one_a,$pid_one_b,$pid_other" --exclude comm=other
comms '"one_a" "one_b" ' '-p and --exclude'
late=$(sed -n 's/^prof-capture: \([0-9]*\) samples were taken before.*/\1/p' "$tmp/err")
[ "$late" -lt 5 ]
ok $? "who is known at the start is filtered in the kernel: $late were not" || diag "$tmp/err"

# --- rules ---------------------------------------------------------------------------------------
cat >"$tmp/rules" <<-END
	# for this test
	drop {comm="other"}
	set team="first" {pid="$pid_one_a"}
	set team="second" {comm="one_b"}
	unset pid {team="second"}
	keep {team=~".+"}
	drop {}
END
capture --rules "$tmp/rules"
comms '"one_a" "one_b" ' '--rules: drop and keep'
is "$(values team "$tmp/p")" '"team"="first" "team"="second" ' 'set'
is "$(values pid "$tmp/p")" "\"pid\"=$pid_one_a " 'unset'
balanced "$tmp/p" 1 '--rules: each tick is accounted for'

# an earlier child of a dropped process is dropped, a program of its own is seen
cat >"$tmp/shell" <<-END
	drop {comm="sh"}
END
capture -d 20 --rules "$tmp/shell" -- sh -c "i=0; while [ \$i -lt 40000 ]; do i=\$((i + 1)); done; exec $tmp/other burn 200"
is "$(values comm "$tmp/p" | grep -o '"sh"\|"other"')" '"other"' 'another program: decided anew'

prof-capture --explain --rules "$tmp/rules" >"$tmp/out" 2>"$tmp/err"
is $? 0 '--explain'
like "$tmp/out" "^$pid_other other: out: drop \{comm=\"other\"\}$" 'who is out, and why'
like "$tmp/out" "^$pid_one_b one_b: in: keep" 'who is in, and why'
grep -A 2 "^$pid_one_b " "$tmp/out" >"$tmp/b"
like "$tmp/b" "^	\{comm=\"one_b\",pid=$pid_one_b,executable=" 'its labels'
like "$tmp/b" '^	-> \{comm="one_b",executable=.*,team="second"\}$' 'and what becomes of them'
run prof-capture --explain
like "$tmp/out" "^$pid_other other: in$" '--explain without rules: all are in'
refuses '--explain on a full device' sh -c 'exec prof-capture --explain >/dev/full'

prof-capture -F 499 -d 60 -i 0.5 --rules "$tmp/rules" >"$tmp/p" 2>"$tmp/err" &
pid=$!
more() { # more N: wait for N more intervals
	until=$(($(prof-render -f text "$tmp/p" 2>"$tmp/partial" | grep -c '^profile') + $1))
	for _ in $(seq 300); do
		[ "$(prof-render -f text "$tmp/p" 2>"$tmp/partial" | grep -c '^profile')" -ge "$until" ] &&
			break
		sleep 0.1
	done
}
more 3
echo 'nonsense' >"$tmp/rules"
kill -HUP "$pid"
more 2
echo 'drop {comm!="other"}' >"$tmp/rules"
kill -HUP "$pid"
more 3
# one that nobody writes to
rm "$tmp/rules"
mkfifo "$tmp/rules"
kill -HUP "$pid"
more 2
kill -TERM "$pid"
wait "$pid"
is $? 0 'SIGHUP does not end a capture with rules' || diag "$tmp/err"
rm "$tmp/rules"
like "$tmp/err" "the rules stay as they were: $tmp/rules: not a regular file$" 'nor block it'
prof-render -f text "$tmp/p" | awk '
	$1 == "profile" { seen = "" }
	/^sample/ { for (n = 1; n <= NF; n++) if ($n ~ /^"comm"=/) c[$n] = 1 }
	$1 == "end" { for (k in c) { seen = seen (k == "\"comm\"=\"other\"" ? "o" : "x"); delete c[k] }
		print seen }' >"$tmp/seen"
like "$tmp/seen" '^x+$' 'before: the first rules' || diag "$tmp/seen"
is "$(grep . "$tmp/seen" | tail -n 1)" o 'after: the last ones' || diag "$tmp/seen"
start_capture >"$tmp/p"
"$workload" burn 300
kill -HUP "$pid"
wait "$pid"
is $? 0 'SIGHUP without rules is an ordinary end'
[ "$(comment "$tmp/p" kept)" -gt 0 ]
ok $? 'with the data'

# --- no system call that shuts out the BPF programs on its CPU --------------------------------------
if command -v strace >/dev/null; then
	strace -o "$tmp/trace" -e trace=bpf,ioctl prof-capture -q -F 999 -i 50ms --comm other \
		-- "$workload" spawn 40 5 >"$tmp/p"
	# but for more room for unwind tables, made and put in its place
	awk '/PERF_EVENT_IOC_ENABLE/ { on = 1 }
		on && /BPF_MAP_CREATE/ { maps-- }
		on && /BPF_MAP_[A-Z]*_ELEM/ { maps++ }
		on && /BPF_PROG_TEST_RUN/ { runs++ }
		END { print maps + 0, (runs > 0) }' "$tmp/trace" >"$tmp/calls"
	is "$(cat "$tmp/calls")" '0 1' 'while it samples, maps are changed by programs alone' ||
		grep -v TEST_RUN "$tmp/trace" | tail -n 20 | diag
else
	skip 'no strace here' 'while it samples, maps are changed by programs alone'
fi

# --- what is refused -----------------------------------------------------------------------------
refuses 'rules that are not there' prof-capture --rules "$tmp/none" -d 1
head -c 1100000 /dev/zero | tr '\0' '#' >"$tmp/rules"
refuses 'rules without end' prof-capture --rules "$tmp/rules" -d 1
like "$tmp/err" "^prof-capture: $tmp/rules: larger than 1024 KiB$" 'and says how many are taken'
echo 'drop {' >"$tmp/rules"
refuses 'rules that are not right' prof-capture --rules "$tmp/rules" -d 1
like "$tmp/err" "^prof-capture: $tmp/rules: line 1: selector: expected }" 'and says where'
refuses 'a label of a thread' prof-capture --exclude thread_name=x -d 1
refuses 'a selector that is none' prof-capture --select '{' -d 1
done_testing
