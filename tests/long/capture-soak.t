#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# prof-capture for two minutes at 997 Hz, or for longer, while more than 10,000 processes come and
# go: memory and descriptors stay what they are, and every tick is accounted for.
. "$top/tests/lib/tap.sh"
. "$top/tests/lib/capture.sh"

needs_capture

# Two shells that start processes for as long as the capture runs; each counts its own. Half of
# them exec.
load() {
	n=0
	while [ ! -e "$tmp/stop" ]; do
		"$workload" spawn 50 1
		for _ in 1 2 3 4 5 6 7 8 9 10; do
			(:)
			(:)
			(:)
			(:)
			(:)
		done
		n=$((n + 100))
		echo "$n" >"$tmp/count.$1"
	done
}
load 1 &
load 2 &

prof-capture -F 997 -i 10 --stats --keep-binaries "$tmp/kept" >"$tmp/p" 2>"$tmp/err" &
pid=$!
started() { cat "$tmp"/count.* 2>/dev/null | awk '{ n += $1 } END { print n + 0 }'; }
# KiB of memory: all, and what is ours alone; and open files
rows=0
while [ -e "/proc/$pid/status" ]; do
	rows=$((rows + 1))
	[ "$rows" -ge 60 ] && [ "$(started)" -ge 10000 ] && kill "$pid"
	sed -n 's/^VmRSS:[^0-9]*\([0-9]*\).*/\1/p; s/^RssAnon:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$pid/status" |
		tr '\n' ' '
	find "/proc/$pid/fd" -mindepth 1 2>/dev/null | wc -l
	sleep 2
done >"$tmp/memory"
wait "$pid"
is $? 0 "$((rows * 2)) seconds, and then a signal" || diag "$tmp/err"
: >"$tmp/stop"
wait
count=$(started)
[ "$count" -ge 10000 ]
ok $? "processes that came and went: $count"
n=$(prof-render -f text "$tmp/p" | grep -c '^profile$')
[ "$n" -ge 12 ]
ok $? "intervals: $n"
balanced "$tmp/p" "$n" 'every tick is accounted for' || diag "$tmp/err"

# the largest of the second quarter, and of the last
awk 'NF == 3' "$tmp/memory" >"$tmp/rows"
# what we share with the kernel, the tables of files, grows with what others on the machine run
diag <<-END
	resident memory in all, KiB, at most: $(cut -d ' ' -f 1 "$tmp/rows" | sort -n | tail -n 1)
END
for column in 2 3; do
	awk -v c=$column '{ v[NR] = $c }
		END {
			for (i = 1; i <= NR; i++) {
				if (i > NR / 4 && i <= NR / 2 && v[i] > early) early = v[i]
				if (i > NR * 3 / 4 && v[i] > late) late = v[i]
			}
			print early + 0, late + 0
		}' "$tmp/rows" >"$tmp/two"
	read -r early late <"$tmp/two"
	case $column in
	2) what='memory of our own, KiB' room=4096 ;;
	# files mapped lately are held for --keep-binaries, up to 256
	3) what='open files' room=256 ;;
	esac
	[ "$early" -gt 0 ] && [ "$late" -le $((early + early / 20 + room)) ]
	ok $? "$what: $early, then $late" || diag "$tmp/memory"
done
prof-symbolize -q "$tmp/p" | prof-merge | prof-render -f folded -t samples >"$tmp/s"
n=$(samples 'short_burn' <"$tmp/s")
[ "$n" -gt 1000 ]
ok $? "samples in those processes: $n"
done_testing
