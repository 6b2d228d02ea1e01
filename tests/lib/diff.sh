# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# For tests of prof-diff: made-up releases, and what was found between them.

# make_side SEED AWK-OPTIONS…: a stream of six profiles
make_side() {
	seed=$1
	shift
	awk -v n=6 -v seed="$seed" "$@" -f "$top/tests/lib/replicates.awk"
}

# verdicts BASE NEW OPTION…: what was found, "name=verdict …"
verdicts() {
	from=$1 to=$2
	shift 2
	prof-diff -q --report json:- "$@" "$from" "$to" >"$tmp/json" || return
	jq -r '[.functions[] | select(.verdict | IN("unchanged", "inconclusive") | not) |
		"\(.name)=\(.verdict)"] | sort | join(" ")' "$tmp/json"
}
