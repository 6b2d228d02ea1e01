#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# prof-capture: every tick is accounted for when things are hard.
. "$top/tests/lib/tap.sh"
. "$top/tests/lib/capture.sh"

needs_capture
"$workload" split 600 >/dev/null &
loads=$!
trap 'kill $loads 2>/dev/null; rm -rf "$tmp"' EXIT

# unexplained FILE: of all its profiles "UNEXPLAINED EXPECTED KEPT LOST"
account() {
	prof-merge "$1" | prof-render -f text | awk '
		match($0, /profpipe: [a-z_]+=-?[0-9]+"$/) {
			split(substr($0, RSTART + 10, RLENGTH - 11), kv, "=")
			c[kv[1]] = kv[2]
		}
		END { print c["unexplained"], c["expected"], c["kept"], c["lost_ring"],
			c["intervals_dropped"] + 0, c["lost_recursion"] }'
}
explained() { # explained FILE DESCRIPTION
	read -r unexplained expected kept lost dropped _ <<-END
		$(account "$1")
	END
	[ "$expected" -gt 1000 ] && [ $((${unexplained#-} * 100)) -le "$expected" ]
	ok $? "$2: unexplained $unexplained of $expected, kept $kept, lost $lost, dropped $dropped"
}

prof-capture -q -F 4999 -i 10ms -d 2 >"$tmp/p"
is "$(prof-render -f text "$tmp/p" | awk '$1 == "profile" { n++ }
	match($0, /intervals_dropped=[0-9]+/) { n += substr($0, RSTART + 18, RLENGTH - 18) }
	END { print n }')" 200 '4,999 Hz in intervals of 10 ms: 200 profiles, counting those that are dropped'
explained "$tmp/p" '4,999 Hz in intervals of 10 ms'
prof-capture -q -F 4999 --ring 64K -d 2 >"$tmp/p"
explained "$tmp/p" 'a ring of 64 KiB'

# a reader that stops for a second; the pipe is full before that
prof-capture -q -F 999 --labels thread_id,cpu -i 50ms -d 4 | {
	sleep 2
	cat
} >"$tmp/p"
explained "$tmp/p" 'a reader that stops for a while'

prof-capture -q -F 997 -d 2 -o "$tmp/a" &
a=$!
prof-capture -q -F 997 -d 2 -o "$tmp/b"
wait "$a"
explained "$tmp/a" 'two captures beside each other, one'
explained "$tmp/b" 'and the other'

# --- a rival whose BPF program shuts out others while it runs ------------------------------------
if ! command -v bpftrace >/dev/null; then
	skip 'no bpftrace here' 'a rival'
	done_testing
	exit
fi
cat >"$tmp/rival" <<-'END'
	mount -t tracefs none /sys/kernel/tracing
	exec bpftrace -e 'tracepoint:syscalls:sys_enter_read { @[comm, tid, nsecs] = count(); clear(@); } interval:s:20 { exit(); }'
END
unshare -m sh "$tmp/rival" "$tmp" >"$tmp/rival.out" 2>&1 &
rival=$!
loads="$loads $rival"
tries=0
until grep -q Attaching "$tmp/rival.out" || [ "$tries" -eq 100 ] || ! kill -0 "$rival" 2>/dev/null; do
	sleep 0.1
	tries=$((tries + 1))
done
sleep 1
if ! kill -0 "$rival" 2>/dev/null; then
	diag "$tmp/rival.out"
	skip 'bpftrace does not run here' 'a rival'
	done_testing
	exit
fi
"$workload" kernel 600 &
loads="$loads $!"
prof-capture -F 999 -d 3 -o "$tmp/p" 2>"$tmp/err"
read -r unexplained expected kept lost dropped recursion <<-END
	$(account "$tmp/p")
END
diag "$tmp/err"
echo "# with a rival: unexplained $unexplained of $expected, kept $kept, lost by it $recursion"
if [ $((recursion * 100)) -gt "$expected" ]; then
	like "$tmp/err" "^prof-capture: $recursion of $expected ticks gave no sample: other BPF programs" \
		'a rival: says what it costs'
fi
if [ $((unexplained * 100)) -gt "$expected" ]; then
	like "$tmp/err" "^prof-capture: $unexplained of $expected ticks are not accounted for" 'a rival: says so'
else
	[ $((unexplained * -100)) -le "$expected" ]
	ok $? 'a rival: nothing is unexplained'
fi
balance "$tmp/p" >"$tmp/balance"
! grep -q '^sum\|^samples' "$tmp/balance"
ok $? 'a rival: all adds up' || diag "$tmp/balance"
done_testing
