#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Stacks are those that gdb finds: a build of the sampler stops the program at the sample.
. "$top/tests/lib/tap.sh"
. "$top/tests/lib/capture.sh"

[ "$(id -u)" -eq 0 ] || skip_all 'needs root'
command -v gdb >/dev/null || skip_all 'no gdb'
run prof-capture-stop -q -d 0.05 -p $$
if [ "$status" -ne 0 ]; then
	skip_all "$(cat "$tmp/err")"
fi
times=4
[ -z "${PROFPIPE_LONG-}" ] || times=12

cat >"$tmp/frames.py" <<-'END'
	import gdb
	f = gdb.newest_frame()
	newer = gdb.SIGTRAMP_FRAME
	while f:
	    if f.type() not in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME):
	        # callers have been moved back onto their calls
	        exact = gdb.SIGTRAMP_FRAME in (newer, f.type())
	        print("pc 0x%x" % (f.pc() if exact else f.pc() - 1))
	        newer = f.type()
	    f = f.older()
END

# ours: the user's addresses of the only sample, as they were on the stack
ours() {
	prof-render -f text "$1" | awk '
		$1 == "mapping" { kernel["m" $2] = $6 ~ /^"\[kernel/ }
		$1 == "location" { map[$2] = $3; addr[$2] = $4 }
		$1 == "sample" && ++n == 1 {
			for (i = 5; $i != ":"; i++)
				if (!kernel[map[$i]] && addr[$i] != "0x0" && addr[$i] !~ /^0xffff/)
					print addr[$i]
		}
		END { exit n != 1 }'
}

# agree NAME COMMAND…: as often as $times, at samples some tenths of a second apart
agree() {
	name=$1
	shift
	if ! command -v "$1" >/dev/null; then
		skip "no $1 here" "$name"
		return
	fi
	pid=''
	i=0 good=0 frames=0 tries=0
	: >"$tmp/differ"
	while [ $i -lt "$times" ] && [ $tries -lt $((times * 3)) ]; do
		tries=$((tries + 1))
		if ! kill -0 "${pid:-none}" 2>/dev/null; then
			"$@" >/dev/null 2>&1 &
			pid=$!
			sleep 1
		fi
		prof-capture-stop -q -F 499 -d 0.3 --cache "$tmp/cache" -p "$pid" -o "$tmp/one"
		gdb -q -batch -nx -iex 'set debuginfod enabled off' \
			-iex 'set auto-load safe-path /nowhere' -iex 'set backtrace past-main on' \
			-iex 'set backtrace past-entry on' -p "$pid" -x "$tmp/frames.py" 2>/dev/null |
			sed -n 's/^pc //p' >"$tmp/theirs"
		kill -CONT "$pid"
		# not if there was one more before its tables came
		ours "$tmp/one" >"$tmp/ours" || continue
		i=$((i + 1))
		# in a system call the leaf has been moved back onto it
		read -r leaf <"$tmp/ours"
		read -r pc <"$tmp/theirs"
		[ $((pc - leaf)) -ne 1 ] || sed -i "1s/.*/$leaf/" "$tmp/theirs"
		if diff "$tmp/ours" "$tmp/theirs" >>"$tmp/differ"; then
			good=$((good + 1))
			frames=$((frames + $(wc -l <"$tmp/ours")))
		fi
		sleep 0.2
	done
	kill "$pid" 2>/dev/null
	wait "$pid" 2>/dev/null
	[ "$i" -eq "$times" ] && [ "$good" -eq "$i" ]
	ok $? "$name: $good of $i stacks as gdb has them, $frames frames" || diag "$tmp/differ"
}
gcc -O2 -g -fomit-frame-pointer -fno-optimize-sibling-calls -o "$tmp/nofp" \
	"$top/tests/lib/workload.c" -lpthread
agree 'C without frame pointers' "$tmp/nofp" recurse 60 13
agree 'a signal handler' "$tmp/nofp" signal 60
cat >"$tmp/work.py" <<-'END'
	def fib(n):
	    return n if n < 2 else fib(n - 1) + fib(n - 2)
	while True:
	    fib(18)
	    sorted(str(i) for i in range(99))
END
agree python3 /usr/bin/python3 "$tmp/work.py"
cat >"$tmp/work.c" <<-'END'
	#define A(n) int f##n(int x) { int s = 0; for (int i = 0; i < x; i++) s += (i ^ n) % (x + n); return s; }
	#define B(n) A(n##0) A(n##1) A(n##2) A(n##3) A(n##4) A(n##5) A(n##6) A(n##7) A(n##8) A(n##9)
	#define C(n) B(n##0) B(n##1) B(n##2) B(n##3) B(n##4) B(n##5) B(n##6) B(n##7) B(n##8) B(n##9)
	C(1) C(2) C(3) C(4) C(5) C(6) C(7) C(8) C(9)
	C(11) C(12) C(13) C(14) C(15) C(16) C(17) C(18) C(19)
END
agree 'LLVM, in C++' clang -cc1 -triple x86_64-pc-linux-gnu -emit-obj -O2 -o /dev/null -x c \
	"$tmp/work.c"
cat >"$tmp/work.rs" <<-'END'
	use std::collections::BTreeMap;

	fn fill(m: &mut BTreeMap<u64, Vec<u64>>, n: u64) -> u64 {
	    if n == 0 {
	        return m.values().flatten().fold(0, |a, b| a ^ b);
	    }
	    let mut v: Vec<u64> = (0..200).map(|i| i * n * 2654435761 % 1000).collect();
	    v.sort_by(|a, b| b.cmp(a));
	    m.insert(n, v);
	    fill(m, n - 1) + n
	}

	fn main() {
	    let mut sum = 0u64;
	    for _ in 0..2_000_000 {
	        sum = sum.wrapping_add(fill(&mut BTreeMap::new(), 20));
	    }
	    println!("{}", sum);
	}
END
if rustc -O -o "$tmp/work-rust" "$tmp/work.rs" >"$tmp/out" 2>&1; then
	agree Rust "$tmp/work-rust"
else
	skip 'no rustc here' Rust
fi
done_testing
