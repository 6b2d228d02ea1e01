#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# prof-capture: names of code that runtimes make, from what they write down.
. "$top/tests/lib/tap.sh"
. "$top/tests/lib/capture.sh"

needs_capture
maps=
trap 'rm -rf "$tmp"; rm -f $maps' EXIT

cat >"$tmp/fib.js" <<-'END'
	// two lines in front
	//
	function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
	const end = 1500; // ms of CPU
	while (process.cpuUsage().user < end * 1000) fib(20);
	console.log(process.pid);
END

# named FILE NAME SOURCE LINE: the function is there, and its samples hold under its callers
function_of() {
	prof-render -f text "$1" | grep -cE "^function [0-9]* \"$2\" \"$2\" \"$3\" $4\$"
}

# what node calls a function that it has compiled: the second is that of Node 18
compiled='(JS|LazyCompile):\*'
js='(JS|LazyCompile|Function):.'
if command -v node >/dev/null; then
	prof-capture -q -F 499 -o "$tmp/p" -- \
		sh -c "cd $tmp && node --perf-basic-prof $tmp/fib.js >pid"
	is $? 0 'node with a perf map'
	maps="$maps /tmp/perf-$(cat "$tmp/pid").map"
	[ "$(function_of "$tmp/p" "${compiled}fib" "$tmp/fib.js" 3)" -ge 1 ]
	ok $? 'its functions have name, file and line'
	stacks "$tmp/p" >"$tmp/s"
	all=$(samples "${js}fib" <"$tmp/s")
	unnamed=$(samples '^\[jit: no map\]' <"$tmp/s")
	[ "$unnamed" -le $((all / 20)) ]
	ok $? "hardly any has no name: $unnamed"

	# one that runs already: the table of node itself is there before the first sample
	sed 's/1500/600000/' "$tmp/fib.js" >"$tmp/long.js"
	(cd "$tmp" && exec node --perf-basic-prof "$tmp/long.js" >long.out) &
	node=$!
	maps="$maps /tmp/perf-$node.map"
	worked "$node" 1000
	prof-capture -q -F 499 -d 3 -p "$node" -o "$tmp/p"
	kill "$node"
	stacks "$tmp/p" >"$tmp/s"
	all=$(samples "${js}fib" <"$tmp/s")
	whole=$(samples "^_start;.*main;.*node::.*;${js}fib" <"$tmp/s")
	most "$whole" "$all" 98
	ok $? "and stand on those of node: $whole of $all" || diag "$tmp/s"

	prof-capture -q -F 499 -o "$tmp/p" -- \
		sh -c "cd $tmp && exec node --perf-prof $tmp/fib.js >/dev/null"
	is $? 0 'node with a jitdump, which it writes late'
	[ "$(function_of "$tmp/p" "${compiled}fib" "$tmp/fib.js" 3)" -ge 1 ]
	ok $? 'its functions have name, file and line' || diag "$tmp/s"
	stacks "$tmp/p" >"$tmp/s"
	all=$(samples "${js}fib" <"$tmp/s")
	[ "$all" -ge 100 ]
	ok $? "also those sampled before they were written down: $all" || diag "$tmp/s"

	prof-capture -q -F 499 -o "$tmp/p" -- node "$tmp/fib.js" >/dev/null 2>&1
	stacks "$tmp/p" >"$tmp/s"
	[ "$(samples '^\[jit: no map\]' <"$tmp/s")" -ge 100 ]
	ok $? 'without either, that is said' || diag "$tmp/s"
else
	skip 'no node here' 'code made by V8'
fi

if command -v javac >/dev/null && command -v jcmd >/dev/null; then
	cat >"$tmp/Fib.java" <<-'END'
		public class Fib {
			static long fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
			public static void main(String[] a) {
				for (long end = System.currentTimeMillis() + 600000; System.currentTimeMillis() < end;)
					fib(20);
			}
		}
	END
	javac -d "$tmp" "$tmp/Fib.java"
	# compiled once, or what is made after the map has no name
	java -XX:TieredStopAtLevel=1 -XX:+PreserveFramePointer -cp "$tmp" Fib &
	java=$!
	maps="$maps /tmp/perf-$java.map"
	for _ in $(seq 100); do
		jcmd "$java" Compiler.perfmap >/dev/null 2>&1
		! grep -q 'Fib\.main' "/tmp/perf-$java.map" 2>/dev/null || break
		sleep 0.2
	done
	mv "/tmp/perf-$java.map" "$tmp/java.map"
	# the map comes when the samples are there already
	prof-capture -q -F 499 -d 3 -p "$java" -o "$tmp/p" &
	capture=$!
	sleep 1
	mv "$tmp/java.map" "/tmp/perf-$java.map"
	wait "$capture"
	kill "$java"
	stacks "$tmp/p" >"$tmp/s"
	all=$(samples . <"$tmp/s")
	named=$(samples 'Fib.fib' <"$tmp/s")
	most "$named" "$all" 80
	ok $? "Java with jcmd's perf map: $named of $all" || diag "$tmp/s"
else
	skip 'no JDK here' "Java with jcmd's perf map"
fi

# --- a map that somebody else left there -----------------------------------------------------------
if [ "$(uname -m)" = x86_64 ]; then
	"$workload" jit 600 &
	load=$!
	echo '0 7fffffffffff everything' >"/tmp/perf-$load.map"
	maps="$maps /tmp/perf-$load.map"
	chown 65534 "/tmp/perf-$load.map"
	prof-capture -q -F 499 -d 0.5 -p "$load" -o "$tmp/p"
	prof-render -f folded "$tmp/p" >"$tmp/s"
	! grep -q everything "$tmp/s"
	ok $? 'a map of another user is not believed' || diag "$tmp/s"
	chown 0 "/tmp/perf-$load.map"
	cp "/tmp/perf-$load.map" "$tmp/map"
	{ head -c 3000000 /dev/zero; echo; cat "$tmp/map"; } >"/tmp/perf-$load.map"
	prof-capture -q -F 499 -d 0.5 -p "$load" -o "$tmp/p"
	prof-render -f folded "$tmp/p" >"$tmp/s"
	! grep -q everything "$tmp/s"
	ok $? 'one with a line without end is given up there' || diag "$tmp/s"
	cp "$tmp/map" "/tmp/perf-$load.map"
	prof-capture -q -F 499 -d 0.5 -p "$load" -o "$tmp/p"
	prof-render -f folded "$tmp/p" >"$tmp/s"
	grep -q 'jit_load;everything\|;everything' "$tmp/s"
	ok $? "that of its own, or root's, is" || diag "$tmp/s"
	kill "$load"

	# root would read it, but they may not
	cp "$workload" "$tmp/theirs"
	chmod 755 "$tmp" "$tmp/theirs"
	setpriv --reuid=65534 --regid=65534 --clear-groups "$tmp/theirs" jit 60 &
	load=$!
	cp "$tmp/map" "/tmp/perf-$load.map"
	maps="$maps /tmp/perf-$load.map"
	for mode in 600 644; do
		chmod "$mode" "/tmp/perf-$load.map"
		prof-capture -q -F 499 -d 0.5 -p "$load" -o "$tmp/p"
		prof-render -f folded "$tmp/p" >"$tmp/$mode"
	done
	kill "$load"
	! grep -q everything "$tmp/600"
	ok $? "a file of root's that another user may not read does not name that user's code" ||
		diag "$tmp/600"
	grep -q ';everything' "$tmp/644"
	ok $? 'one that all may read does' || diag "$tmp/644"
fi
done_testing
