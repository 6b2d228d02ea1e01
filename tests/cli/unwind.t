#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Whole stacks of programs that have no frame pointers.
. "$top/tests/lib/tap.sh"
. "$top/tests/lib/capture.sh"

needs_capture

# whole FILE PERCENT DESCRIPTION: the stacks of programs that are all there, by our own account
whole() {
	prof-render -f text "$1" | awk -v want="$2" '
		match($0, /profpipe: stacks_[a-z_]+=[0-9]+"$/) {
			split(substr($0, RSTART + 10, RLENGTH - 11), kv, "=")
			if (kv[1] == "stacks_complete") c += kv[2]
			if (kv[1] != "stacks_copied") n += kv[2]
		}
		END { print c + 0, n + 0; exit !(n >= 100 && c * 100 >= n * want) }' >"$tmp/share"
	ok $? "$3: $(sed 's/ / of /' "$tmp/share") stacks complete" || diag <<-END
		$(stacks "$1" | grep 'unwind stopped\|truncated' | cut -c 1-300 | head -n 20)
	END
}

# --- how the workload is built -------------------------------------------------------------------
build() { # build NAME FLAGS…
	name=$1
	shift
	gcc -O2 -g -fno-optimize-sibling-calls "$@" -o "$tmp/$name" "$top/tests/lib/workload.c" \
		-lpthread 2>"$tmp/err"
}
variants='nofp fp static nopie'
build nofp -fomit-frame-pointer
build fp -fno-omit-frame-pointer
build static -fomit-frame-pointer -static
build nopie -fomit-frame-pointer -no-pie
if build lld -fomit-frame-pointer -fuse-ld=lld; then
	variants="$variants lld"
else
	skip 'no lld here' 'a program of lld'
fi
for v in $variants; do
	if [ ! -x "$tmp/$v" ]; then
		skip "cannot be built here" "recursion in $v"
		continue
	fi
	prof-capture -q -F 999 -o "$tmp/p" -- "$tmp/$v" recurse 0.7 20
	whole "$tmp/p" 99 "$v"
	stacks "$tmp/p" | sed -E 's/;main(;descend){20}([; ])/;twenty\2/' >"$tmp/s"
	all=$(samples ';descend|;twenty' <"$tmp/s")
	deep=$(samples '^_start;([^;]*;)*twenty(;[^d]|$)' <"$tmp/s")
	most "$deep" "$all" 99
	ok $? "$v: a recursion of 20 is 20 frames, from _start on: $deep of $all" || diag "$tmp/s"

	prof-capture -q -F 999 -o "$tmp/p" -- "$tmp/$v" three 2 >"$tmp/truth" 2>/dev/null
	stacks "$tmp/p" | sed -E 's/;main;three(;sixty){13}([; ])/;main;60\2/
		s/;main;three(;thirty){7}([; ])/;main;30\2/; s/;main;three(;ten){2}([; ])/;main;10\2/' >"$tmp/s"
	right=$(samples '^_start;([^;]*;)*main;(60|30|10)(;[^st]|$)' <"$tmp/s")
	all=$(samples ';(60|30|10|sixty|thirty|ten)(;|$)' <"$tmp/s")
	most "$right" "$all" 99
	ok $? "$v: depths of 13, 7 and 2: $right of $all" || diag "$tmp/s"
	for way in 60 30 10; do
		samples ";main;$way(;|\$)" <"$tmp/s"
	done | paste -s -d ' ' - >"$tmp/seen"
	paste -d ' ' "$tmp/truth" "$tmp/seen" | awk '
		{ for (i = 1; i <= 3; i++) { t += $i; n += $(i + 3) }
		  for (i = 1; i <= 3; i++) {
			p = $i / t; d = $(i + 3) / n - p; if (d < 0) d = -d
			if (d > 4 * sqrt(p * (1 - p) / n) + 0.01) bad = 1 } }
		END { exit !(n > 1000 && !bad) }'
	ok $? "$v: shares of 60, 30 and 10: $(cat "$tmp/seen")" || diag "$tmp/truth" "$tmp/s"
done

# --- other programs ------------------------------------------------------------------------------
other() { # other NAME PERCENT COMMAND…
	name=$1
	percent=$2
	shift 2
	if ! command -v "$1" >/dev/null; then
		skip "no $1 here" "$name"
		return
	fi
	prof-capture -q -F 499 -o "$tmp/p" -- "$@" >"$tmp/out" 2>&1
	whole "$tmp/p" "$percent" "$name"
}
cat >"$tmp/work.py" <<-'END'
	import time
	def fib(n):
	    return n if n < 2 else fib(n - 1) + fib(n - 2)
	while time.process_time() < 1.5:
	    fib(18)
END
other python3 99 /usr/bin/python3 "$tmp/work.py"
cat >"$tmp/work.cc" <<-'END'
	#include <algorithm>
	#include <map>
	#include <regex>
	#include <string>
	#include <vector>
	template <int N> int f(std::vector<int> &v, std::map<int, std::string> &m)
	{
		std::sort(v.begin(), v.end(), [](int a, int b) { return (a ^ N) < (b ^ N); });
		m[N] = std::to_string(v[0]);
		return f<N - 1>(v, m) + N;
	}
	template <> int f<0>(std::vector<int> &v, std::map<int, std::string> &) { return v[0]; }
	int main()
	{
		std::vector<int> v(9, 1);
		std::map<int, std::string> m;
		std::regex r("a*b");
		return f<20>(v, m) + std::regex_match("ab", r);
	}
END
other 'clang++ on templates' 98 clang++ -O2 -c "$tmp/work.cc" -o /dev/null
cat >"$tmp/work.go" <<-'END'
	package main

	func rec(n int) int {
		if n > 0 {
			return rec(n-1) + 1
		}
		s := 0
		for i := 0; i < 100000; i++ {
			s += i * i ^ s
		}
		return s
	}

	func main() {
		t := 0
		for i := 0; i < 30000; i++ {
			t += rec(20)
		}
		println(t)
	}
END
if (cd "$tmp" && HOME=$tmp GOCACHE=$tmp/gocache go build -o work-go work.go) >/dev/null 2>&1; then
	other Go 99 "$tmp/work-go"
else
	skip 'no go here' 'Go'
fi
if [ "$(uname -m)" = x86_64 ]; then
	cat >"$tmp/first.S" <<-'END'
			.globl _start
		_start:	.cfi_startproc
			mov $2000000000, %rcx
		1:	dec %rcx
			jnz 1b
			mov $231, %eax
			xor %edi, %edi
			syscall
			.cfi_endproc
	END
	gcc -nostdlib -static -o "$tmp/first" "$tmp/first.S"
	other 'first code that does not say so' 99 "$tmp/first" with arguments
fi
cat >"$tmp/work.rs" <<-'END'
	use std::collections::HashMap;
	fn main() {
	    let mut m: HashMap<String, u64> = HashMap::new();
	    for i in 0..12_000_000u64 {
	        *m.entry((i % 1000).to_string()).or_insert(0) += i;
	    }
	    println!("{}", m.len());
	}
END
if rustc -O -o "$tmp/work-rs" "$tmp/work.rs" 2>/dev/null; then
	other Rust 99 "$tmp/work-rs"
else
	skip 'no rustc here' 'Rust'
fi

# --- processes younger than what is known of them -------------------------------------------------
prof-capture -q -F 999 -o "$tmp/p" -- "$tmp/nofp" spawn 100 15
whole "$tmp/p" 95 '100 processes of 15 ms'
[ "$(comment "$tmp/p" stacks_copied)" -gt 0 ]
ok $? 'some of them from copies of the stack'

# --- signal handlers, the vDSO ---------------------------------------------------------------------
capture_running "$tmp/nofp" signal 600 --
whole "$tmp/p" 99 'in a signal handler'
stacks "$tmp/p" >"$tmp/s"
all=$(samples ';on_signal' <"$tmp/s")
below=$(samples ';main;signal_load;(raise;)?.*;on_signal' <"$tmp/s")
most "$below" "$all" 99
ok $? "on a stack of its own: what it interrupted is there, $below of $all" || diag "$tmp/s"
prof-capture -q -F 999 -o "$tmp/p" -- "$tmp/nofp" clock 0.7
stacks "$tmp/p" >"$tmp/s"
all=$(samples 'vdso' <"$tmp/s")
in_vdso=$(samples '^_start;.*;main;clock_load;.*vdso' <"$tmp/s")
most "$in_vdso" "$all" 99
ok $? "in the vDSO: $in_vdso of $all" || diag "$tmp/s"

# --- forms of the unwinder -------------------------------------------------------------------------
for form in loop tail; do
	capture_running "$tmp/nofp" recurse 600 400 -- --unwinder "$form"
	steps=$(sed -n "s/.*unwinder $form, \([0-9]*\) verifier steps$/\1/p" "$tmp/err")
	[ -n "$steps" ] && [ "$steps" -lt 500000 ]
	ok $? "--unwinder $form: loads, ${steps:-?} verifier steps" || diag "$tmp/err"
	whole "$tmp/p" 98 "--unwinder $form, 400 frames"
done
capture_running "$tmp/nofp" recurse 600 600 -- --unwinder tail
stacks "$tmp/p" | sed -E 's/(;descend){500,}/;many/' >"$tmp/s"
all=$(samples 'descend|many' <"$tmp/s")
cut=$(samples '^\[truncated\];many' <"$tmp/s")
most "$cut" "$all" 95
ok $? "--unwinder tail: 600 frames are cut: $cut of $all" || diag "$tmp/s"
prof-capture -q -F 999 --unwinder fp -o "$tmp/p" -- "$tmp/nofp" recurse 0.5 20
[ "$(comment "$tmp/p" stacks_by_fp)" -gt 0 ]
ok $? '--unwinder fp: by the kernel'
refuses '--unwinder: an unknown one' prof-capture --unwinder nonsense

# --- a file that only its process leads to, as in a container --------------------------------------
# While the capture is stopped its first process comes and goes; the next one must have a table.
cat >"$tmp/inside" <<-'END'
	mount -t tmpfs none "$1" && cp "$2" "$1/prog" || exit
	"$1/prog" burn 20
	: >"$3.first"
	until [ -e "$3.go" ]; do sleep 0.1; done
	exec "$1/prog" recurse 2 20
END
mkdir -p "$tmp/mnt"
profiles() { prof-render -f text "$tmp/p" 2>/dev/null | grep -c '^profile'; }
await() { # await COMMAND…: until it holds, for a minute at most
	tries=0
	until "$@" || [ "$tries" -eq 600 ]; do
		sleep 0.1
		tries=$((tries + 1))
	done
}
has() { [ "$(profiles)" -ge "$1" ]; }
if unshare -m mount -t tmpfs none "$tmp/mnt" 2>/dev/null; then
	prof-capture -q -F 999 -i 200ms --comm prog >"$tmp/p" &
	capture=$!
	await has 1
	kill -STOP "$capture"
	unshare -m sh "$tmp/inside" "$tmp/mnt" "$tmp/nofp" "$tmp/step" &
	inside=$!
	await test -e "$tmp/step.first"
	kill -CONT "$capture"
	await has "$(($(profiles) + 3))"
	: >"$tmp/step.go"
	wait "$inside"
	await has "$(($(profiles) + 2))"
	kill "$capture"
	wait "$capture"
	stacks "$tmp/p" >"$tmp/s"
	all=$(samples '^\[unwind stopped: no unwind info|;\[prog\]' <"$tmp/s")
	cut=$(samples '^\[unwind stopped: no unwind info' <"$tmp/s")
	most "$((all - cut))" "$all" 90
	ok $? "a file whose first process was gone: $cut of $all cut short" || diag "$tmp/s"
else
	skip 'cannot mount here' 'a file whose first process was gone'
fi

# --- the cache -------------------------------------------------------------------------------------
prof-capture -q -d 0.1 --cache "$tmp/cache" -p $$ >/dev/null
id=$(readelf -n "$(readlink -f /proc/$$/exe)" | sed -n 's/.*Build ID: //p')
[ -s "$tmp/cache/$id.unwind" ]
ok $? '--cache: a file for each build id'
before=$(ls -i "$tmp/cache/$id.unwind")
prof-capture -q -d 0.1 --cache "$tmp/cache" -p $$ >/dev/null
is "$(ls -i "$tmp/cache/$id.unwind")" "$before" 'which is used'
cp "$tmp/cache/$id.unwind" "$tmp/good"
for how in short long flipped other; do
	case $how in
	short) head -c 1000 "$tmp/good" ;;
	long) cat "$tmp/good"; echo more ;;
	flipped)
		head -c 1000 "$tmp/good"
		printf '\377\377'
		tail -c +1003 "$tmp/good"
		;;
	other) cat "$tmp/nofp" ;;
	esac >"$tmp/cache/$id.unwind"
	before=$(ls -i "$tmp/cache/$id.unwind")
	run prof-capture -q -d 0.1 --cache "$tmp/cache" -p $$
	is "$status" 0 "a damaged one ($how): no harm"
	cmp -s "$tmp/cache/$id.unwind" "$tmp/good"
	ok $? 'and it is written anew'
done
mkdir "$tmp/sealed"
# shellcheck disable=SC2016 # expanded by the inner shell
if unshare -m mount -t tmpfs -o ro none "$tmp/sealed" 2>/dev/null; then
	run unshare -m sh -c 'mount -t tmpfs -o ro none "$0" && exec prof-capture -d 0.1 --cache "$0" -p 1' \
		"$tmp/sealed"
	is "$status" 0 '--cache: a directory that cannot be written'
	like "$tmp/err" "^prof-capture: --cache: $tmp/sealed: Read-only file system: no new" 'is said'
else
	skip 'cannot mount here' '--cache: a directory that cannot be written'
fi
refuses '--cache: not a directory' prof-capture --cache "$top/Makefile"

# --- the children that read files -------------------------------------------------------------------
prof-capture -q -F 499 -d 600 -o "$tmp/p" &
capture=$!
# workers: their numbers, when both are there and confined; after some time those that are there
guard=''
workers() {
	for _ in $(seq 100); do
		: "${guard:=$(pgrep -P "$capture")}"
		pids=$(pgrep -P "${guard:-0}")
		confined=0
		for p in $pids; do
			grep -q '^CapEff:.0*$' "/proc/$p/status" && grep -q '^Seccomp:.2$' "/proc/$p/status" &&
				confined=$((confined + 1))
		done 2>/dev/null
		[ "$confined" -lt 2 ] || break
		sleep 0.05
	done
	echo "$pids"
}
before=$(workers)
guard=$(pgrep -P "$capture")
is "$(echo "$before" | wc -l)" 2 'two of them'
first=${before%%
*}
for p in $before; do
	grep -q '^CapEff:.0*$' "/proc/$p/status" && grep -q '^Seccomp:.2$' "/proc/$p/status"
	ok $? "$([ "$p" = "$first" ] && echo one || echo 'the other'): no capability, seccomp" || diag "/proc/$p/status"
done
kill -SEGV "$first"
while kill -0 "$first" 2>/dev/null; do
	sleep 0.05
done
after=$(workers)
is "$(echo "$after" | wc -l)" 2 'one that dies is started again'
kill -9 "$capture"
wait "$capture" 2>/dev/null
left=
for _ in $(seq 100); do
	left=
	for p in "$guard" $after; do
		! kill -0 "$p" 2>/dev/null || left="$left $p"
	done
	[ "$left" ] || break
	sleep 0.05
done
is "$left" '' 'and all end with the capture, however that ends'

# --- what it costs ---------------------------------------------------------------------------------
prof-capture -q -d 0.1 -o "$tmp/cold"
prof-capture -q -d 0.1 --cache "$tmp/cache2" -o /dev/null
prof-capture -q -d 0.1 --cache "$tmp/cache2" -o "$tmp/warm"
prof-capture -q -F 99 -o "$tmp/p" -- "$tmp/nofp" recurse 3 20
awk -v cold="$(comment "$tmp/cold" own_cpu_ns)" -v warm="$(comment "$tmp/warm" own_cpu_ns)" \
	-v ns="$(comment "$tmp/p" bpf_ns)" -v n="$(comment "$tmp/p" kept)" 'BEGIN {
		printf "# own CPU to start: %.2f s, with a cache %.2f s; ", cold / 1e9, warm / 1e9
		printf "a sample: %.1f us\n", n ? ns / n / 1e3 : 0
	}'
done_testing
