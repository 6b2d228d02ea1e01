# SPDX-License-Identifier: Apache-2.0
# TAP for shell tests. A test file sources this, makes claims, and ends with `done_testing`.
# $top is the source tree, $build the build tree; each test gets a private directory, $tmp.
set -u
tap_n=0
tap_failed=0
tmp=$(mktemp -d "${TMPDIR:-/tmp}/profpipe-test.XXXXXX") || exit 1
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT TERM

# ok STATUS DESCRIPTION: the claim holds if STATUS is 0.
ok() {
	tap_n=$((tap_n + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $tap_n - $2"
	else
		tap_failed=$((tap_failed + 1))
		echo "not ok $tap_n - $2"
		# prove shows standard error, not what the files print
		echo "# ${0##*/}: not ok $tap_n - $2" >&2
		return 1
	fi
}

# diag FILE…: show files (or standard input) as comments, to people.
diag() {
	sed 's/^/# /' "$@" >&2
}

# is GOT WANT DESCRIPTION: two strings are equal.
is() {
	if [ "$1" = "$2" ]; then
		ok 0 "$3"
	else
		ok 1 "$3"
		printf 'got:  %s\nwant: %s\n' "$1" "$2" | diag
		return 1
	fi
}

# same GOT WANT DESCRIPTION: two files are equal.
same() {
	if diff -u "$2" "$1" >"$tmp/.diff" 2>&1; then
		ok 0 "$3"
	else
		ok 1 "$3"
		head -n 40 "$tmp/.diff" | diag
		return 1
	fi
}

# like FILE REGEX DESCRIPTION: some line of the file matches the extended regex.
like() {
	if grep -qE -e "$2" "$1"; then
		ok 0 "$3"
	else
		ok 1 "$3"
		head -n 20 "$1" | diag
		return 1
	fi
}

# run COMMAND…: output in $tmp/out and $tmp/err, exit status in $status.
run() {
	status=0
	"$@" >"$tmp/out" 2>"$tmp/err" || status=$?
}

# refuses DESCRIPTION COMMAND…: exit 2, exactly one line on standard error, no output.
refuses() {
	tap_what=$1
	shift
	run "$@"
	if [ "$status" -eq 2 ] && [ ! -s "$tmp/out" ] && [ "$(wc -l <"$tmp/err")" -eq 1 ]; then
		ok 0 "$tap_what"
	else
		ok 1 "$tap_what"
		{ echo "status $status"; head -n 5 "$tmp/err"; } | diag
		return 1
	fi
}

# wait_for COMMAND…: until it succeeds, or for two minutes.
wait_for() {
	for _ in $(seq 600); do
		"$@" && return 0
		sleep 0.2
	done
	return 1
}

skip() { # skip WHY DESCRIPTION: one claim that cannot be checked here
	tap_n=$((tap_n + 1))
	echo "ok $tap_n - $2 # SKIP $1"
}

skip_all() { # skip_all WHY: the whole file cannot run here
	echo "1..0 # SKIP $1"
	exit 0
}

done_testing() {
	echo "1..$tap_n"
	[ "$tap_failed" -eq 0 ]
	exit
}
