#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What deploy/systemd installs: understood by systemd, with no more rights than prof-capture needs.
. "$top/tests/lib/tap.sh"

unset MAKEFLAGS MFLAGS MAKELEVEL BUILD
caps=$(make -s -C "$top" print-CAPTURE_CAPS)
tr -dc 'A-Za-z_,' <"$top/tools/capture/privilege.h" >"$tmp/privilege"
like "$tmp/privilege" "PRIVILEGE_CAPS$caps([^,]|\$)" 'the Makefile names the capabilities that prof-capture does'

root=$tmp/root
run make -s -C "$top" PREFIX="$root" install-units
is "$status$(cat "$tmp/err")" 0 'units are installed' || diag "$tmp/err"
units=$root/lib/systemd/system
is "$(find "$units" -type f -printf '%f ' | tr ' ' '\n' | sort | tr '\n' ' ' | sed 's/^ //')" \
	'profpipe-scrape.service profpipe-tend.service profpipe-tend.timer profpipe.service ' 'all of them'
! grep -n '@[a-z]*@' "$units"/* >"$tmp/out"
ok $? 'with nothing left to fill in' || diag "$tmp/out"
for set in AmbientCapabilities CapabilityBoundingSet; do
	is "$(sed -n "s/^$set=//p" "$units/profpipe.service")" "$(echo "$caps" | tr , ' ')" \
		"$set: what prof-capture needs"
done
for unit in tend scrape; do
	is "$(grep -E 'Capabilit' "$units/profpipe-$unit.service")" 'CapabilityBoundingSet=' "$unit: none"
done
mkdir "$root/bin"
ln -s "$build"/bin/prof-* "$top"/scripts/prof-spool "$top"/scripts/prof-scrape "$root/bin"
if command -v systemd-analyze >/dev/null && systemd-analyze --help | grep -q -e --threshold; then
	for unit in "$units"/*; do
		run systemd-analyze verify --man=no --recursive-errors=no "$unit"
		is "$status$(cat "$tmp/out" "$tmp/err")" 0 "${unit##*/}: understood by systemd"
	done
	# in tenths: 100 is a service with all that root may do
	while read -r unit most; do
		run systemd-analyze security --no-pager --offline=true --threshold="$most" "$units/$unit"
		is "$status" 0 "$unit: exposed by no more than $most of 100" || tail -n 1 "$tmp/out" | diag
	done <<-END
		profpipe.service 30
		profpipe-tend.service 12
		profpipe-scrape.service 20
	END
else
	skip 'no systemd-analyze' 'units are understood by systemd'
fi
if [ "$(id -u)" -eq 0 ] && command -v systemd-sysusers >/dev/null; then
	mkdir -p "$tmp/sys/etc"
	run systemd-sysusers --root="$tmp/sys" "$root/lib/sysusers.d/profpipe.conf"
	like "$tmp/sys/etc/passwd" '^profpipe:.*:/var/lib/profpipe:.*nologin$' 'a user of its own' ||
		diag "$tmp/err"
else
	skip 'needs root and systemd-sysusers' 'a user of its own'
fi
done_testing
