#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The units at work under systemd itself, with all that they forbid: a user's manager, but root's,
# in mounts and control groups of its own, where /usr/local, /etc and /var/lib are the test's.
. "$top/tests/lib/tap.sh"
. "$top/tests/lib/capture.sh"
. "$top/tests/lib/spool.sh"
. "$top/tests/lib/scrape.sh"

manager=/lib/systemd/systemd
[ -x "$manager" ] || skip_all 'no systemd'
if [ ! "${apart-}" ]; then
	[ "$(id -u)" -eq 0 ] || skip_all 'needs root'
	unshare -m true 2>"$tmp/err" || skip_all "$(cat "$tmp/err")"
	rm -rf "$tmp"
	apart=1 exec unshare -m sh "$0"
fi
needs_capture
chmod 755 "$tmp"
if command -v go >/dev/null && command -v curl >/dev/null; then
	needs_server
fi

# --- a place of its own ------------------------------------------------------------------------
mkdir -p "$tmp/usr" "$tmp/lib" "$tmp/secret"
unset MAKEFLAGS MFLAGS MAKELEVEL BUILD
make -s -C "$top" PREFIX=/usr/local DESTDIR="$tmp/dest" install-units
mkdir -p "$tmp/dest/usr/local/bin" "$tmp/dest/usr/local/share/profpipe"
cp "$build"/bin/prof-* "$top/scripts/prof-spool" "$top/scripts/prof-scrape" "$tmp/dest/usr/local/bin"
cp "$top"/scripts/lib/* "$tmp/dest/usr/local/share/profpipe"
cp -a /etc "$tmp/etc"
rm -rf "$tmp/etc/profpipe"
systemd-sysusers --root="$tmp" "$tmp/dest/usr/local/lib/sysusers.d/profpipe.conf"
ok $? 'a user of its own'
mount --bind "$tmp/etc" /etc && mount --bind "$tmp/dest/usr/local" /usr/local &&
	mount --bind "$tmp/lib" /var/lib && mount -t tmpfs tmpfs /run && mkdir -p /run/systemd/system /run/user
ok $? 'mounts of its own'
groups=
for hierarchy in /sys/fs/cgroup /sys/fs/cgroup/systemd /sys/fs/cgroup/unified; do
	if [ -e "$hierarchy/cgroup.procs" ] && mkdir "$hierarchy/profpipe-test.$$" 2>/dev/null &&
		echo $$ 2>/dev/null >"$hierarchy/profpipe-test.$$/cgroup.procs"; then
		groups="$groups $hierarchy"
	fi
done
boss='' load=''
leave() {
	[ ! "$boss" ] || { systemctl --user exit && wait "$boss"; } 2>/dev/null
	# shellcheck disable=SC2086 # words
	kill $load $server_pid 2>/dev/null
	for hierarchy in $groups; do
		echo $$ >"$hierarchy/cgroup.procs"
		find "$hierarchy/profpipe-test.$$" -depth -type d -exec rmdir {} \;
	done
	umount /var/lib /usr/local /etc
	rm -rf "$tmp"
}
trap leave EXIT
export XDG_RUNTIME_DIR=/run/user XDG_CONFIG_HOME=/var/lib HOME=/root \
	SYSTEMD_UNIT_PATH=/usr/local/lib/systemd/system: PATH="/usr/local/bin:$PATH"
unset DBUS_SESSION_BUS_ADDRESS NOTIFY_SOCKET
"$manager" --user --unit=basic.target --log-target=console >"$tmp/log" 2>&1 &
boss=$!
up() { systemctl --user is-active basic.target >"$tmp/out" 2>&1 || ! kill -0 "$boss" 2>/dev/null; }
wait_for up
if ! grep -qx active "$tmp/out"; then
	skip "$(tail -n 1 "$tmp/log")" 'systemd does not run here'
	done_testing
fi
# what the first manager makes at boot, to put over what is not to be seen
cp -a /run/user/systemd/inaccessible /run/systemd/
ok $? 'systemd runs'
property() { systemctl --user show -P "$2" "$1"; }

# --- profpipe.service --------------------------------------------------------------------------
cp "$workload" "$tmp/secret/hidden"
chmod 700 "$tmp/secret" "$tmp/secret/hidden"
"$tmp/secret/hidden" burn 6000000 >/dev/null &
load=$!
sed -n 's/^    sudo systemctl enable --now/systemctl --user start/p' "$top/docs/howto-deploy.md" >"$tmp/start"
run sh -e "$tmp/start"
is "$status $(cat "$tmp/err")" '0 ' 'the units start, as docs/howto-deploy.md tells' || systemctl --user status --no-pager -n0 'profpipe*' | diag
store=/var/lib/profpipe
captured() { [ "$(find "$store/raw" -name '*.pb.gz' | wc -l)" -ge "$1" ]; }
wait_for captured 2
ok $? 'profiles arrive' || diag "$store/run.log" "$tmp/log"
prof-spool query "$store" -s comm=hidden >"$tmp/p"
prof-render -f csv "$tmp/p" >"$tmp/csv"
like "$tmp/csv" '"short_burn"' 'of a program that only root may read, with names' || diag "$tmp/csv"
prof-spool query $store | prof-render -f text >"$tmp/text"
like "$tmp/text" '^function [0-9]+ "(asm_|entry_|do_|__)[a-z_]' 'and of kernel functions'
is "$(grep -v '^$' $store/run.log)" '' 'prof-capture misses nothing that it may be without'
main=$(property profpipe.service MainPID)
capture=$(pgrep -P "$main" -x prof-capture)
is "$(sed -n 's/^\(CapPrm\|CapEff\|CapBnd\|NoNewPrivs\|Seccomp\):.//p' "/proc/$capture/status" | tr '\n' ' ')" \
	'000001c400080004 000001c400080004 000001c400080004 1 2 ' 'with six capabilities and a filter of system calls'
is "$(stat -c %U "/proc/$capture")" profpipe 'not as root'
# what it may write to, of the file systems that hold files
awk '$6 ~ /^rw/ && $0 !~ / - (proc|sysfs|tmpfs|devpts|mqueue|hugetlbfs|cgroup2?|bpf|devtmpfs|debugfs|tracefs) / {
	print $5 }' "/proc/$capture/mountinfo" | sort -u >"$tmp/got"
is "$(cat "$tmp/got")" $store 'and writes to nothing but the store'
ip=$(readlink "/proc/$capture/ns/net")
[ "$ip" ] && [ "$ip" != "$(readlink /proc/self/ns/net)" ]
ok $? 'without a network'
is "$(stat -c %A:%U:%G $store)" drwxr-x---:profpipe:profpipe 'which is for the group'
as() { setpriv --reuid=65534 --clear-groups --inh-caps=-all --bounding-set=-all "$@"; }
as --regid="$(stat -c %g $store)" prof-spool query "$store" -s comm=hidden >"$tmp/q" 2>"$tmp/err"
is "$?" 0 'whose members may ask' || diag "$tmp/err"
refuses 'and no others' as --regid=65534 prof-spool query $store

# --- profpipe-tend -----------------------------------------------------------------------------
is "$(systemctl --user is-active profpipe-tend.timer)" active 'the timer is set'
profiles "$tmp/in" $(($(date +%s) - 7000)) 12 20
chmod 755 "$tmp/in"
chmod 644 "$tmp"/in/*
setpriv --reuid=profpipe --regid=profpipe --clear-groups prof-spool add $store "$tmp"/in/*
ok $? 'profiles of an hour that has ended'
run systemctl --user start profpipe-tend.service
is "$status $(property profpipe-tend.service Result)" '0 success' 'it tends' || systemctl --user status --no-pager -n0 'profpipe*' | diag
[ "$(find $store/1m -name '*.pb.gz' | wc -l)" -ge 4 ]
ok $? 'minutes are added up'

# --- profpipe-scrape ---------------------------------------------------------------------------
if [ "$server_pid" ]; then
	systemctl --user start profpipe-scrape.service
	is "$(property profpipe-scrape.service ConditionResult)" no 'without targets there is nothing to scrape'
	mkdir /etc/profpipe
	echo "http://$host job=web profiles=goroutine interval=2s" >/etc/profpipe/targets
	run systemctl --user start profpipe-scrape.service
	is "$status" 0 'it scrapes' || systemctl --user status --no-pager -n0 'profpipe*' | diag
	scraped() { prof-spool query "$store" -s "job=$1" >"$tmp/q" 2>/dev/null; }
	wait_for scraped web
	ok $? 'what it fetches is in the store' || systemctl --user status --no-pager -n0 'profpipe*' | diag
	sed -i 's/job=web/job=shop/' /etc/profpipe/targets
	systemctl --user reload profpipe-scrape.service
	wait_for scraped shop
	ok $? 'a reload reads the targets again' || systemctl --user status --no-pager -n0 'profpipe*' | diag
	systemctl --user stop profpipe-scrape.service
	is "$(property profpipe-scrape.service Result)" success 'and stops well'
else
	skip 'no Go compiler or curl' 'profpipe-scrape.service'
fi

# --- again, and the end ------------------------------------------------------------------------
kill -KILL "$main"
again() {
	[ "$(property profpipe.service MainPID)" -gt 0 ] &&
		[ "$(property profpipe.service MainPID)" != "$main" ] && pgrep -P "$(property profpipe.service MainPID)" -x prof-capture >"$tmp/pid"
}
wait_for again
ok $? 'killed, it starts again'
n=$(find "$store/raw" -name '*.pb.gz' | wc -l)
wait_for captured $((n + 1))
ok $? 'and captures'
! kill -0 "$capture" 2>/dev/null
ok $? 'nothing of before is left'
# what docs/howto-deploy.md tells to edit
mkdir /usr/local/lib/systemd/system/profpipe.service.d
sed -n '/^    \[Service\]/,/^$/s/^    //p' "$top/docs/howto-deploy.md" \
	>/usr/local/lib/systemd/system/profpipe.service.d/own.conf
systemctl --user daemon-reload
systemctl --user restart profpipe.service
wait_for again
ok $? 'with settings of its own'
edited() {
	tr '\0' ' ' <"/proc/$(cat "$tmp/pid")/cmdline" | grep -q '^prof-capture -i 1m .*--keep-binaries=/var/lib/profpipe-b' &&
		find /var/lib/profpipe-binaries -path '*.build-id/*' -type f | grep -q .
}
wait_for edited
ok $? 'it keeps copies of programs' || systemctl --user status --no-pager -n0 'profpipe*' | diag
run systemctl --user stop profpipe.service
is "$status $(property profpipe.service Result)" '0 success' 'it stops well' || systemctl --user status --no-pager -n0 'profpipe*' | diag
is "$(find $store/new -type f | wc -l)" 0 'with all taken in'
run prof-spool verify $store
is "$status $(cat "$tmp/out")" '0 ' 'all files are good'
done_testing
