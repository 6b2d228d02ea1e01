#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Rules for which address is looked up in which file, each alone; docs/symbolize-rules.md says
# where the others are held.
. "$top/tests/lib/tap.sh"

command -v gcc >/dev/null || skip_all 'no gcc'
command -v jq >/dev/null || skip_all 'no jq'
cat >"$tmp/prog.c" <<'END'
__attribute__((section(".at_a"))) int outer(int x)
{
	return x + 1;
}
__attribute__((section(".at_b"))) int other(int x)
{
	return x - 1;
}
int main(int argc, char **argv)
{
	(void)argv;
	return outer(argc) + other(argc);
}
END
program() { # program FILE OPTION…: outer is at 0x500000, other at 0x501000
	out=$1
	shift
	gcc -g -O1 -no-pie -Wl,--section-start=.at_a=0x500000,--section-start=.at_b=0x501000 \
		"$@" "$tmp/prog.c" -o "$out"
}
program "$tmp/prog" -Wl,--build-id=0xabcd01 2>"$tmp/build" || skip_all 'gcc cannot place sections'
off=$(readelf -lW "$tmp/prog" | awk '$1 == "LOAD" && $3 ~ /500000$/ { print $2 }')
[ -n "$off" ] || skip_all 'no segment for the section'
off() { # off N: file offset N bytes on
	printf '0x%x' $((off + $1))
}

# sym OPTION…: the profile on standard input; location and name of each in $tmp/names
sym() {
	{
		printf '# profpipe text 1\nprofile\ntype "samples" "count"\n'
		cat
		echo end
	} >"$tmp/raw"
	prof-symbolize --debug-dir="$tmp/dbg" --report=json:"$tmp/report" -o "$tmp/out.pb.gz" \
		"$@" "$tmp/raw" 2>"$tmp/err" || diag "$tmp/err"
	prof-render -f text "$tmp/out.pb.gz" | tee "$tmp/text" | awk '
	$1 == "function" { name[$2] = $3 }
	$1 == "location" { split($5, f, ":"); print $4, $5 == "" ? "-" : name[substr(f[1], 2)] }
	' | sort >"$tmp/names"
}
names() { # names DESCRIPTION WANT: "ADDRESS NAME" of all locations, in order
	is "$(tr '\n' ' ' <"$tmp/names" | sed 's/"//g; s/ $//')" "$2" "$1" || diag "$tmp/raw" "$tmp/report"
}
reason() { # reason DESCRIPTION WANT: of the first object
	is "$(jq -r '.objects[0].reasons | keys | join(" ")' "$tmp/report")" "$2" "$1"
}

# Addresses at the two ends of one mapping, and of the same file mapped twice.
sym <<END
mapping 1 0x500000 0x502000 $off "$tmp/prog" "ABCD01" -
mapping 2 0x7f0000500000 0x7f0000502000 $off "$tmp/prog" "abcd01" -
location 1 m1 0x500000
location 2 m1 0x501000
location 3 m2 0x7f0000500000
location 4 m2 0x7f0000501000
sample 1 : 2 1
sample 1 : 4 3
END
names 'one file mapped twice, build id in capitals' \
	'0x500000 outer 0x501000 other 0x7f0000500000 outer 0x7f0000501000 other'
is "$(grep -c '^function' "$tmp/text")" 2 'its functions are there once'
is "$(jq '.objects | map(.addresses) | add' "$tmp/report")" 4 'and its addresses counted'
# callers lie where the profile says: the first byte of a function is in that function
sym <<END
mapping 1 0x500000 0x502000 $off "$tmp/prog" "abcd01" -
location 1 m1 0x500001
location 2 m1 0x501000
sample 1 : 1 2
END
names 'a caller is not moved' '0x500001 outer 0x501000 other'
is "$(sed -n 's/^location . m1 \(0x501000\).*/\1/p' "$tmp/text")" 0x501000 'nor is its address'
# unless one says that producers left return addresses: those behind a call
returns() { # returns OPTION…: 0x501000 as leaf and as caller, and interrupted by the kernel
	sym "$@" <<-END
	mapping 1 0x500000 0x502000 $off "$tmp/prog" "abcd01" -
	mapping 2 0xffffffff81000000 0xffffffff82000000 0x0 "[kernel.kallsyms]_stext" "" F
	function 1 "k" "k" "" 0
	location 1 m1 0x500001
	location 2 m1 0x501001
	location 3 m2 0xffffffff81000010 f1:0:0
	location 4 m1 0x501000
	location 5 m1 0x500000
	sample 1 : 2 4 2
	sample 2 : 4 5
	sample 3 : 3 4 1
	END
}
returns --return-addresses=exact
names 'exact' '0x500000 outer 0x500001 outer 0x501000 other 0x501001 other 0xffffffff81000010 k'
returns --return-addresses=minus-one
# one byte before other and outer there is nothing
names 'minus one: a location for each use' \
	'0x500000 - 0x500001 outer 0x501000 other 0x501000 - 0x501001 other 0xffffffff81000010 k'
prof-render -f text "$tmp/out.pb.gz" | grep '^sample' | sed 's/ *:.*//' >"$tmp/got"
is "$(wc -l <"$tmp/got")" 3 'as many samples'
awk '
$1 == "function" { name[$2] = $3 }
$1 == "location" { split($5, f, ":"); at[$2] = $4 ($5 == "" ? "" : "=" name[substr(f[1], 2)]) }
$1 == "sample" { line = $2; for (i = 4; i <= NF; i++) line = line " " at[$i]; print line }
' "$tmp/text" | sort >"$tmp/got"
cat >"$tmp/want" <<'END'
1 0x501001="other" 0x501000 0x501001="other"
2 0x501000="other" 0x500000
3 0xffffffff81000010="k" 0x501000="other" 0x500001="outer"
END
same "$tmp/got" "$tmp/want" 'leaves and interrupted code are where they are'
prof-symbolize --return-addresses=minus-one --debug-dir="$tmp/dbg" "$tmp/out.pb.gz" |
	cmp -s - "$tmp/out.pb.gz"
is $? 0 'once more: the same bytes'
refuses 'neither' prof-symbolize --return-addresses=some "$tmp/raw"
# outside of the mapping, and of the file
sym <<END
mapping 1 0x500000 0x502000 $off "$tmp/prog" "abcd01" -
location 1 m1 0x4ff000
location 2 m1 0x502000
sample 1 : 1 2
END
names 'outside of its mapping' '0x4ff000 - 0x502000 -'
reason 'is in no segment' no-segment

# A mapping of everything means addresses of the file, of the right build only.
sym <<END
mapping 1 0x0 0x0 0x0 "$tmp/prog" "" -
location 1 m1 0x501000
sample 1 : 1
END
names 'a mapping of nothing' '0x501000 other'
is "$(jq '.objects[0].verified' "$tmp/report")" false 'is not verified'
sym <<END
mapping 1 0x0 0xffffffffffffffff 0x0 "$tmp/prog" "abcd02" -
location 1 m1 0x501000
sample 1 : 1
END
names 'a mapping of everything, another build' '0x501000 -'
reason 'is another build' build-id-mismatch

# Two segments in one page of the file: no telling.
if command -v python3 >/dev/null; then
	python3 - "$tmp/two" <<-'END'
	import struct, sys
	load = lambda off, va, n: struct.pack("<IIQQQQQQ", 1, 5, off, va, va, n, n, 0x1000)
	head = b"\x7fELF\2\1\1" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 2, 62, 1, 0x401000, 64, 0,
	        0, 64, 56, 2, 64, 0, 0)
	body = head + load(0x1000, 0x401000, 0x800) + load(0x1800, 0x602800, 0x400)
	open(sys.argv[1], "wb").write(body.ljust(0x2000, b"\0"))
	END
	sym <<-END
	mapping 1 0x10000 0x12000 0x1000 "$tmp/two" "" -
	location 1 m1 0x10d00
	sample 1 : 1
	END
	names 'in the page of two segments' '0x10d00 -'
	reason 'told as such' ambiguous-segment
else
	skip 'no python3' 'in the page of two segments'
fi

# Anonymous memory between two pieces of a file, as of code moved to huge pages.
pieces() { # pieces FILE ID LIMIT: what is in the middle; build id of the last piece; its end
	cat <<-END
	mapping 1 0x500000 0x501000 $off "$tmp/prog" "abcd01" -
	mapping 2 0x501000 0x502000 0x0 "$1" "" -
	mapping 3 $3 "$tmp/prog" "$2" -
	location 1 m1 0x500000
	location 2 m2 0x501000
	location 3 m3 0x502000
	sample 1 : 1 2 3
	END
}
after="0x502000 0x503000 $(off 0x2000)"
for what in '' //anon '[anon:text]'; do
	pieces "$what" abcd01 "$after" | sym
	names "between two pieces: \"$what\"" '0x500000 outer 0x501000 other 0x502000 -'
	is "$(jq '.objects[0].anonymous' "$tmp/report")" 1 'and counted'
done
like "$tmp/text" '^mapping . 0x501000 0x502000 0x0 "\[anon:text\]" "" FNL' 'the mapping stays what it is'
for no in "/memfd:jit|abcd01|$after" "|abcd02|$after" "|abcd01|0x502000 0x503000 $(off 0x3000)" \
	"|abcd01|0x501800 0x503000 $(off 0x1800)"; do
	IFS='|' read -r what id place <<-END
	$no
	END
	pieces "$what" "$id" "$place" | sym
	is "$(grep '^0x501000' "$tmp/names")" '0x501000 -' "not \"$what\" before $id at $place"
	is "$(jq '.objects[0].anonymous' "$tmp/report")" null 'and not counted'
done
pieces '' abcd01 "$after" | sym --no-anonymous
names '--no-anonymous' '0x500000 outer 0x501000 - 0x502000 -'
pieces '' abcd01 "$after" >"$tmp/some"
printf '501000 1000 jit\n' >"$tmp/perf.map"
sym --perf-map="$tmp/perf.map" <"$tmp/some"
names 'before a perf map' '0x500000 outer 0x501000 other 0x502000 -'
prof-symbolize --debug-dir="$tmp/dbg" "$tmp/out.pb.gz" | cmp -s - "$tmp/out.pb.gz"
is $? 0 'once more: the same bytes'

# The image of the vDSO, kept by build id.
mkdir -p "$tmp/dbg/.build-id/ab"
cp "$tmp/prog" "$tmp/dbg/.build-id/ab/cd01"
sym <<END
mapping 1 0x7ffd00500000 0x7ffd00502000 $off "[vdso]" "abcd01" -
mapping 2 0x500000 0x502000 $off "[heap]" "abcd01" -
location 1 m1 0x7ffd00501000
location 2 m2 0x501000
sample 1 : 1 2
END
names 'the vDSO by build id, other brackets not' '0x501000 - 0x7ffd00501000 other'
for what in '' //anon linux-vdso.so.1 /dev/dri/card0 /dev/zero '/memfd:jit (deleted)' '[anon:text]'; do
	sym --binary="$tmp/prog" <<-END
	mapping 1 0x500000 0x502000 $off "$what" "abcd01" -
	location 1 m1 0x501000
	sample 1 : 1
	END
	names "no file, though one has its build id: \"$what\"" '0x501000 -'
	is "$(jq -c .objects "$tmp/report")" '[]' 'nor is one looked for'
done

# A leaf that an old profiler left twice: both stay.
sym <<END
mapping 1 0x500000 0x502000 $off "$tmp/prog" "abcd01" -
location 1 m1 0x501000
location 2 m1 0x501001
sample 1 : 2 1 1
END
awk '$1 == "location" { at[$2] = $4 } $1 == "sample" { print at[$4], at[$5], at[$6] }' "$tmp/text" >"$tmp/got"
is "$(cat "$tmp/got")" '0x501001 0x501000 0x501000' 'a doubled leaf: all frames stay'

# Build ids: Go's own, as text.
text=abc/def-gh_ij
program "$tmp/goish" -Wl,--build-id=none -x assembler - -x c <<END
	.section .note.go.buildid,"a",@note
	.long 4, ${#text}, 4
	.ascii "Go\\0\\0$text"
	.balign 4
	.section .note.GNU-stack,"",@progbits
END
for id in "$text other" "${text}k -" '616263 -'; do
	sym <<-END
	mapping 1 0x0 0x0 0x0 "$tmp/goish" "${id% *}" -
	location 1 m1 0x501000
	sample 1 : 1
	END
	names "build id $text against ${id% *}" "0x501000 ${id#* }"
done

# A debug file of the same build whose addresses were moved, as by prelink.
cat >"$tmp/lib.c" <<'END'
int moved(int x)
{
	return x * 5;
}
END
if gcc -g -O1 -shared -fPIC -Wl,--build-id=0xee0102 "$tmp/lib.c" -o "$tmp/lib.so" &&
	gcc -g -O1 -shared -fPIC -Wl,--build-id=0xee0102 -Wl,-Ttext-segment=0x3f00000000 \
		"$tmp/lib.c" -o "$tmp/high.so" 2>"$tmp/build"; then
	mkdir -p "$tmp/dbg/.build-id/ee"
	at=$(nm "$tmp/lib.so" | awk '$3 == "moved" { print $1 }')
	objcopy --only-keep-debug "$tmp/high.so" "$tmp/dbg/.build-id/ee/0102.debug"
	strip "$tmp/lib.so"
	sym <<-END
	mapping 1 0x0 0x0 0x0 "$tmp/lib.so" "ee0102" -
	location 1 m1 0x$at
	sample 1 : 1
	END
	names 'a debug file at other addresses' "0x$(echo "$at" | sed 's/^0*//') moved"
	is "$(jq -r '.objects[0].named | keys | join(" ")' "$tmp/report")" dwarf 'by its DWARF'
	like "$tmp/text" '^location . m1 0x[0-9a-f]+ f1:[2-4]:' 'with the line'
else
	skip "$(head -n 1 "$tmp/build")" 'a debug file at other addresses'
fi

# A supplementary file of another build is none.
if command -v dwz >/dev/null; then
	mkdir "$tmp/dwz"
	for f in a b; do
		g++ -g -O2 -D"V_$f" "$top/tests/symbolize/inline.cc" -o "$tmp/dwz/$f"
		gcc -g -O2 -D"V_$f" "$top/tests/symbolize/plain.c" -o "$tmp/dwz/other.$f" -lm
	done
	(cd "$tmp/dwz" && dwz -m common a b && dwz -m wrong other.a other.b) 2>"$tmp/build"
	id=$(readelf -n "$tmp/dwz/a" | sed -n 's/.*Build ID: //p')
	nm "$tmp/dwz/a" | awk '$2 == "T" && $3 != "_start" { print $1 }' >"$tmp/addrs"
	dwz() { # dwz [OPTION…]: report and profile of all functions
		{
			echo "mapping 1 0x0 0x0 0x0 \"$tmp/dwz/a\" \"$id\" -"
			awk '{ printf "location %d m1 0x%s\nsample 1 : %d\n", NR, $1, NR }' "$tmp/addrs" | sort
		} | sym "$@"
	}
	dwz
	is "$(jq '.objects[0].reasons["alt-missing"]' "$tmp/report")" null 'the right supplementary file'
	mv "$tmp/dwz/common" "$tmp/gone"
	dwz
	cp "$tmp/names" "$tmp/without"
	n=$(jq '.objects[0].reasons["alt-missing"]' "$tmp/report")
	[ "${n:-null}" != null ]
	ok $? "without it: alt-missing, $n times"
	cp "$tmp/dwz/wrong" "$tmp/dwz/common"
	dwz
	same "$tmp/names" "$tmp/without" 'one of another build: as without one'
	is "$(jq '.objects[0].reasons["alt-missing"]' "$tmp/report")" "$n" 'for the same reason'
	is "$(jq -r '.objects[0].trouble' "$tmp/report")" "$tmp/dwz/common: build id differs" 'which is told'
	# by an absolute path: below the sysroots; or by its build id
	for f in a b; do
		g++ -g -O2 -D"V_$f" "$top/tests/symbolize/inline.cc" -o "$tmp/dwz/$f"
	done
	(cd "$tmp/dwz" && command dwz -m common -M /no/such/common a b) 2>"$tmp/build"
	mkdir -p "$tmp/image/no/such"
	dwz
	n=$(jq '.objects[0].reasons["alt-missing"]' "$tmp/report")
	[ "${n:-null}" != null ]
	ok $? "not at its absolute path: alt-missing, $n times"
	cp "$tmp/dwz/common" "$tmp/image/no/such"
	dwz --sysroot="$tmp/none" --sysroot="$tmp/image"
	is "$(jq '.objects[0].reasons["alt-missing"]' "$tmp/report")" null 'at that path in a sysroot'
	alt=$(readelf -n "$tmp/dwz/common" | sed -n 's/.*Build ID: //p')
	tree=$tmp/dbg/.build-id/$(echo "$alt" | cut -c1-2)
	mkdir -p "$tree" && mv "$tmp/dwz/common" "$tree/$(echo "$alt" | cut -c3-).debug"
	dwz
	is "$(jq '.objects[0].reasons["alt-missing"]' "$tmp/report")" null 'by its build id'
else
	skip 'no dwz' 'supplementary files'
fi

# Where files are looked for, in order.
sym --binary="$tmp/no/a" --binary="$tmp/no/b" --sysroot="$tmp/r1" --sysroot="$tmp/r2" \
	--debug-dir="$tmp/d2" <<END
mapping 1 0x0 0x0 0x0 "/opt/no/such" "ab12" -
location 1 m1 0x501000
sample 1 : 1
END
jq -r '.objects[0].looked_at[].path' "$tmp/report" >"$tmp/got"
cat >"$tmp/want" <<END
$tmp/no/a
$tmp/no/b
$tmp/r1/opt/no/such
$tmp/r2/opt/no/such
/opt/no/such
$tmp/dbg/.build-id/ab/12.debug
$tmp/dbg/ab/12.debug
$tmp/d2/.build-id/ab/12.debug
$tmp/d2/ab/12.debug
$tmp/r1/usr/lib/debug/.build-id/ab/12.debug
$tmp/r2/usr/lib/debug/.build-id/ab/12.debug
END
same "$tmp/got" "$tmp/want" 'places that are looked at, in order'
is "$(grep -c '^function [0-9]* ""' "$tmp/text")" 0 'no function without a name'
done_testing
