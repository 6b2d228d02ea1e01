#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# prof-capture: the functions of Python programs.
. "$top/tests/lib/tap.sh"
. "$top/tests/lib/capture.sh"

needs_capture
python=/usr/bin/python3.11
[ -x "$python" ] || python=$(command -v python3.11)
"$python" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' 2>/dev/null ||
	skip_all 'no Python 3.11'

cat >"$tmp/app.py" <<-'END'
	import sys, threading, time


	def spin(n):
	    total = 0
	    for i in range(n):
	        total += i
	    return total


	class Größe:
	    def key(self, x):
	        return spin(300)

	    def sort(self):
	        # C code that calls Python again
	        sorted([3, 1, 2], key=self.key)


	def major(end):
	    while time.thread_time() < end:
	        spin(2000)


	def minor(end):
	    while time.thread_time() < end:
	        Größe().sort()


	def deep(n, end):
	    if n:
	        return deep(n - 1, end)
	    return major(end)


	what = sys.argv[1]
	if what == "split":
	    # what starting took is not the functions'
	    begin = time.thread_time()
	    major(begin + 1.5)
	    minor(begin + 2)
	elif what == "long":
	    print("ready", flush=True)
	    major(600)
	elif what == "deep":
	    deep(20, 0.8)
	elif what == "threads":
	    threads = [threading.Thread(target=f, args=(0.6,)) for f in (major, minor)]
	    for t in threads:
	        t.start()
	    for t in threads:
	        t.join()
END
# python MODE: its stacks, in lines
capture() {
	prof-capture -q -F 997 -o "$tmp/p" -- "$python" "$tmp/app.py" "$@" 2>"$tmp/err"
	stacks "$tmp/p" >"$tmp/s"
}

capture split
all=$(samples 'major|minor' <"$tmp/s")
major=$(samples ';<module>;major(;|$)' <"$tmp/s")
minor=$(samples ';<module>;minor(;|$)' <"$tmp/s")
most $((major + minor)) "$all" 99
ok $? "functions stand on those that called them: $((major + minor)) of $all" || diag "$tmp/s"
awk -v a="$major" -v b="$minor" 'BEGIN { n = a + b; p = a / n
	exit !(n > 1500 && p > 0.70 && p < 0.80) }'
ok $? "as much as each had: $major and $minor" || diag "$tmp/s"
whole=$(samples '^_start;.*PyEval_EvalCode;<module>;' <"$tmp/s")
most "$whole" "$all" 95
ok $? "in place of the interpreter's own loop: $whole of $all" || diag "$tmp/s"
back=$(samples ';<module>;minor;Größe.sort;.*;Größe.key;spin' <"$tmp/s")
most "$back" "$minor" 60
ok $? "through native code and back: $back of $minor" || diag "$tmp/s"
prof-render -f text "$tmp/p" >"$tmp/text"
like "$tmp/text" "^function [0-9]+ \"spin\" \"spin\" \"$tmp/app.py\" 4\$" 'file and first line'
prof-render --granularity lines -f folded -t samples "$tmp/p" >"$tmp/lines"
got=$(samples "spin $tmp/app.py:[67](;|\$)" <"$tmp/lines")
every=$(samples "spin $tmp/app.py" <"$tmp/lines")
most "$got" "$every" 95
ok $? "lines: $got of $every in the loop" || diag "$tmp/lines"

capture deep
all=$(samples ';major' <"$tmp/s")
right=$(sed -E 's/;<module>(;deep){21};major/;twenty-one/' "$tmp/s" | samples ';twenty-one')
most "$right" "$all" 97
ok $? "a recursion of 21 is 21 frames: $right of $all" || diag "$tmp/s"

capture threads
major=$(samples 'Thread.run;([^;]*;)?major(;|$)' <"$tmp/s")
minor=$(samples 'Thread.run;([^;]*;)?minor(;|$)' <"$tmp/s")
mixed=$(samples 'major.*minor|minor.*major' <"$tmp/s")
[ "$major" -gt 150 ] && [ "$minor" -gt 150 ] && [ "$mixed" -eq 0 ]
ok $? "threads: $major and $minor, each its own" || diag "$tmp/s"

# code objects as large as a program can make them: what is kept of one process is bounded
cat >"$tmp/large.py" <<-'END'
	import time

	table = bytes([0x80, 0]) * 500000
	code = "def f(end):\n    while time.thread_time() < end:\n        pass\n"
	spaces = [{"time": time} for i in range(250)]
	for space in spaces:
	    exec(code, space)
	    space["f"].__code__ = space["f"].__code__.replace(co_linetable=table)
	for i, space in enumerate(spaces):
	    space["f"](time.thread_time() + 0.008)
END
measure "$tmp/ran" prof-capture -q -F 997 -o "$tmp/p" -- "$python" "$tmp/large.py"
read -r _ kib _ <"$tmp/ran"
stacks "$tmp/p" >"$tmp/s"
[ "$(samples ';f(;|$)' <"$tmp/s")" -gt 500 ] && [ "$kib" -lt 200000 ]
ok $? "large code objects: $kib KiB" || diag "$tmp/s"

# one that runs already, in a PID namespace of its own
if unshare -p -f true 2>/dev/null; then
	unshare -p -f "$python" "$tmp/app.py" long >"$tmp/ready" &
	pid=$!
	while [ ! -s "$tmp/ready" ] && kill -0 "$pid"; do sleep 0.05; done
	inner=$(pgrep -P "$pid")
	prof-capture -q -F 997 -d 1 -p "$inner" -o "$tmp/p"
	kill -9 "$inner"
	wait "$pid"
	stacks "$tmp/p" >"$tmp/s"
	all=$(samples . <"$tmp/s")
	most "$(samples ';major(;|$)' <"$tmp/s")" "$all" 90
	ok $? 'a program that runs already, with another number for itself' || diag "$tmp/s"
fi
done_testing
