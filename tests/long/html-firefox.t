#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The tests of the page once more, in Firefox (Debian's firefox-esr): all claims but those that
# tests/browser/harness.mjs says it cannot be told to do. Needs scripts/install-packages firefox.
. "$top/tests/lib/tap.sh"
. "$top/tests/lib/browser.sh"
[ -z "$why" ] || skip_all "$why"
firefox=$(command -v firefox-esr) || skip_all "no firefox-esr"

# what is drawn goes elsewhere than Chromium's pictures
mkdir "$tmp/build"
for test in "$top"/tests/cli/html*.t; do
	PROFPIPE_BROWSER=$firefox build=$tmp/build run sh "$test"
	ok "$status" "$(basename "$test"): $(grep -c '^ok' "$tmp/out") claims hold in Firefox" || {
		grep -A 3 '^not ok' "$tmp/out" | diag
	}
done
done_testing
