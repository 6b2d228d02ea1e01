#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every case of tests/golden: command, standard output, standard error, exit status. The form
# of a case is told in scripts/accept-golden, which also makes the expected files.
. "$top/tests/lib/tap.sh"

find "$top/tests/golden" -name cmd -type f 2>/dev/null | sort >"$tmp/cases"
[ -s "$tmp/cases" ] || skip_all 'no golden cases'
while read -r cmd; do
	dir=$(dirname "$cmd")
	status=0
	(cd "$dir" && sh ./cmd) >"$tmp/out" 2>"$tmp/err" </dev/null || status=$?
	name=${dir#"$top/tests/golden/"}
	want_err=/dev/null want_status=0
	[ ! -e "$dir/want.err" ] || want_err=$dir/want.err
	[ ! -e "$dir/want.status" ] || want_status=$(cat "$dir/want.status")
	if [ "$status" -eq "$want_status" ] && cmp -s "$tmp/out" "$dir/want" &&
		cmp -s "$tmp/err" "$want_err"; then
		ok 0 "$name"
		continue
	fi
	ok 1 "$name"
	{
		echo "exit status $status, expected $want_status"
		diff -u "$dir/want" "$tmp/out"
		diff -u "$want_err" "$tmp/err"
	} | head -n 60 | diag
done <"$tmp/cases"
done_testing
