#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The file for /etc/cron.d: each of its lines runs as it is written, but for the store's place.
. "$top/tests/lib/tap.sh"
. "$top/tests/lib/spool.sh"

cron=$top/deploy/cron/profpipe
paths=$(sed -n 's/^PATH=//p' "$cron")
case :$paths: in *:/usr/local/bin:*:/usr/bin:*) true ;; *) false ;; esac
ok $? 'cron finds the programs'
grep -E '^[0-9*]' "$cron" >"$tmp/lines"
is "$(grep -cE '^([0-9*/,-]+ ){4}[0-9*/,-]+	root	[^%]+$' "$tmp/lines")" "$(wc -l <"$tmp/lines")" \
	'its lines have five times, a user and a command without %' || diag "$tmp/lines"
is "$(grep -vcE '^(#|[A-Z]+=|[0-9*]|$)' "$cron")" 0 'and there is nothing else'
is "$(tail -c 1 "$cron" | od -An -c | tr -d ' ')" '\n' 'to its last line'
[ ! -x "$cron" ]
ok $? 'a file that is no program'
store=$tmp/store
# as the how-to tells, but elsewhere
mkdir -p "$tmp/etc/cron.d"
sed -n '/^## cron/,/^## K/s/^    sudo //p' "$top/docs/howto-deploy.md" |
	sed "s| /etc/| $tmp/etc/|; s|/var/lib/profpipe|$store|" >"$tmp/install"
(cd "$top" && sh -e "$tmp/install" && [ "$(wc -l <"$tmp/install")" -eq 2 ])
ok $? 'the commands of docs/howto-deploy.md'
same "$tmp/etc/cron.d/profpipe" "$cron" 'which put the file into its place'
cut -f3 "$tmp/lines" | sed "s|/var/lib/profpipe|$store|g" >"$tmp/commands"
is "$(grep -c "$store" "$tmp/commands")" "$(wc -l <"$tmp/lines")" 'all of them for the store'
# as cron would, with the PATH of this tree
as_cron() {
	run env -i PATH="$PATH" HOME=/ SHELL=/bin/sh /bin/sh -c "$1"
}
profiles "$tmp/in" $(($(date +%s) - 7000)) 12 20
prof-spool add "$store" "$tmp"/in/*
grep -v ' run ' "$tmp/commands" >"$tmp/short"
while read -r command; do
	as_cron "$command"
	is "$status $(cat "$tmp/err")" '0 ' "$command" || diag "$tmp/out"
	case $command in
	*status*) like "$tmp/out" '^last profile: .* s ago$' 'mails that the last profile is old' ;;
	*) is "$(cat "$tmp/out")" '' 'mails nothing' ;;
	esac
done <"$tmp/short"
[ "$(files 1m)" -gt 0 ]
ok $? 'minutes were added up'
if [ "$(id -u)" -eq 0 ] && prof-capture -q -d 0.05 >"$tmp/try" 2>"$tmp/err"; then
	command=$(grep ' run ' "$tmp/commands")
	n=$(files raw)
	env -i PATH="$PATH" HOME=/ SHELL=/bin/sh /bin/sh -c "exec $command" >"$tmp/run.out" 2>&1 &
	runner=$!
	more() { [ "$(files raw)" -gt "$n" ]; }
	wait_for more
	ok $? "$command: captures" || diag "$tmp/run.out" "$store/run.log"
	as_cron "$command"
	is "$status$(cat "$tmp/out" "$tmp/err")" 0 'a minute later: nothing to do, nothing to say'
	as_cron "$(grep ' status ' "$tmp/commands")"
	is "$status$(cat "$tmp/out" "$tmp/err")" 0 'and no mail'
	kill "$runner"
	wait "$runner"
	is "$?$(cat "$tmp/run.out")" 0 'stopped, it ends well'
else
	skip "cannot capture: $(head -n 1 "$tmp/err")" 'the line that captures'
fi
done_testing
