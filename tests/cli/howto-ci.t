#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# docs/howto-ci.md: the Makefile example is run as it is written on the demo service, the YAML is
# parsed where there is something to parse it with.
. "$top/tests/lib/tap.sh"
page=$top/docs/howto-ci.md

# block LANGUAGE N: the Nth fenced block of the page in a language
block() {
	awk -v want="$1" -v n="$2" '
		/^```/ && inside { inside = 0; next }
		/^```/ { inside = 1; show = substr($0, 4) == want && ++k == n; next }
		inside && show' "$page"
}
for n in 1 2; do
	block yaml "$n" >"$tmp/$n.yml"
	[ -s "$tmp/$n.yml" ]
	ok $? "YAML $n is there"
	if python3 -c 'import yaml' 2>/dev/null; then
		python3 -c 'import sys, yaml; yaml.safe_load(open(sys.argv[1]))' "$tmp/$n.yml"
		ok $? "YAML $n is well-formed"
	else
		skip "no python3-yaml" "YAML $n is well-formed"
	fi
done
# every option that is named is one of prof-diff's
prof-diff --help >"$tmp/help"
grep -oE -e '--[a-z][a-z-]+' "$page" | sort -u | grep -vxE -e '--pid' | while read -r option; do
	grep -qE -e "$option([=[ ]|\$)" "$tmp/help" || echo "$option"
done >"$tmp/out"
is "$(cat "$tmp/out")" "" "its options are those of prof-diff"
block make 1 >"$tmp/Makefile"
block '' 1 >"$tmp/perf.gates"
prof-diff --gates "$tmp/perf.gates" /dev/null /dev/null 2>"$tmp/err"
like "$tmp/err" 'no profile in input$' "its gates are gates"

# what the jobs run on two sides of few samples, where a gate of 1 % can see nothing
if python3 -c 'import yaml' 2>/dev/null; then
	mkdir "$tmp/job"
	for side in base new; do
		awk -v n=3 -v load=0.01 -v seed="${#side}" -f "$top/tests/lib/replicates.awk" >"$tmp/job/$side.pb.gz"
	done
	cp "$tmp/perf.gates" "$tmp/job"
	# job N KEY…: the step of a job that calls prof-diff
	job() {
		python3 -c 'if True:
			import sys, yaml
			at = yaml.safe_load(open(sys.argv[1]))
			for key in sys.argv[2:]:
				at = at[key]
			steps = [s if isinstance(s, str) else s.get("run", "") for s in at]
			print([s for s in steps if "prof-diff" in s][0])' "$@" >"$tmp/step"
		(cd "$tmp/job" && run sh -c "$(grep -v GITHUB_STEP_SUMMARY "$tmp/step")" && echo "$status") 2>&1
	}
	is "$(job "$tmp/1.yml" jobs profile steps)" 0 "GitHub: the report's own status is none"
	is "$(job "$tmp/2.yml" performance script)" 3 "GitLab: status 3 comes from prof-diff, not from make"
	is "$(cd "$tmp/job" && echo perf.*)" 'perf.gates perf.json perf.pb.gz perf.txt perf.xml' "and its reports are there"
else
	skip "no python3-yaml" "what the jobs run"
fi

[ "$(id -u)" -eq 0 ] || { skip "needs root" "make perf-check" && done_testing; }
prof-capture -q -d 0.05 >/dev/null 2>"$tmp/err" || {
	skip "$(head -n 1 "$tmp/err")" "make perf-check"
	done_testing
}
flags='-O2 -g -fno-omit-frame-pointer'
cd "$tmp" || exit
for v in v1 v2; do
	mkdir "$v"
	fixed=
	[ "$v" = v1 ] || fixed=-DMATHDEP_FIXED
	# shellcheck disable=SC2086
	gcc $flags $fixed -I"$top" -fPIC -shared -o "$v/libmathdep.so" "$top/demo/c/mathdep/mathdep.c" &&
		gcc $flags -I"$top" -pthread -o "$v/demo-server" "$top/demo/c/server.c" -L"$v" -lmathdep \
			"-Wl,-rpath,\$ORIGIN"
	ok $? "builds $v"
done
# shellcheck disable=SC2086
gcc $flags -I"$top" -pthread -o demo-load "$top/demo/c/load.c"
ok $? "builds the load"
# check STATUS BASE NEW DESCRIPTION [OPTION]: 1 is any status but 0 (make has its own)
check() {
	rm -f base.pb.gz new.pb.gz
	result=0
	# v2 does so much less that hardly anything of v1 is left to know it by: --force
	# shellcheck disable=SC2086 # an option, or none
	make -s ${5-} perf-check SUDO= LENGTH=1s INTERVALS=6 DIFF_OPTIONS=--force \
		BASE="$2/demo-server" NEW="$3/demo-server" >out 2>err || result=1
	is "$result" "$1" "$4" || diag out err
}
check 0 v1 v2 "make perf-check: v1, then v2, which is faster"
like perf.txt '^improved fib$|^gone fib$' "fib is named"
check 1 v2 v1 "the other way round it fails"
like perf.txt '^regressed fib$|^new fib$' "fib is named"
# in most stacks: those of a process that has just begun may not reach so far
like perf.txt '^  under .*> addition$' "and addition, which calls it"
like perf.xml '<failure type="PerformanceRegression"' "JUnit says so"
like perf.html '<html' "and there is a page to look at"
# both at once: one after the other, what else the machine does meanwhile would be a difference
check 0 v1 v1 "v1 against itself" -j2
done_testing
