#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# prof-spool run: captures, names and keeps, alone, and whoever kills it loses what was not written.
. "$top/tests/lib/tap.sh"
. "$top/tests/lib/capture.sh"
. "$top/tests/lib/spool.sh"

needs_capture
store=$tmp/store
prof-spool init "$store"

has_files() { [ "$(files raw)" -ge "$1" ]; }

"$workload" burn 600000 >/dev/null &
spin=$!
prof-spool run -i 1s "$store" -- -F 499 2>"$tmp/run.err" &
runner=$!
wait_for has_files 3
ok $? 'intervals arrive' || diag "$tmp/run.err" "$store/run.log"
run prof-spool run "$store"
is "$status $(cat "$tmp/err")" '0 prof-spool: another run is at work' 'one at a time'
run prof-spool status "$store"
like "$tmp/out" '^run: at work' 'which status tells'
run prof-spool status --max-age=2m "$store"
is "$status" 0 'as the age of the last profile'
run prof-spool status --max-age=0s "$store"
is "$status" 1 'which can be too old'
kill "$runner"
wait "$runner"
is "$?" 0 'told to stop, it stops well'
is "$(find "$store/new" -type f | wc -l)" 0 'with all taken in'
prof-spool query "$store" -s comm=workload >"$tmp/q"
prof-render -f csv "$tmp/q" >"$tmp/csv"
like "$tmp/csv" '"short_burn"' 'with names of functions' || diag "$tmp/csv"

# Killed, it leaves no capture behind, and what that had written is taken by the next.
prof-spool run -q -i 1s "$store" &
runner=$!
n=$(files raw)
wait_for has_files $((n + 1))
capture=$(pgrep -P "$runner" -x prof-capture)
kill -KILL "$runner"
wait "$runner" 2>/dev/null
gone() { ! kill -0 "$1" 2>/dev/null; }
wait_for gone "$capture"
ok $? 'its capture ends when it is killed'
waiting=$(find "$store/new" -name '2*.pb.gz' | wc -l)
n=$(files raw)
run prof-spool run -q -i 1s -d 2s "$store"
is "$status" 0 'the next run captures for as long as it is told' || diag "$tmp/err"
[ "$(files raw)" -gt $((n + waiting)) ]
ok $? 'and takes what waited'

# A program whose file is gone has names by its copy.
cp "$workload" "$tmp/gone"
"$tmp/gone" burn 600000 >/dev/null &
gone=$!
wait_for test "$tmp/gone" -ef "/proc/$gone/exe"
rm "$tmp/gone"
mkdir "$tmp/copies"
prof-spool run -q -i 1s "$store" -- -F 499 --keep-binaries="$tmp/copies" &
runner=$!
named() {
	prof-spool query "$store" -s comm=gone 2>/dev/null | prof-render -f csv - 2>/dev/null |
		grep -q short_burn
}
wait_for named
ok $? 'a deleted program has names of functions'
kill "$runner" "$gone"
wait "$runner"

# Who symbolizes may read what others may not, but not capture.
mkdir "$tmp/shim"
cat >"$tmp/shim/prof-symbolize" <<END
#!/bin/sh
sed -n 's/^CapEff:.//p' /proc/self/status >$tmp/u/caps
exec $build/bin/prof-symbolize "\$@"
END
chmod +x "$tmp/shim/prof-symbolize"
chmod 755 "$tmp"
mkdir "$tmp/u"
prof-spool init "$tmp/u/store"
profiles "$tmp/u/in" 1700000000 1 10
cp "$top/scripts/prof-spool" "$tmp/shim" && cp -r "$top/scripts/lib" "$tmp/shim" &&
	cp "$build/bin/prof-merge" "$build/bin/prof-symbolize" "$tmp/u"
sed -i "s|exec .*/|exec $tmp/u/|" "$tmp/shim/prof-symbolize"
chown -R 65534 "$tmp/u"
chmod -R go+rX "$tmp/shim"
caps=-all,+bpf,+perfmon,+sys_ptrace,+syslog,+dac_read_search,+checkpoint_restore
as_service() {
	setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps="$caps" --ambient-caps="$caps" "$@"
}
if as_service true 2>"$tmp/err"; then
	run as_service env PATH="$tmp/shim:$tmp/u:$PATH" \
		prof-spool add --symbolize "$tmp/u/store" "$tmp"/u/in/*
	is "$status $(cat "$tmp/u/caps")" '0 0000000000000004' 'CAP_DAC_READ_SEARCH is left to name functions' ||
		diag "$tmp/err"
else
	skip "$(cat "$tmp/err")" 'CAP_DAC_READ_SEARCH is left to name functions'
fi

run prof-spool run -q "$store" -- --no-such-option
is "$status" 2 'what prof-capture refuses'
like "$tmp/err" 'no-such-option' 'is said'
run prof-spool status "$store"
like "$tmp/out" '^last message: .' 'and told by status'
kill "$spin"
run prof-spool verify --deep "$store"
is "$status $(cat "$tmp/out")" '0 ' 'all files are good'
done_testing
