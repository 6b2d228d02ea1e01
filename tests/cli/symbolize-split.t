#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Split debug information: .dwo files and packages of them, and DWARF 5's supplementary files.
. "$top/tests/lib/tap.sh"

command -v gcc >/dev/null || skip_all 'no gcc'
command -v llvm-symbolizer >/dev/null || skip_all 'no llvm-symbolizer'
. "$top/tests/lib/agree.sh"
src=$top/tests/symbolize
mkdir "$tmp/w"
cd "$tmp/w" || exit 1
cat >other.c <<'END'
#include <stdint.h>

static inline __attribute__((always_inline)) uint32_t turn(uint32_t x, int n)
{
	return x << n | x >> (32 - n);
}
uint32_t other(uint32_t x)
{
	volatile uint32_t y = turn(x, 5) + turn(x ^ 0xffff, 9);
	return y * 3;
}
END

# split NAME COMPILER OPTIONS…: two units, as files and as packages
split() {
	name=$1
	shift
	rm -f ./*.dwo ./*.o prog prog.dwp
	if ! "$@" -g -gsplit-dwarf -O2 -c "$src/plain.c" -o plain.o 2>"$tmp/build" ||
		! "$@" -g -gsplit-dwarf -O2 -c other.c -o other.o 2>"$tmp/build" ||
		! "$@" plain.o other.o -o prog 2>"$tmp/build"; then
		skip "$(head -n 1 "$tmp/build")" "$name"
		return
	fi
	[ -s plain.dwo ] && [ -s other.dwo ]
	ok $? "$name: there are split files"
	want_inlined=50 agree "$name: files" "$PWD/prog"
	for dwp in dwp llvm-dwp; do
		# binutils 2.40 packs version 5 without an index that anybody could read
		if [ "$dwp" = dwp ] && [ "${version:-5}" -ge 5 ]; then continue; fi
		if ! $dwp -o prog.dwp plain.dwo other.dwo 2>"$tmp/build"; then
			skip "$dwp: $(head -n 1 "$tmp/build")" "$name: $dwp"
			continue
		fi
		mkdir hidden && mv plain.dwo other.dwo hidden
		want_inlined=50 agree "$name: $dwp" "$PWD/prog"
		symaddr "$PWD/prog" <"$tmp/addrs" | grep -c '^turn$' >"$tmp/count"
		[ "$(cat "$tmp/count")" -gt 3 ]
		ok $? "$name: $dwp: inlined frames of the second unit"
		mv hidden/* . && rmdir hidden && rm -f prog.dwp
	done
}
version=4 split 'gcc, version 4' gcc -gdwarf-4
split 'gcc, version 5' gcc -gdwarf-5
version=4 split 'clang, version 4' clang -gdwarf-4
split 'clang, version 5' clang -gdwarf-5
split 'clang, version 5, compressed' clang -gdwarf-5 -gz=zlib
version=4 split 'gcc, version 4, sections and types apart' gcc -gdwarf-4 -ffunction-sections \
	-fdebug-types-section

# The files are looked for where they were made, below the sysroots, and beside the program.
rm -f ./*.dwo ./*.o prog
gcc -g -gdwarf-5 -gsplit-dwarf -O2 -c other.c -o other.o
printf 'int other(int); int main(int n, char **v) { (void)v; return other(n); }' >main.c
gcc -O2 main.c other.o -o prog
nm prog | awk '$3 == "other" { print $1 }' >addrs
id=$(readelf -n prog | sed -n 's/.*Build ID: //p')
profile() {
	cat <<END
# profpipe text 1
profile
time 1
duration 1
period "cpu" "nanoseconds" 1
type "samples" "count" default
mapping 1 0x0 0x0 0x0 "$1" "$id" -
location 1 m1 0x$(cat addrs)
sample 1 : 1 :
end
END
}
profile "$PWD/prog" >raw
look() { # look DESCRIPTION WANT [OPTION…]
	what=$1
	want=$2
	shift 2
	prof-symbolize -v "$@" raw 2>"$tmp/err" >"$tmp/out"
	like "$tmp/err" "$want" "$what"
}
look 'where it was made' '^prog +1  dwarf +1$'
mkdir -p far/away && cp prog far/away
profile "$PWD/far/away/prog" >raw
look 'the program moved' '^prog +1  dwarf +1$'
mv other.dwo far/away
look 'beside the program' '^prog +1  dwarf +1$'
mkdir -p "root$PWD" && cp prog "root$PWD" && mv far/away/other.dwo "root$PWD"
look 'not there' '^prog +1  (symtab|dwarf) +1  dwo-missing +1$'
profile "$PWD/prog" >raw
look 'below a sysroot' '^prog +1  dwarf +1$' --sysroot=root
# the same name from another build is not used
sed 's/turn(x, 5)/turn(x, 7) * x/' other.c >changed.c
mkdir new && gcc -g -gdwarf-5 -gsplit-dwarf -O2 -c changed.c -o new/other.o
cp new/other.dwo other.dwo
look 'of another build' '^prog .*dwo-missing +1$'
head -c 200 "root$PWD/other.dwo" >other.dwo
look 'cut short' '^prog .*dwo-missing +1$'

# Many files, and memory for a few: they take turns; for none: named by symbol, with the reason.
rm -rf many && mkdir many
(
	cd many && echo 'int main(void) { return 0; }' >main.c &&
		for i in $(seq 60); do
			{
				printf 'struct wide%d {' "$i"
				seq -f ' int field_%.0f;' 300
				printf '};\n'
				echo "static inline __attribute__((always_inline)) int deep(int x)"
				echo "{ volatile int y = $i; return y + x; }"
				echo "int work$i(struct wide$i *w) { return deep(w->field_7); }"
			} >"f$i.c"
		done && gcc -g -gsplit-dwarf -O2 -c ./*.c && gcc ./*.o -o prog
)
id=$(readelf -n many/prog | sed -n 's/.*Build ID: //p')
profile "$PWD/many/prog" | sed '/^location/,$d' >raw
nm many/prog | awk '$3 ~ /^work/ {
	print "location", ++n, "m1", "0x" $1
}
END {
	for (i = 1; i <= n; i++)
		print "sample 1 :", i, ":"
	print "end"
}' >>raw
for limit in 1G 1M 512k; do
	prof-symbolize --max-memory=$limit raw 2>"$tmp/err" | prof-render -f folded |
		grep -c '^work[0-9]*;deep 1$' >"$tmp/count"
	is "$(cat "$tmp/count")" 60 "more split files than $limit: each inlined frame"
done
prof-symbolize -v --max-memory=128k raw 2>"$tmp/err" | prof-render -f folded >"$tmp/out"
like "$tmp/err" '^prog +60  dwarf +60  memory-limit +60$' 'no memory for any: the reason'
is "$(grep -c '^work[0-9]* 1$' "$tmp/out")" 60 'and functions by their symbols'

# Supplementary files of DWARF 5, which have their id in .debug_sup.
gcc -g -gdwarf-5 -O2 "$src/plain.c" -o one && cp one two
sup='DWARF 5 supplementary file'
if command -v dwz >/dev/null && dwz -5 -m sup.debug one two 2>"$tmp/build" &&
	readelf -SW one | grep -q '\.debug_sup'; then
	gcc -g -gdwarf-5 -O2 "$src/plain.c" -o whole
	nm -S --defined-only whole | awk '$3 ~ /^[tT]$/ && $2 != "" { print $1 }' >addrs
	symaddr "$PWD/whole" <addrs >want
	symaddr "$PWD/one" <addrs >got 2>"$tmp/err"
	same got want "$sup" || diag - "$tmp/err"
	mv sup.debug gone.debug
	nm one | awk '$3 == "main" { print $1 }' >addrs
	id=$(readelf -n one | sed -n 's/.*Build ID: //p')
	profile "$PWD/one" >raw
	look "$sup: missing, and told of" 'one .*alt-missing +1$'
else
	skip "$(head -n 1 "$tmp/build")" "$sup"
fi
done_testing
