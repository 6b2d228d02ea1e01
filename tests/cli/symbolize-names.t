#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Names where no symbol table has them: entries of the linkage table in the layouts that linkers
# make, and the packed symbols of .gnu_debugdata. objdump and nm are the second opinion.
. "$top/tests/lib/tap.sh"

command -v gcc >/dev/null || skip_all 'no gcc'
cat >"$tmp/a.c" <<'END'
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void (*kept)(void *) = free;

static __attribute__((noinline)) int hidden(int argc, char **argv)
{
	char *s = argc > 1 ? strdup(argv[1]) : NULL;

	printf("%s %g\n", s ? s : "", pow(argc, 0.5));
	kept(s);
	free(s);
	return strlen(argv[0]) > 100;
}

int main(int argc, char **argv)
{
	return hidden(argc, argv) + atexit((void (*)(void))exit);
}
END

# linkage NAME COMPILER OPTIONS…: each entry that objdump names, at its first byte and
# the eighth, the last one where entries are short
linkage() {
	name=$1
	shift
	"$@" -O1 -o "$tmp/prog" "$tmp/a.c" -lm 2>"$tmp/build" || {
		skip "$(head -n 1 "$tmp/build")" "$name"
		return
	}
	strip "$tmp/prog"
	# head of an entry: "0000000000001040 <free@plt>:", then its instructions up to a gap
	objdump -d -j .plt -j .plt.sec -j .plt.got "$tmp/prog" 2>/dev/null |
		sed -n 's/^0*\([0-9a-f]*\) <\([A-Za-z_0-9]*@plt\)>:$/\1 \2/p' >"$tmp/objdump"
	cut -d' ' -f1 "$tmp/objdump" >"$tmp/first"
	while read -r at; do
		printf '%x\n' $((0x$at + 7))
	done <"$tmp/first" >"$tmp/eighth"
	for end in first eighth; do
		symaddr "$tmp/prog" <"$tmp/$end" | grep '@plt$' >"$tmp/got"
		cut -d' ' -f2 "$tmp/objdump" >"$tmp/want"
		[ "$(wc -l <"$tmp/want")" -ge 4 ] && cmp -s "$tmp/got" "$tmp/want"
		ok $? "$name: $(wc -l <"$tmp/want") entries by their $end byte" ||
			diff "$tmp/want" "$tmp/got" | diag -
	done
}
linkage 'bound when called' gcc -Wl,-z,lazy
linkage 'bound at once' gcc -Wl,-z,now
linkage 'bound at once, no other table' gcc -Wl,-z,now -fno-pie -no-pie
linkage 'branch tracking' gcc -fcf-protection=full -Wl,-z,ibtplt
linkage 'gold' gcc -fuse-ld=gold
linkage 'lld' clang -fuse-ld=lld
linkage 'lld, branch tracking' clang -fuse-ld=lld -fcf-protection=full -Wl,-z,force-ibt

# In a static program functions are chosen at the start: named by what chooses.
if gcc -static -o "$tmp/static" "$tmp/a.c" -lm 2>"$tmp/build"; then
	section=$(readelf -SW "$tmp/static" | sed -n 's/^.* \.plt  *PROGBITS *0*\([0-9a-f]*\).*/\1/p')
	echo "$section" | symaddr "$tmp/static" >"$tmp/out"
	like "$tmp/out" '^[a-z0-9_]+@plt$' 'static: an entry has the name of what chooses'
else
	skip "$(head -n 1 "$tmp/build")" 'static: an entry has the name of what chooses'
fi

# MiniDebugInfo, as distributions make it: the functions that .dynsym lacks, packed.
gcc -O1 -o "$tmp/prog" "$tmp/a.c" -lm
cp "$tmp/prog" "$tmp/whole"
objcopy --only-keep-debug "$tmp/prog" "$tmp/mini" &&
	xz -k "$tmp/mini" && strip "$tmp/prog" &&
	objcopy --add-section .gnu_debugdata="$tmp/mini.xz" "$tmp/prog" "$tmp/packed"
nm "$tmp/whole" | awk '$2 ~ /[tT]/ && $3 ~ /^(hidden|main)$/ { print $1 }' >"$tmp/addrs"
symaddr "$tmp/whole" <"$tmp/addrs" >"$tmp/want"
like "$tmp/want" '^hidden$' 'a static function in the symbol table'
symaddr "$tmp/packed" <"$tmp/addrs" >"$tmp/got"
same "$tmp/got" "$tmp/want" 'and in the packed one'
symaddr "$tmp/prog" <"$tmp/addrs" >"$tmp/got"
like "$tmp/got" '^\?\?$' 'not without it'

# What cannot be read is told of, and other sources serve.
printf 'not xz at all' >"$tmp/junk"
objcopy --add-section .gnu_debugdata="$tmp/junk" "$tmp/prog" "$tmp/bad"
symaddr "$tmp/bad" <"$tmp/addrs" >"$tmp/got" 2>"$tmp/err"
like "$tmp/err" 'bad: \.gnu_debugdata: damaged xz data' 'damaged: the reason'
head -c 300 "$tmp/mini.xz" >"$tmp/cut"
objcopy --add-section .gnu_debugdata="$tmp/cut" "$tmp/prog" "$tmp/bad"
symaddr "$tmp/bad" <"$tmp/addrs" >"$tmp/got" 2>"$tmp/err"
like "$tmp/err" 'bad: \.gnu_debugdata: damaged xz data' 'cut short: the reason'

# 256 MiB unpacked and no more, however much memory there may be: a bomb, or nothing that anyone made.
padded() { # padded SIZE: packed symbols with SIZE of zeros behind them
	{ cat "$tmp/mini" && head -c "$1" /dev/zero; } | xz -0 >"$tmp/padded"
	objcopy --add-section .gnu_debugdata="$tmp/padded" "$tmp/prog" "$tmp/bad"
	symaddr "$tmp/bad" <"$tmp/addrs" >"$tmp/got" 2>"$tmp/err"
}
padded 250M
same "$tmp/got" "$tmp/want" '250 MiB of packed symbols'
is "$(cat "$tmp/err")" '' 'nothing to be told of'
padded 256M
like "$tmp/got" '^\?\?$' 'more than 256 MiB of packed symbols'
like "$tmp/err" 'bad: \.gnu_debugdata: xz data is over the limit' 'the reason'

# The report says which source it was.
cat >"$tmp/raw" <<END
# profpipe text 1
profile
time 1
duration 1
period "cpu" "nanoseconds" 1
type "samples" "count" default
mapping 1 0x0 0x0 0x0 "$tmp/packed" "" -
location 1 m1 0x$(head -n 1 "$tmp/addrs")
sample 1 : 1 :
end
END
run prof-symbolize -v "$tmp/raw"
like "$tmp/err" '^packed +1  debugdata +1$' 'the report names the source'
# exported functions alone, and entries of the linkage table
gcc -O1 -shared -fPIC -Wl,-z,lazy -x c - -o "$tmp/library" <<'END'
#include <stdlib.h>
int exported(void) { return atoi(getenv("x")); }
END
strip "$tmp/library"
at=$(nm -D "$tmp/library" | awk '$3 == "exported" { print $1 }')
plt=$(objdump -d "$tmp/library" 2>/dev/null | awk '$2 == "<atoi@plt>:" { print $1 }')
if [ -n "$plt" ]; then
	sed "s|$tmp/packed|$tmp/library|; s|^location 1 m1 .*|location 1 m1 0x$at\nlocation 2 m1 0x$plt|
		s|^sample 1 : 1 :|sample 1 : 1 2 :|" "$tmp/raw" >"$tmp/raw2"
	run prof-symbolize -v "$tmp/raw2"
	like "$tmp/err" '^library +2  plt +1$' 'the linkage table is a source of its own'
	like "$tmp/err" '^ +dynsym +1$' 'and so are exported symbols'
else
	skip 'objdump names no entry' 'the linkage table is a source of its own'
fi
done_testing
