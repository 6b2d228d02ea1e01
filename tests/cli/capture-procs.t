#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# prof-capture: which program a sample is of, whatever processes do: exec, numbers that come
# again, files that are gone or others now, namespaces, many mappings, libraries loaded late.
. "$top/tests/lib/tap.sh"
. "$top/tests/lib/capture.sh"

needs_capture
pids=
trap 'for p in $pids; do kill "$p" 2>/dev/null; done; rm -rf "$tmp"' EXIT

build_id() {
	readelf -n "$1" | sed -n 's/.*Build ID: //p'
}

# variant NAME BYTE: the workload with a build id of its own, at $tmp/NAME
own_id=$(build_id "$workload")
variant() {
	perl -0777 -pe 'BEGIN { $id = pack("H*", shift); $to = $id; substr($to, -1) = chr(shift) }
		s/\Q$id\E/$to/ or die "no build id"' "$own_id" "$2" <"$workload" >"$tmp/$1"
	chmod +x "$tmp/$1"
}
variant a 1
variant b 2
variant c 3
a=$(build_id "$tmp/a")
b=$(build_id "$tmp/b")
c=$(build_id "$tmp/c")
[ "$a" != "$b" ] && [ "$b" != "$c" ] && [ -n "$a" ]
ok $? 'three programs with a build id each' || diag <<-END
	$a $b $c
END

# programs FILE PID: of the samples of a process in our programs, or of all processes: for each,
# comm, executable, build_id label, and the file and build id of every mapping in its stack
# that is one of ours. One line for each combination: samples, then these.
programs() {
	prof-render -f text "$1" | awk -v dir="$tmp" -v pid="$2" '
		function label(k) {
			if (!match($0, "\"" k "\"=\"[^\"]*\""))
				return "-"
			return substr($0, RSTART + length(k) + 4, RLENGTH - length(k) - 5)
		}
		$1 == "mapping" { file["m" $2] = $6; id["m" $2] = $7 }
		$1 == "location" { map[$2] = $3 }
		$1 == "sample" {
			if (pid && $0 !~ "\"pid\"=" pid "( |$)")
				next
			in_file = "-"
			for (i = 5; $i != ":" && i <= NF; i++) {
				m = map[$i]
				if (index(file[m], "\"" dir "/") != 1)
					continue
				one = substr(file[m], 2, length(file[m]) - 2) "=" \
					substr(id[m], 2, length(id[m]) - 2)
				if (in_file != "-" && in_file != one)
					one = "MIXED"
				in_file = one
			}
			n[label("comm") " " label("executable") " " label("build_id") " " in_file] += $2
		}
		END { for (k in n) print n[k], k }' | sort -k2
}

# right TABLE NAME ID: samples that are of this program in all respects
right() {
	awk -v n="$2" -v f="$tmp/$2" -v id="$3" '
		$2 == n && $3 == f && $4 == id && $5 == f "=" id { s += $1 } END { print s + 0 }' "$1"
}

# wrong TABLE: samples that are said to be of two programs at once
wrong() {
	awk -v dir="$tmp/" -v a="$a" -v b="$b" -v c="$c" '
		BEGIN { id["a"] = a; id["b"] = b; id["c"] = c }
		$2 in id && ($3 != dir $2 || ($4 != id[$2] && $4 != "-") ||
			($5 != "-" && $5 != dir $2 "=" id[$2])) { s += $1 }
		END { print s + 0 }' "$1"
}

# --- exec ----------------------------------------------------------------------------------------
prof-capture -q -F 999 -o "$tmp/p" -- "$tmp/a" relay 300 "$tmp/b" "$tmp/c"
programs "$tmp/p" '' >"$tmp/t"
for n in a b c; do
	eval "id=\$$n"
	all=$(right "$tmp/t" $n "$id")
	[ "$all" -gt 200 ]
	ok $? "a chain of execs: $all samples of $n" || diag "$tmp/t"
done
is "$(wrong "$tmp/t")" 0 'and none of two at once' || diag "$tmp/t"

# many execs in a row, a few ms each
cat >"$tmp/many" <<-'END'
	for i in $(seq 40); do
		"$tmp/a" relay 5 "$tmp/b" "$tmp/c" "$tmp/a" "$tmp/c" "$tmp/b"
	done
END
export tmp
prof-capture -q -F 1999 -o "$tmp/p" -- sh "$tmp/many"
programs "$tmp/p" '' >"$tmp/t"
is "$(wrong "$tmp/t")" 0 'hundreds of execs: no sample of two programs' || diag "$tmp/t"
all=$(($(right "$tmp/t" a "$a") + $(right "$tmp/t" b "$b") + $(right "$tmp/t" c "$c")))
[ "$all" -gt 1000 ]
ok $? "of $all" || diag "$tmp/t"

# --- one number, several processes ----------------------------------------------------------------
prof-capture -q -F 999 -o "$tmp/p" -- "$workload" reuse 200 "$tmp/a" "$tmp/b" "$tmp/c" "$tmp/a" \
	>"$tmp/n" 2>&1
number=$(tail -n 1 "$tmp/n")
if [ "$number" -gt 0 ] 2>/dev/null; then
	programs "$tmp/p" "$number" >"$tmp/t"
	for n in a b c; do
		eval "id=\$$n"
		all=$(right "$tmp/t" $n "$id")
		[ "$all" -gt 100 ]
		ok $? "process $number again: $all samples of $n" || diag "$tmp/t"
	done
	is "$(wrong "$tmp/t")" 0 'and none of two at once' || diag "$tmp/t"
else
	skip "$(cat "$tmp/n")" 'process numbers that come again'
fi

# --- files that are not what they were -------------------------------------------------------------
# started FILE: runs it for a minute; its number in $started
started() {
	"$1" split 60 >/dev/null &
	started=$!
	pids="$pids $started"
	while [ "$(readlink "/proc/$started/exe")" != "$1" ]; do sleep 0.02; done
}
cp "$tmp/a" "$tmp/gone"
started "$tmp/gone"
gone=$started
rm "$tmp/gone"
cp "$tmp/b" "$tmp/replaced"
started "$tmp/replaced"
replaced=$started
cp "$tmp/c" "$tmp/new"
mv "$tmp/new" "$tmp/replaced"
cat >"$tmp/later" <<-'END'
	runs() { # runs PID: wait until it is late, not the shell any more
		while exe=$(readlink "/proc/$1/exe") && [ "$exe" != "$tmp/late" ]; do sleep 0.02; done
		sleep 0.1
	}
	cp "$tmp/a" "$tmp/late"
	"$tmp/late" burn 400 &
	runs $!
	rm "$tmp/late"
	wait
	cp "$tmp/b" "$tmp/late"
	"$tmp/late" burn 400 &
	runs $!
	cp "$tmp/c" "$tmp/new"
	mv "$tmp/new" "$tmp/late"
	wait
END
prof-capture -q -F 999 -p "$gone,$replaced" -o "$tmp/p" -- sh "$tmp/later"
programs "$tmp/p" '' >"$tmp/t"
prof-render -f text "$tmp/p" >"$tmp/text"
is "$(grep -c ' (deleted)' "$tmp/text")" 0 'files that are gone: no "(deleted)"'
file_is() { # file_is COMM NAME ID: samples
	awk -v n="$1" -v f="$tmp/$2" -v id="$3" '
		$2 == n && $3 == f && $4 == id && $5 == f "=" id { s += $1 } END { print s + 0 }' "$tmp/t"
}
n=$(file_is gone gone "$a")
[ "$n" -gt 10 ]
ok $? "deleted before the capture: its name and build id: $n" || diag "$tmp/t"
n=$(file_is replaced replaced "$b")
[ "$n" -gt 10 ]
ok $? "replaced before the capture: those of the old one: $n" || diag "$tmp/t"
n=$(file_is late late "$a")
[ "$n" -gt 50 ]
ok $? "deleted while it runs: $n" || diag "$tmp/t"
n=$(file_is late late "$b")
[ "$n" -gt 50 ]
ok $? "replaced while it runs: $n" || diag "$tmp/t"
is "$(awk -v id="$c" 'index($0, id) { s += $1 } END { print s + 0 }' "$tmp/t")" 0 \
	'nothing is said to be what is there instead' || diag "$tmp/t"
kill "$gone" "$replaced"

# --- namespaces ------------------------------------------------------------------------------------
cat >"$tmp/inside" <<-'END'
	mount -t tmpfs none "$tmp/mnt" || exit 77
	cp "$tmp/a" "$tmp/mnt/program"
	echo $$ >"$tmp/inner"
	exec "$tmp/mnt/program" burn "$1"
END
mkdir "$tmp/mnt"
if unshare -m -p -f true 2>/dev/null; then
	prof-capture -q -F 999 -o "$tmp/p" -- unshare -m -p -f sh "$tmp/inside" 500
	programs "$tmp/p" '' >"$tmp/t"
	n=$(file_is program mnt/program "$a")
	[ "$n" -gt 200 ]
	ok $? "namespaces of its own: name and build id of a file that only it can see: $n" || diag "$tmp/t"
	is "$(cat "$tmp/inner")" 1 'it is number 1 for itself'
	n=$(prof-render -f text "$tmp/p" | grep '"comm"="program"' | grep -o '"pid"=[0-9]*' | sort -u)
	[ -n "$n" ] && ! echo "$n" | grep -qx '"pid"=1'
	ok $? "and has the machine's number in the profile: $n"

	rm -f "$tmp/inner"
	unshare -m -p -f sh "$tmp/inside" 60000 2>/dev/null &
	outer=$!
	pids="$pids $outer"
	until inner=$(cat "/proc/$outer/task/$outer/children") && [ -n "$inner" ] &&
		[ "$(cat "/proc/${inner% }/comm")" = program ]; do sleep 0.05; done
	inner=${inner% }
	prof-capture -q -F 999 -d 0.5 -p "$inner" -o "$tmp/p"
	programs "$tmp/p" "$inner" >"$tmp/t"
	n=$(file_is program mnt/program "$a")
	[ "$n" -gt 10 ]
	ok $? "the same, running before the capture: $n" || diag "$tmp/t"
	kill -9 "$inner"
else
	skip 'no namespaces here' 'processes in namespaces of their own'
fi

# --- kinds of code -----------------------------------------------------------------------------------
prof-capture -q -F 999 -o "$tmp/p" -- "$workload" clock 0.7
prof-render -f text "$tmp/p" >"$tmp/text"
like "$tmp/text" '^mapping [0-9]+ 0x[0-9a-f]+ 0x[0-9a-f]+ 0x0 "\[vdso\]" "[0-9a-f]{8,}"' \
	'the vDSO is a mapping with a build id'
stacks "$tmp/p" >"$tmp/s"
all=$(samples 'clock_load' <"$tmp/s")
n=$(samples 'main;clock_load;.*;.*(vdso|0x)' <"$tmp/s")
most "$n" "$all" 50
ok $? "and its frames stand on those that called it: $n of $all" || diag "$tmp/s"

for n in 600 5000; do
	prof-capture -q -F 999 -o "$tmp/p" -- "$workload" mapped 0.5 $n
	is $? 0 "$n executable mappings"
	stacks "$tmp/p" >"$tmp/s"
	all=$(samples 'short_burn' <"$tmp/s")
	# those beyond the 4096 that the unwinder knows end there, and say so
	whole=$(samples '^(_start|\[unwind stopped: no mapping\]);.*main;mapped_load;short_burn' <"$tmp/s")
	[ $n = 600 ] && whole=$(samples '^_start;.*main;mapped_load;short_burn' <"$tmp/s")
	most "$whole" "$all" 90
	ok $? "stacks of main: $whole of $all" || diag "$tmp/s"
	read -r users mapped ids exe <<-END
		$(user_frames "$tmp/p")
	END
	most "$mapped" "$users" 98
	ok $? "in a mapping: $mapped of $users, $exe with an executable"
	is "$ids" "$mapped" 'with a build id each'
done

zlib=$(ldconfig -p 2>/dev/null | sed -n 's/.*libz\.so\.1 .*x86-64.* => //p; s/.*libz\.so\.1 .*AArch64.* => //p' | head -n 1)
if [ -n "$zlib" ]; then
	prof-capture -q -F 999 -o "$tmp/p" -- "$workload" library 1 "$zlib"
	stacks "$tmp/p" >"$tmp/s"
	all=$(samples 'adler32|libz' <"$tmp/s")
	whole=$(samples '^_start;.*main;library_load;.*(adler32|libz)' <"$tmp/s")
	[ "$all" -gt 200 ] && most "$whole" "$all" 90
	ok $? "a library loaded late: whole stacks: $whole of $all" || diag "$tmp/s"
	prof-render -f text "$tmp/p" >"$tmp/text"
	like "$tmp/text" "^mapping .* \"$(readlink -f "$zlib")\" \"$(build_id "$zlib")\"" 'and it is a mapping'
else
	skip 'no libz.so.1 here' 'a library loaded late'
fi

# --- a name of two lines ---------------------------------------------------------------------------
odd=$tmp/$(printf 'two\nlines')
cp "$workload" "$odd"
"$odd" burn 60000 &
load=$!
prof-capture -q -F 499 -d 0.5 -p "$load" -o "$tmp/p"
kill "$load"
prof-render -f text "$tmp/p" >"$tmp/text"
like "$tmp/text" '^mapping .*/two\\nlines"' 'a newline in a name is one'
done_testing
