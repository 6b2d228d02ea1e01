#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# prof-capture as an ordinary user with some capabilities: what each is for, and what it says
# without.
. "$top/tests/lib/tap.sh"
. "$top/tests/lib/capture.sh"

needs_capture
all=bpf,perfmon,sys_ptrace,syslog,dac_read_search,checkpoint_restore
program=$tmp/prof-capture
cp "$(command -v prof-capture)" "$program"
mkdir "$tmp/u"
chown 65534 "$tmp/u"
# the tree may lie where that user cannot look, as in root's home
cp "$workload" "$tmp/workload"
workload=$tmp/workload
chmod 755 "$tmp" "$program" "$workload"

# with CAPS COMMAND…: as a user who has these capabilities and no others
with() {
	caps=-all,$(echo "+$1" | sed 's/,/,+/g')
	[ "$1" ] || caps=-all
	shift
	setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps="$caps" \
		--ambient-caps="$caps" --bounding-set="$caps" "$@"
}
with "$all" true 2>"$tmp/err" || skip_all "$(cat "$tmp/err")"

# --- too few -------------------------------------------------------------------------------------
refuses 'none: refused' with '' "$program" -d 1
like "$tmp/err" 'missing: CAP_BPF, CAP_PERFMON\)' 'and says what is missing'
like "$tmp/err" "setcap cap_$(echo $all | sed 's/,/,cap_/g')\\+ep" 'and how to get all that are of use'
refuses 'CAP_BPF alone: refused' with bpf "$program" -d 1
like "$tmp/err" 'missing: CAP_PERFMON\)' 'and says which half'
refuses 'CAP_PERFMON alone: refused' with perfmon "$program" -d 1
like "$tmp/err" 'missing: CAP_BPF\)' 'and says which half'
refuses 'all but CAP_BPF: refused' \
	with perfmon,sys_ptrace,syslog,dac_read_search,checkpoint_restore "$program" -d 1

# something to see
"$workload" split 600 >/dev/null &
some=$!
trap 'kill "$some"; rm -rf "$tmp"' EXIT

# --- enough --------------------------------------------------------------------------------------
# told CAPS LIST: it runs with these, and the notes are about those
told() {
	run with "$1" "$program" -d 0.3 -o "$tmp/u/p"
	is "$status" 0 "$1: captures" || diag "$tmp/err"
	is "$(sed -n 's/^prof-capture: without CAP_\([A-Z_]*\): .*/\1/p' "$tmp/err" | tr '\n' ' ')" "$2" \
		'and says what else is missing' || diag "$tmp/err"
	# that other programs take samples away is said too, where tests run beside each other
	is "$(grep -vc ' ticks gave no sample: ' "$tmp/err")" "$(echo "$2" | wc -w)" 'in a line each' || diag "$tmp/err"
}
hidden=
with '' head -c 16 /proc/kallsyms | grep -q '^0*$' && hidden='SYSLOG '
told bpf,perfmon "SYS_PTRACE DAC_READ_SEARCH CHECKPOINT_RESTORE $hidden"
told bpf,perfmon,sys_ptrace "DAC_READ_SEARCH CHECKPOINT_RESTORE $hidden"
told bpf,perfmon,sys_ptrace,syslog 'DAC_READ_SEARCH CHECKPOINT_RESTORE '
told bpf,perfmon,sys_ptrace,syslog,dac_read_search 'CHECKPOINT_RESTORE '
told "$all" ''
told sys_admin "SYS_PTRACE DAC_READ_SEARCH $hidden"
run with bpf,perfmon,syslog "$program" -o "$tmp/u/p" -- "$workload" burn 50
is "$(cut -d : -f 2 "$tmp/err")" ' without CAP_CHECKPOINT_RESTORE' \
	'a command of one'\''s own needs less' || diag "$tmp/err"

# --- what each is for ----------------------------------------------------------------------------
# whole PERCENT DESCRIPTION: so many of the stacks in $tmp/u/p go to their root
whole() {
	stacks "$tmp/u/p" >"$tmp/s"
	most "$(samples '^[^;]*;__libc_start_main' <"$tmp/s")" "$(samples . <"$tmp/s")" "$1"
	ok $? "$2" || diag "$tmp/s"
}
broken() { # broken DESCRIPTION: they end in the file itself
	stacks "$tmp/u/p" >"$tmp/s"
	most "$(samples '^.unwind stopped: no unwind info: nofp' <"$tmp/s")" "$(samples . <"$tmp/s")" 95
	ok $? "$1" || diag "$tmp/s"
}
watch() { # watch CAPS PID
	with "$1" "$program" -q -F 999 -d 0.8 -p "$2" -o "$tmp/u/p"
}
if gcc -O2 -g -fomit-frame-pointer -o "$tmp/nofp" "$top/tests/lib/workload.c" -lpthread 2>"$tmp/err"; then
	id=$(readelf -n "$tmp/nofp" | sed -n 's/.*Build ID: //p')
	chmod 700 "$tmp/nofp"
	"$tmp/nofp" burn 600000 &
	load=$!
	trap 'kill $some $load; rm -rf "$tmp"' EXIT
	sleep 0.2
	watch "$all" "$load"
	whole 95 'a file for its owner alone: stacks are whole'
	prof-render -f text "$tmp/u/p" >"$tmp/text"
	like "$tmp/text" "\"build_id\"=\"$id\".*\"executable\"=\"$tmp/nofp\"" 'and its labels are there'
	watch bpf,perfmon,sys_ptrace,syslog "$load"
	broken 'without CAP_DAC_READ_SEARCH they are not'
	watch bpf,perfmon,syslog "$load"
	prof-render -f text "$tmp/u/p" >"$tmp/text"
	! grep -q "\"executable\"=\"$tmp/nofp\"" "$tmp/text"
	ok $? 'without CAP_SYS_PTRACE nor the label'
	rm "$tmp/nofp"
	watch "$all" "$load"
	whole 95 'a file that is deleted: stacks are whole'
	watch bpf,perfmon,sys_ptrace,syslog,dac_read_search "$load"
	broken 'without CAP_CHECKPOINT_RESTORE they are not'
else
	skip 'no gcc here' 'files that not everybody may read'
fi
with "$all" "$program" -q -F 499 -o "$tmp/u/p" -- "$workload" kernel 0.5
prof-render -f text "$tmp/u/p" >"$tmp/text"
like "$tmp/text" '^function .*"(ksys_read|vfs_read)"' 'CAP_SYSLOG: kernel functions have names'

# --- what is given up ----------------------------------------------------------------------------
# left WANT DESCRIPTION OPTION…: these are the capabilities of a capture by root that runs
left() {
	want=$1
	what=$2
	shift 2
	prof-capture -q -d 20 "$@" >"$tmp/p" &
	pid=$!
	n=0
	while [ $n -lt 100 ] && ! grep -q "^CapPrm:.$want\$" "/proc/$pid/status"; do
		sleep 0.1
		n=$((n + 1))
	done
	is "$(sed -n 's/^Cap\(Prm\|Eff\|I..\):.//p' "/proc/$pid/status" | tr '\n' ' ')" \
		"0000000000000000 $want $want " "$what"
	kill "$pid"
	wait "$pid"
}
left 000001c400080004 'root to a pipe: these six stay'
left 000001c40008000e 'root to files: and leave to write anywhere' -i 10 -o "$tmp/%s"
done_testing
