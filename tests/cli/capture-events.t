#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# prof-capture -e: waits, page faults, block I/O and network, held to what a program says it did.
. "$top/tests/lib/tap.sh"
. "$top/tests/lib/capture.sh"

load=$build/tests/lib/eventload

run prof-capture -e list
is "$status" 0 '-e list' || diag "$tmp/err"
is "$(cut -d' ' -f1 "$tmp/out" | xargs)" 'cpu offcpu faults block net alloc wall' '... names the kinds'
refuses 'a kind that is none' prof-capture -e cpu,nothing
is "$(head -n 1 "$tmp/err")" 'prof-capture: -e: no such event: nothing' '... is named'

needs_capture
cd "$tmp" || exit

# value FILE TYPE REGEX: sum of the stacks (function names, root first) that match
value() {
	prof-symbolize -q "$1" | prof-render -q -f folded -t "$2" |
		awk -v re="$3" '{ n = $NF; sub(/ [0-9]+$/, ""); if ($0 ~ re) s += n } END { printf "%.0f\n", s }'
}

# counter FILE KEY: of all profiles, a number each
counter() {
	prof-render -f text "$1" | sed -n "s/^comment \"profpipe: $2=\(.*\)\"/\1/p" | xargs
}

# near A B PERCENT
near() {
	awk -v a="$1" -v b="$2" -v p="$3" 'BEGIN { d = a - b; exit !((d < 0 ? -d : d) <= b * p / 100) }'
}

# part A B: A is at most B, which is what somebody saw who may have had to wait for a CPU as well
part() {
	awk -v a="$1" -v b="$2" 'BEGIN { exit !(a <= b * 1.01 && a >= b * 0.9) }'
}

# said WORD N: the Nth word after it, of what the load printed
said() {
	awk -v w="$1" -v n="$2" '$1 == w { print $(n + 1) }' said
}

# own: sanitizers have pages and threads of their own
own() {
	case $build in */san-*) return 0 ;; esac
	return 1
}

# --- counts ------------------------------------------------------------------------------------

dd if=/dev/zero of=file bs=4096 count=64 conv=fsync 2>/dev/null
kinds=faults,block,net
! prof-capture -e list | grep -q '^net.*not here' || kinds=faults,block
run prof-capture -e "$kinds" -o counts -- "$load" nap 1000 faults 5000 send 1000 300 read 50 file write 40 file
is "$status" 0 "-e $kinds" || diag "$tmp/err"
cp out said
is "$(counter counts unexplained | tr -d '0 ')" '' 'nothing is unexplained'
is "$(counter counts 'lost_[a-z]*' | tr -d '0 ')" '' '... nor lost'
if own; then
	skip 'a sanitizer has pages of its own' 'page faults'
else
	is "$(value counts faults ';touch_pages')" 5000 'page faults: as many as pages were touched'
fi
is "$(prof-render -q -f folded -t faults -s 'fault=minor' counts | grep -c .)" \
	"$(prof-render -q -f folded -t faults -s 'fault!=major' counts | grep -c .)" '... each minor or major'
# a file system may add reads and commits of its own: a page for each write at most
is "$(prof-symbolize -q counts | prof-render -q -f folded -t block_bytes -s operation=read |
	awk '/;transfer/ { s += $NF } END { print s }')" 204800 'block: bytes read past the cache'
written=$(prof-symbolize -q counts | prof-render -q -f folded -t block_bytes -s operation=write |
	awk '/;transfer/ { s += $NF } END { print s }')
[ "$written" -ge 163840 ] && [ "$written" -le $((163840 * 3)) ]
ok $? '... and written' || echo "$written" | diag
if [ "$kinds" = faults,block ]; then
	skip 'needs Linux 6.3' 'net'
else
	is "$(value counts net_bytes ';send_all')" 300000 'net: bytes sent'
	is "$(value counts net_ops ';send_all')" 1000 '... in as many calls'
	is "$(value counts net_bytes ';receive_all')" 300000 '... and received'
	is "$(value counts net_ops ';receive_all')" "$(said sent 4)" '... in as many'
	is "$(prof-merge -s "direction=send,protocol=tcp,remote_port=$(said sent 7)" counts |
		prof-render -q -f folded -t net_bytes | awk '{ s += $NF } END { print s }')" 300000 \
		'... with their labels'
fi

# --- waits -------------------------------------------------------------------------------------

run prof-capture -e offcpu,cpu -o waits -- "$load" nap 500 sleep 3000 pipe 1000 mutex 1000 spin 500
is "$status" 0 '-e offcpu,cpu' || diag "$tmp/err"
cp out said
long=$(value waits offcpu ';long_sleep') short=$(value waits offcpu ';short_sleep')
part "$long" "$(said slept 1)"
ok $? 'a wait is as long as the sleeper says' || echo "$long of $(said slept 1)" | diag
part "$short" "$(said slept 2)"
ok $? '... also a short one' || echo "$short of $(said slept 2)" | diag
near "$((long * 100 / (long + short)))" 75 5
ok $? '... 75 to 25'
part "$(value waits offcpu ';wait_for_pipe')" "$(said pipe 1)"
ok $? 'a pipe, by the function that reads it'
part "$(value waits offcpu ';wait_for_lock.*futex')" "$(said mutex 1)"
ok $? 'a lock, by the function that wants it'
is "$(value waits contentions ';nap;')" 1 'one wait counts once'
is "$(counter waits unexplained | cut -d' ' -f2)" 0 'no wait is unexplained'
is "$(prof-merge --list=values --by=state waits | sort | cut -d'"' -f2 | grep -cE 'sleeping')" 1 'states are labels'
# the thread that sleeps and spins, as long as the program lived
total=$(($(value waits offcpu ';main') + $(value waits cpu ';main')))
near "$total" "$(said lived 1)000000" 5
ok $? 'waiting and running add up to the time that passed' || echo "$total" | diag

run prof-capture -e wall -o wall -- "$load" nap 600 spin 600 mutex 600
cp out said
is "$status" 0 '-e wall' || diag "$tmp/err"
near "$(value wall wall ';main')" "$(said lived 1)000000" 5
ok $? '... is the time that passed, of one thread'
if own; then
	skip 'a sanitizer has threads of its own' 'labels of threads'
else
	is "$(prof-merge --list=values --by=thread_id wall | grep -c .)" 2 '... and each has a label'
fi

run prof-capture -e offcpu -i 1 -o '%s-{type}' -- "$load" nap 3200
is "$status" 0 'intervals shorter than a wait' || diag "$tmp/err"
set -- *-offcpu
[ $# -ge 3 ] && [ ! -e "$(echo *-cpu)" ]
ok $? '... a file each, named by type'
for one in *-offcpu; do
	value "$one" offcpu ';nap;'
done >parts
is "$(sed -n '2p;3p' parts | awk '{ print int($1 / 1e6 + 0.5) }' | xargs)" '1000 1000' '... each has its part' || diag parts
near "$(awk '{ s += $1 } END { print s }' parts)" 3200000000 1
ok $? '... and all of them are the wait' || diag parts
is "$(for one in *-offcpu; do value "$one" contentions ';nap;'; done | xargs | tr -d '0 ')" 1 \
	'... which counts once, where it ends'

prof-capture -e offcpu -d 1.5 -i 0.5 -n 3 >stream
is "$(prof-merge --list=types stream | awk '{ print $2 }' | xargs)" '3 3' 'a stream has a profile for each interval'
is "$(prof-merge stream | prof-render -f text | grep -c 'profpipe: brief=')" 1 '... and counters that add up'
run prof-capture -e cpu,offcpu -d 0.5 -i 0.25
prof-render -f text "$tmp/out" | sed -n 's/^period "\([^"]*\)".*/\1/p' | xargs >order
is "$(cat order)" 'cpu offcpu cpu offcpu' '... and for each kind'
run prof-capture -e offcpu --min-wait 1h -o none -- "$load" nap 100
is "$(value none offcpu .)" 0 '--min-wait leaves out what is shorter' || diag "$tmp/err"
# processes that come and go, asleep at the ends of intervals or killed there
cat >storm <<'END'
for i in $(seq 60); do
	for j in 1 2 3 4; do sh -c 'sleep 0.0$1' sh $j & done
	sleep 10 & kill -KILL $!
	wait
done
END
run prof-capture -e offcpu,faults -i 0.1 -- sh storm
is "$status" 0 'a storm of processes' || diag "$tmp/err"
cp out storm.pb
is "$(counter storm.pb unexplained | tr -d '0 ')" '' '... of which every event is accounted for'
is "$(prof-render -f text storm.pb | grep -c '^sample.* -[0-9]')" 0 '... and nothing is negative'
refuses '--unwinder fp has no other events' prof-capture -e offcpu --unwinder fp -d 1
run setpriv --reuid=65534 --clear-groups --inh-caps=-all --bounding-set=-all \
	"$(command -v prof-capture)" -e offcpu -- true
is "$status $(cat "$tmp/err")" '2 prof-capture: -e: events other than cpu need CAP_BPF and CAP_PERFMON' \
	'nor has who may not load programs'
done_testing
