#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# prof-capture for days: readers that are slow or go away, disks that fill up, signals, and
# another capture beside it. What is lost is counted, what is written is whole.
. "$top/tests/lib/tap.sh"
. "$top/tests/lib/capture.sh"

needs_capture
export tmp

# tight COMMAND… | reader: the pipe between them holds one page
tight() {
	perl -e 'fcntl(STDOUT, 1031, 4096) or die "F_SETPIPE_SZ: $!"; exec @ARGV or die $!' "$@"
}

# intervals FILE: how many there are, and how many they say were dropped
intervals() {
	prof-render -f text "$1" | awk '$1 == "profile" { n++ }
		match($0, /intervals_dropped=[0-9]+/) {
			d += substr($0, RSTART + 18, RLENGTH - 18) }
		END { print n + 0, d + 0 }'
}

"$workload" split 600 >/dev/null &
load=$!
trap 'kill "$load" 2>/dev/null; rm -rf "$tmp"' EXIT

# --- a slow reader -------------------------------------------------------------------------------
(
	tight prof-capture -F 1999 -i 0.1 -n 80 --labels thread_id,cpu --stats 2>"$tmp/err"
	echo $? >"$tmp/st"
) | (
	wait_for grep -q 'intervals are dropped' "$tmp/err"
	sleep 0.5
	cat
) >"$tmp/slow"
is "$(cat "$tmp/st")" 0 'a slow reader: the capture goes on to its end'
intervals "$tmp/slow" >"$tmp/n" 2>"$tmp/n.err"
is "$(cat "$tmp/n.err")" '' 'its profiles are whole'
read -r there dropped <"$tmp/n"
is $((there + dropped)) 80 'those that are not there are counted'
[ "$dropped" -ge 2 ] && [ "$there" -ge 4 ]
ok $? "some of each: $there there, $dropped dropped"
[ "$(grep -c 'intervals are dropped' "$tmp/err")" -lt "$dropped" ]
ok $? 'told once, not for each' || diag "$tmp/err"
like "$tmp/err" "^prof-capture: $dropped of 80 intervals are not there" 'and how many at the end'
is "$(awk '/^20.*Z/ { s += $NF } END { print s + 0 }' "$tmp/err")" "$dropped" \
	'--stats: the same number' || diag "$tmp/err"
# how many are unexplained is up to who else uses BPF
balance "$tmp/slow" >"$tmp/balance"
is "$(grep -vcE '^(ok|unexplained .*)$' "$tmp/balance")" 0 'the counters of those that are there add up' ||
	diag "$tmp/balance"
end=$(prof-render -f text "$tmp/slow" | awk '$1 == "time" { if (!f) f = $2; t = $2 }
	$1 == "duration" { d = $2 } END { printf "%.1f", (t - f + d) / 1e9 }')
is "$end" 8.0 'the first and the last are there'

# --- signals while the reader does not read ------------------------------------------------------
mkfifo "$tmp/fifo"
prof-capture -F 1999 -i 0.1 --labels thread_id,cpu -o "$tmp/fifo" 2>"$tmp/err" &
pid=$!
exec 3<"$tmp/fifo"
wait_for grep -q 'intervals are dropped' "$tmp/err"
ok $? 'nobody reads: told'
kill "$pid"
wait_for grep -q 'waiting until' "$tmp/err"
ok $? 'told to end, it waits for who is to read what is pending, and says so'
cat <&3 >"$tmp/late" &
cat=$!
exec 3<&-
wait "$pid"
is $? 0 'an ordinary end'
wait "$cat"
intervals "$tmp/late" >"$tmp/n" 2>&1
read -r there dropped <"$tmp/n"
[ "$there" -ge 4 ] && [ "$dropped" -ge 1 ]
ok $? "all that were pending are written: $there, with $dropped dropped" || diag "$tmp/n"

prof-capture -F 1999 -i 0.1 --labels thread_id,cpu -o "$tmp/fifo" 2>"$tmp/err" &
pid=$!
exec 3<"$tmp/fifo"
wait_for grep -q 'intervals are dropped' "$tmp/err"
kill "$pid"
wait_for grep -q 'waiting until' "$tmp/err"
kill "$pid"
wait "$pid"
is $? 143 'told so twice, it waits no longer'
exec 3<&-

# --- full disks ----------------------------------------------------------------------------------
cat >"$tmp/disk" <<-'END'
	# disk SCRIPT: runs it where $disk is a file system of 1 MiB that is full
	disk=$tmp/mnt
	mkdir -p "$disk"
	mount -t tmpfs -o size=1m none "$disk" || exit 77
	dd if=/dev/zero of="$disk/fill" bs=4k count=300 2>/dev/null
	. "$1"
END
on_disk() { # on_disk: the script on standard input
	cat >"$tmp/script"
	rm -f "$tmp/err" # what is waited for there is not to be that of the one before
	unshare -m sh -u "$tmp/disk" "$tmp/script"
}
if ! on_disk </dev/null 2>"$tmp/err"; then
	skip 'no mount namespaces here' 'full disks'
else
	on_disk <<-'END'
		prof-capture -F 99 -i 1 -n 6 -p 1 -o "$disk/%s.pb.gz" 2>"$tmp/err" &
		for i in $(seq 600); do
			grep -q 'dropping intervals' "$tmp/err" && break
			sleep 0.1
		done
		rm "$disk/fill"
		wait $!
		echo $? >"$tmp/st"
		ls -a "$disk" >"$tmp/list"
		cat "$disk"/*.pb.gz >"$tmp/all"
	END
	is "$(cat "$tmp/st")" 0 'a full disk: the capture goes on, and ends well'
	like "$tmp/err" 'No space left on device: dropping intervals until it can be' 'it says so'
	is "$(grep -c 'dropping' "$tmp/err")" 1 'once'
	intervals "$tmp/all" >"$tmp/n"
	read -r there dropped <"$tmp/n"
	is $((there + dropped)) 6 "what was not written is counted in a later one: $dropped"
	[ "$there" -ge 1 ] && [ "$dropped" -ge 1 ]
	ok $? "some of each: $there there, $dropped dropped"
	is "$(grep -vc '^[0-9]*\.pb\.gz$' "$tmp/list")" 2 'and nothing else is left' || diag "$tmp/list"

	on_disk <<-'END'
		prof-capture -F 99 -i 0.5 -n 3 -p 1 -o "$disk/%s.pb.gz" 2>/dev/null >&2
		echo "$?" >"$tmp/usage"
		prof-capture -F 99 -i 1 -n 2 -p 1 -o "$disk/%s.pb.gz" 2>"$tmp/err"
		echo $? >"$tmp/st"
		ls -a "$disk" >"$tmp/list"
	END
	is "$(cat "$tmp/usage")" 2 'two intervals in a second, named by seconds: refused'
	is "$(cat "$tmp/st")" 2 'not one interval could be written: exit status 2'
	like "$tmp/err" '2 of 2 intervals are not there' 'and a word'
	is "$(grep -c pb.gz "$tmp/list")" 0 'no file'

	on_disk <<-'END'
		dd if=/dev/zero of="$disk/fill" bs=4k count=250 2>/dev/null
		prof-capture -F 1999 -i 0.2 -n 25 --labels thread_id,cpu >"$disk/stream" 2>"$tmp/err" &
		for i in $(seq 600); do
			grep -q 'dropping intervals' "$tmp/err" && break
			sleep 0.1
		done
		rm "$disk/fill"
		wait $!
		echo $? >"$tmp/st"
		cp "$disk/stream" "$tmp/all"
	END
	is "$(cat "$tmp/st")" 0 'standard output to a file, on a disk that fills up'
	intervals "$tmp/all" >"$tmp/n" 2>"$tmp/n.err"
	is "$(cat "$tmp/n.err")" '' 'no profile is written in part' || diag "$tmp/err"
	read -r there dropped <"$tmp/n"
	is $((there + dropped)) 25 "and all are accounted for: $there there, $dropped dropped"
	[ "$dropped" -ge 1 ]
	ok $? 'some were dropped' || diag "$tmp/err"
fi
run prof-capture -q -i 0.1 -n 3 -o /dev/full
is "$status" 2 'a device that takes nothing: exit status 2'

# --- two at once ---------------------------------------------------------------------------------
prof-capture -q -F 997 -d 3 -i 1 >"$tmp/one" &
one=$!
prof-capture -q -F 499 -d 3 -i 1 >"$tmp/two"
wait "$one"
is $? 0 'two at once'
balanced "$tmp/one" 3 'the one accounts for its ticks'
balanced "$tmp/two" 3 'and so does the other'
for f in one two; do
	seen=$(prof-symbolize -q "$tmp/$f" | prof-merge -s "pid=\"$load\"" | prof-render -f folded -t samples |
		samples hot_)
	[ "$seen" -gt 0 ]
	ok $? "and sees what runs: $seen samples of one process"
done
kill "$load"

# --- a command that is killed before it begins, as by an interrupt from the terminal ------------------
prof-capture -q -o "$tmp/early" -- sleep 60 &
pid=$!
tries=0
until [ -s "$tmp/early" ] || [ "$tries" -eq 500 ]; do
	pkill -KILL -P "$pid"
	sleep 0.02
	tries=$((tries + 1))
done
[ -s "$tmp/early" ]
ok $? 'a command that is killed before it begins: a profile all the same'
kill "$pid" 2>/dev/null
wait "$pid"
is $? 0 'and an ordinary end'
done_testing
