# SPDX-License-Identifier: Apache-2.0
# What tests ask of a capture. Sourced after tap.sh, here and in the virtual machines of
# scripts/vmtest, where a busybox does the work.
workload=$build/tests/lib/workload
cpus=$(getconf _NPROCESSORS_ONLN 2>/dev/null || nproc)

# Skip all where the machine does not let us capture.
needs_capture() {
	[ "$(id -u)" -eq 0 ] || skip_all 'needs root'
	run prof-capture -q -d 0.05
	if [ "$status" -ne 0 ] &&
		grep -qE 'needs CAP_|are blocked|refuses BPF|no type information|lockdown|PID namespace' "$tmp/err"; then
		skip_all "$(cat "$tmp/err")"
	fi
	is "$status" 0 'captures here' || diag "$tmp/err"
}

# begun FILE: wait, for two minutes at most, until the capture that has standard error there, with
# -v, takes samples. Before that it makes tables of what runs: on a busy machine that is seconds.
begun() {
	begun_n=0
	until grep -q 'samples/s on each of' "$1" || [ $((begun_n += 1)) -gt 2400 ]; do
		sleep 0.05
	done
}

# start_capture OPTION…: in the background, as $pid; it takes samples when this returns
start_capture() {
	: >"$tmp/err"
	prof-capture -v "$@" 2>"$tmp/err" &
	pid=$!
	begun "$tmp/err"
}

# worked PID MS: wait until a process has used so much CPU time, or is gone
worked() {
	while awk -v ms="$2" '{ exit !($14 * 10 < ms) }' "/proc/$1/stat" 2>/dev/null; do
		sleep 0.05
	done
}

# standstill PID: a capture that takes samples does not read them for half a second, so that a small
# ring overflows however fast the machine is
standstill() {
	kill -STOP "$1"
	sleep 0.5
	kill -CONT "$1"
}

# capture_running PROGRAM ARGUMENT… -- OPTION…: into $tmp/p, one that runs already, for a second of
# its time. What begins under a capture has to wait for its tables, on a busy machine for long.
capture_running() {
	running=
	while [ "$1" != -- ]; do
		running="$running $1"
		shift
	done
	shift
	# shellcheck disable=SC2086 # words
	$running >/dev/null &
	running=$!
	worked "$running" 50
	start_capture -F 999 -p "$running" -o "$tmp/p" "$@"
	worked "$running" "$(awk '{ print $14 * 10 + 1000 }' "/proc/$running/stat")"
	kill "$pid"
	wait "$pid"
	kill "$running"
	wait "$running" 2>/dev/null
}

# stacks FILE: one line for each stack, root first, with its number of samples
stacks() {
	prof-symbolize -q "$1" | prof-render -f folded -t samples
}

# samples REGEX: of the stacks on standard input, how many samples match
samples() {
	awk -v re="$1" '{ n = $NF; sub(/ [0-9]+$/, ""); if ($0 ~ re) s += n } END { print s + 0 }'
}

# most PART WHOLE PERCENT: PART is at least so much of WHOLE, and that is not nothing
most() {
	[ "$2" -ge 20 ] && [ $(($1 * 100)) -ge $(($2 * $3)) ]
}

# comment FILE KEY: a counter of the first profile
comment() {
	prof-render -f text "$1" | sed -n "s/^comment \"profpipe: $2=\(.*\)\"$/\1/p" | head -n 1
}

# balance FILE: one line for each profile: "ok", or what is wrong with its counters. Ticks
# that fall together with an interval's end may be counted on either side of it, and those that
# an idle CPU did not give are known from a time, not one by one.
# A tick that is late by a few periods may look like one on time: where a third of
# them is late, as in an emulated machine, $late_part is set, and one in so many may do so.
balance() {
	prof-render -f text "$1" | awk -v cpus="$cpus" -v part="${late_part-}" '
		$1 == "profile" { delete c; n = 0 }
		$1 == "period" { slack = cpus * 3 }
		$1 == "comment" && match($0, /profpipe: [a-z_]+=-?[0-9]+"$/) {
			split(substr($0, RSTART + 10, RLENGTH - 11), kv, "=")
			c[kv[1]] = kv[2]
		}
		$1 == "sample" { n += $2 }
		$1 == "end" {
			sum = c["kept"] + c["idle"] + c["filtered"] + c["unexplained"]
			for (k in c)
				if (k ~ /^lost_/)
					sum += c[k]
			u = c["unexplained"] < 0 ? -c["unexplained"] : c["unexplained"]
			if (part)
				slack = cpus * 3 + c["lost_timer"] / part
			if (!("expected" in c) || sum != c["expected"])
				print "sum " sum ", expected " c["expected"]
			else if (n != c["kept"])
				print "samples " n ", kept " c["kept"]
			else if (u > c["expected"] / 100 + slack)
				print "unexplained " c["unexplained"] " of " c["expected"] \
					", lost_timer " c["lost_timer"]
			else
				print "ok"
		}'
}
balanced() { # balanced FILE PROFILES DESCRIPTION
	balance "$1" >"$tmp/balance"
	[ "$(grep -c '^ok$' "$tmp/balance")" -eq "$2" ] && [ "$(wc -l <"$tmp/balance")" -eq "$2" ]
	ok $? "$3" || diag "$tmp/balance"
}

# shares MAJOR MINOR TRUTH: two numbers of samples divide as the CPU times in the file TRUTH do,
# within 4 standard errors and 0.01. Squared: a busybox has no roots.
shares() {
	awk -v a="$1" -v b="$2" '
		{ p = $1 / ($1 + $2); n = a + b; d = a / n - p; d = (d < 0 ? -d : d) - 0.01
		  exit !(n > 1000 && (d <= 0 || d * d <= 16 * p * (1 - p) / n)) }' "$3"
}

# From the text twin: samples with user frames, how many have the first of them in a mapping,
# how many of those mappings have a build id, how many name the executable.
user_frames() {
	prof-render -f text "$1" | awk '
		$1 == "mapping" { kernel["m" $2] = $6 ~ /^"\[/ && $6 !~ /vdso/
				  id["m" $2] = $(NF - 1) != "\"\"" }
		$1 == "location" { map[$2] = $3; addr[$2] = $4 }
		$1 == "sample" {
			for (i = 5; $i != ":"; i++) {
				if (kernel[map[$i]] || addr[$i] == "0x0" || addr[$i] ~ /^0xffff/)
					continue
				users += $2
				if (map[$i] != "m0") { mapped += $2; ids += id[map[$i]] * $2 }
				if ($0 ~ /"executable"="/) exe += $2
				break
			}
		}
		END { print users + 0, mapped + 0, ids + 0, exe + 0 }'
}
