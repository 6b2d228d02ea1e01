# SPDX-License-Identifier: Apache-2.0
# For tests that open pages: sourced after tap.sh. $modules and $chromium are what
# tests/browser needs (PROFPIPE_BROWSER: another browser); $why says what is missing, if anything is.
why=
modules=$("$top/scripts/node-modules" 2>&1) || why=$modules
chromium=${PROFPIPE_BROWSER:-$(command -v chromium)} || why=${why:-no chromium}

# claims COMMAND…: each line "ok TEXT" or "not ok TEXT" that it prints is one; it must end well
claims() {
	run "$@"
	while read -r verdict rest; do
		case $verdict in
		ok) ok 0 "$rest" ;;
		not) ok 1 "${rest#ok }" ;;
		*) echo "# $verdict $rest" | cut -c 1-2000 ;;
		esac
	done <"$tmp/out"
	is "$status" 0 "$(basename "$2") comes to its end" || diag "$tmp/err"
}

# need_browser: without one the claims that are left are skipped
need_browser() {
	[ "$why" ] || return 0
	skip "$why" "the page in a browser"
	done_testing
}

# screenshots N PREFIX…: what was drawn, kept; N of the first PREFIX
screenshots() {
	n=$1
	shift
	mkdir -p "$build/screenshots"
	for prefix; do
		cp "$tmp/$prefix"-*.png "$build/screenshots"
	done
	is "$(find "$build/screenshots" -name "$1-*.png" -size +4k | wc -l)" "$n" "screenshots in build/screenshots"
}

# difference [COMMENTS]: a profile of one, with functions that are slower, gone and new; $tested are
# the comments of one that has verdicts
tested='comment "profpipe: tested=4"
comment "profpipe: verdict=regressed name=slow"'
difference() {
	cat <<END
# profpipe text 1
profile
type "samples" "count"${1:+
$1}
function 1 "main" "" "" 0
function 2 "slow" "" "" 0
function 3 "gone" "" "" 0
function 4 "fresh" "" "" 0
location 1 m0 0x0 f1:0:0
location 2 m0 0x0 f2:0:0
location 3 m0 0x0 f3:0:0
location 4 m0 0x0 f4:0:0
sample -30 : 1 : "pprof::base"="true"
sample -40 : 2 1 : "pprof::base"="true"
sample -30 : 3 1 : "pprof::base"="true"
sample 10 : 1 :
sample 70 : 2 1 :
sample 20 : 4 1 :
end
END
}
