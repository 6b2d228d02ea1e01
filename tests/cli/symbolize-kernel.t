#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Lines of the kernel and of its modules, from made-up ones: a program linked where Linux is, and a
# relocatable file as modules are.
. "$top/tests/lib/tap.sh"

command -v gcc >/dev/null || skip_all 'no gcc'
command -v jq >/dev/null || skip_all 'no jq'
case $(uname -m) in
x86_64) model=-mcmodel=kernel ;;
aarch64) model= ;;
*) skip_all 'another machine' ;;
esac
flags="-g -O2 -ffreestanding -fno-pic -fno-pie -fno-asynchronous-unwind-tables $model"

cat >"$tmp/core.c" <<'END'
volatile int data;
static inline __attribute__((always_inline)) int helper(int x)
{
	data = x;
	return data * 3;
}
__attribute__((section(".at_a"))) int do_read(int x)
{
	return helper(x) + 1;
}
int __attribute__((alias("do_read"))) sys_read(int x);
__attribute__((section(".at_b"))) int do_write(int x)
{
	return x - 1;
}
__asm__(".section .at_start,\"ax\"\n.globl _stext\n_stext:\n.zero 64\n.previous");
END
# shellcheck disable=SC2086
if ! gcc $flags -c "$tmp/core.c" -o "$tmp/core.o" 2>"$tmp/build" ||
	! ld -o "$tmp/vmlinux" --build-id=0xabcd01 -e 0 \
		--section-start=.at_start=0xffffffff81000040 \
		--section-start=.at_a=0xffffffff81001000 \
		--section-start=.at_b=0xffffffff81002000 "$tmp/core.o" 2>"$tmp/build"; then
	skip_all "$(head -n 1 "$tmp/build")"
fi

cat >"$tmp/mod.c" <<'END'
volatile int data;
static inline __attribute__((always_inline)) int in_module(int x)
{
	data = x;
	return data * 5;
}
__attribute__((section(".init.text"), noinline)) int mod_init(int x)
{
	return in_module(x) * 2;
}
int mod_read(int x)
{
	return in_module(x) + 1;
}
__attribute__((section(".text.late"), aligned(64))) int mod_late(int x)
{
	return x - 7;
}
END
# shellcheck disable=SC2086
if ! gcc $flags -c "$tmp/mod.c" -o "$tmp/mod.o" 2>"$tmp/build" ||
	! ld -r --build-id=0xabcd02 "$tmp/mod.o" -o "$tmp/some-mod.ko" 2>"$tmp/build"; then
	skip_all "$(head -n 1 "$tmp/build")"
fi
# where the kernel puts .text.late: behind .text
size() { # size SECTION: of the module
	readelf -SW "$tmp/some-mod.ko" | sed 's/^ *\[ *//' | awk -v s="$1" '$2 == s { print $6 }'
}
late=$(printf '0xffffffffc01%05x' $(((0x$(size .text) + 63) & ~63)))

# kernel [ID]: a profile of a kernel moved by 0x3000000, as capture names it
kernel() {
	cat <<END
# profpipe text 1
profile
type "samples" "count"
mapping 1 0xffffffff84000040 0xffffffff84002100 0x0 "[kernel.kallsyms]_stext" "${1-abcd01}" F
mapping 2 0xffffffffc0100000 0xffffffffc0101000 0x0 "[some_mod]" "${2-abcd02}" F
function 1 "sys_read" "sys_read" "" 0
function 2 "do_write" "do_write" "" 0
function 3 "mod_read" "mod_read" "" 0
function 4 "mod_late" "mod_late" "" 0
function 5 "mod_gone" "mod_gone" "" 0
location 1 m1 0xffffffff84001000 f1:0:0
location 2 m1 0xffffffff84002000 f2:0:0
location 3 m2 0xffffffffc0100000 f3:0:0
location 4 m2 $late f4:0:0
location 5 m2 0xffffffffc0100001 f5:0:0
location 6 m1 0xffffffff84002001
location 7 m2 0xffffffffc0100001
sample 1 : 1 2 3 4
sample 1 : 5
sample 1 : 6 7
end
END
}
# lines: "ADDRESS NAME:FILE:LINE…" of each location, innermost first
lines() {
	prof-render -f text "$1" | tee "$tmp/text" | awk '
	$1 == "function" { name[$2] = $3; file[$2] = $5; sub(".*/", "", file[$2]) }
	$1 == "location" {
		out = $4
		for (i = 5; i <= NF; i++) {
			split($i, f, ":")
			n = substr(f[1], 2)
			out = out " " name[n] ":" file[n] ":" f[2]
		}
		print out
	}' | sed 's/"//g' | sort
}

kernel >"$tmp/raw"
run prof-symbolize --debug-dir="$tmp/none" --report=json:"$tmp/report" -o "$tmp/same.pb.gz" "$tmp/raw"
is "$(jq -c .objects "$tmp/report")" '[]' 'without files: nobody is bothered'
prof-render -f text "$tmp/same.pb.gz" >"$tmp/got"
prof-render -f text "$tmp/raw" >"$tmp/want"
same "$tmp/got" "$tmp/want" 'and nothing is changed'

cat >"$tmp/want" <<END
0xffffffff84001000 helper:core.c:4 sys_read:core.c:9
0xffffffff84002000 do_write:core.c:14
0xffffffff84002001 do_write:core.c:14
0xffffffffc0100000 in_module:mod.c:4 mod_read:mod.c:13
0xffffffffc0100001 mod_gone::0
0xffffffffc0100001
$late mod_late:mod.c:17
END
sort -o "$tmp/want" "$tmp/want"
good() { # good DESCRIPTION OPTION…: all lines are there
	what=$1
	shift
	run prof-symbolize --report=json:"$tmp/report" -o "$tmp/out.pb.gz" "$@" "$tmp/raw"
	lines "$tmp/out.pb.gz" >"$tmp/got"
	same "$tmp/got" "$tmp/want" "$what" 
}
good '--binary' --binary="$tmp/vmlinux" --binary="$tmp/some-mod.ko"
is "$(jq -r '.objects[] | "\(.file) \(.addresses) \(.named) \(.verified)"' "$tmp/report" | xargs)" \
	'[kernel.kallsyms]_stext 3 {dwarf:3} true [some_mod] 4 {dwarf:2} true' 'the report'
is "$(jq -c '.objects[1].reasons' "$tmp/report")" '{"no-function":2}' \
	'no lines where the module has another function, or where no name is proof'
like "$tmp/text" '^mapping . 0xffffffff84000040 .* FNLI$' 'the mapping has lines'
like "$tmp/text" '^function . "sys_read" "sys_read" ".*core.c" 7$' 'the name is the one of capture'
prof-symbolize --binary="$tmp/vmlinux" --binary="$tmp/some-mod.ko" "$tmp/out.pb.gz" |
	cmp -s - "$tmp/out.pb.gz"
is $? 0 'once more: the same bytes'
prof-symbolize --force --binary="$tmp/vmlinux" --binary="$tmp/some-mod.ko" "$tmp/out.pb.gz" |
	cmp -s - "$tmp/out.pb.gz"
is $? 0 'by force: the same bytes'

mkdir -p "$tmp/dbg/.build-id/ab"
objcopy --only-keep-debug "$tmp/vmlinux" "$tmp/dbg/.build-id/ab/cd01.debug"
objcopy --only-keep-debug "$tmp/some-mod.ko" "$tmp/dbg/.build-id/ab/cd02.debug"
good 'debug files by build id' --debug-dir="$tmp/dbg"
tree=$tmp/deb/usr/lib/debug
mkdir -p "$tree/boot" "$tree/lib/modules/6.1.0/kernel/net/other"
cp "$tmp/vmlinux" "$tree/boot/vmlinux-6.1.0"
cp "$tmp/some-mod.ko" "$tree/lib/modules/6.1.0/kernel/net"
: >"$tree/lib/modules/6.1.0/kernel/net/other/some_mod.ko"
good 'by name, as packages have them' --debug-dir="$tree"
good 'of a system elsewhere' --debug-dir="$tmp/none" --sysroot="$tmp/deb"
# A file system whose directories do not tell what is a file and what a directory; of those there
# are many beside the files, that not all come first.
cp -r "$tree" "$tmp/tree"
for i in 1 2 3 4 5 6 7 8 9; do
	mkdir "$tmp/tree/boot/d$i" "$tmp/tree/lib/modules/6.1.0/kernel/net/d$i"
done
if PATH=$PATH:/usr/sbin mke2fs -q -t ext4 -O ^filetype -d "$tmp/tree" "$tmp/fs" 8M >"$tmp/build" 2>&1 &&
	mkdir "$tmp/mnt" && unshare -m mount -o loop "$tmp/fs" "$tmp/mnt" 2>>"$tmp/build"; then
	unshare -m sh -c 'mount -o loop "$1/fs" "$1/mnt" &&
		exec prof-symbolize -o "$1/out.pb.gz" --debug-dir="$1/mnt" "$1/raw"' - "$tmp"
	lines "$tmp/out.pb.gz" >"$tmp/got"
	same "$tmp/got" "$tmp/want" 'where directories do not tell what is a file'
else
	skip "$(head -n 1 "$tmp/build")" 'where directories do not tell what is a file'
fi
# packed whole, as distributions have modules, and some the kernel
packed() { # packed END COMMAND…
	end=$1 where=$tmp/packed.$1
	shift
	mkdir -p "$where/boot" "$where/lib/modules/6.1.0/kernel"
	command -v "$1" >/dev/null || { skip "no $1" "packed by $1" && return; }
	"$@" <"$tmp/vmlinux" >"$where/boot/vmlinux-6.1.0.$end"
	"$@" <"$tmp/some-mod.ko" >"$where/lib/modules/6.1.0/kernel/some-mod.ko.$end"
	good "packed by $1" --debug-dir="$where"
	is "$(jq -r '.objects[1].binary' "$tmp/report")" \
		"$where/lib/modules/6.1.0/kernel/some-mod.ko.$end" "by $1: named in the report"
	good "packed by $1, little memory" --max-memory=8M -j2 \
		--binary="$where/boot/vmlinux-6.1.0.$end" \
		--binary="$where/lib/modules/6.1.0/kernel/some-mod.ko.$end"
}
packed xz xz
packed zst zstd -q
packed gz gzip
{ head -c 1000000000 /dev/zero | zstd -q; } >"$tmp/bomb.ko.zst" 2>/dev/null
head -c 300 "$tmp/packed.xz/lib/modules/6.1.0/kernel/some-mod.ko.xz" >"$tmp/cut.ko.xz"
printf '\050\265\057\375not so' >"$tmp/odd.ko.zst"
printf '\037\213not so, and more than eighteen bytes' >"$tmp/odd.ko.gz"
for f in bomb.ko.zst cut.ko.xz odd.ko.zst odd.ko.gz; do
	mkdir -p "$tmp/bad.$f/lib/modules/1"
	mv "$tmp/$f" "$tmp/bad.$f/lib/modules/1/some-mod.${f#*.}"
	run prof-symbolize --max-memory=64M --debug-dir="$tmp/bad.$f" --report=json:"$tmp/report" \
		-o "$tmp/out.pb.gz" "$tmp/raw"
	is "$status $(jq -c '.objects[] | select(.file == "[some_mod]").reasons' "$tmp/report")" \
		'0 {"unusable-file":4}' "$f: the reason"
done
for z in zlib zlib-gnu; do
	objcopy --compress-debug-sections=$z "$tmp/vmlinux" "$tmp/z.vmlinux"
	objcopy --compress-debug-sections=$z "$tmp/some-mod.ko" "$tmp/z.ko"
	good "debug sections by $z" --binary="$tmp/z.vmlinux" --binary="$tmp/z.ko"
done
good 'a cache is no hindrance' --cache="$tmp/cache" --binary="$tmp/vmlinux" --binary="$tmp/some-mod.ko"
is "$(find "$tmp/cache" -type f 2>/dev/null)" '' 'and has nothing of the kernel'

# other builds, and what is no kernel
kernel abcd99 abcd98 >"$tmp/raw"
prof-render -f text "$tmp/raw" >"$tmp/want"
run prof-symbolize --debug-dir="$tree" --report=json:"$tmp/report" -o "$tmp/out.pb.gz" "$tmp/raw"
prof-render -f text "$tmp/out.pb.gz" >"$tmp/got"
same "$tmp/got" "$tmp/want" 'another build is not used'
is "$(jq -r '.objects[].reasons | keys[0]' "$tmp/report" | xargs)" \
	'build-id-mismatch build-id-mismatch' 'with the reason'
kernel abcd01 '' >"$tmp/raw"
run prof-symbolize --debug-dir="$tree" --report=json:"$tmp/report" -o "$tmp/out.pb.gz" "$tmp/raw"
is "$(jq -r '.objects[].file' "$tmp/report")" '[kernel.kallsyms]_stext' 'no build id: not looked for'
kernel abcd02 abcd01 >"$tmp/raw"
prof-render -f text "$tmp/raw" >"$tmp/want"
run prof-symbolize --binary="$tmp/vmlinux" --binary="$tmp/some-mod.ko" -o "$tmp/out.pb.gz" "$tmp/raw"
prof-render -f text "$tmp/out.pb.gz" >"$tmp/got"
same "$tmp/got" "$tmp/want" 'a module is no kernel, nor the other way round'
strip "$tmp/vmlinux" -o "$tmp/bare"
kernel >"$tmp/raw"
run prof-symbolize --debug-dir="$tmp/none" --binary="$tmp/bare" --report=json:"$tmp/report" -o "$tmp/out.pb.gz" "$tmp/raw"
is "$(jq -c '.objects[0].reasons' "$tmp/report")" '{"no-symbols":3}' 'a stripped one does not tell where it lay'

# Many symbols, and many locations under a name that is none of theirs, take no time as the product
# of both: a second of CPU time against minutes.
awk 'BEGIN {
	print ".section .at_start,\"ax\"\n.globl _stext\n_stext:\n.zero 64\n.section .at_a,\"ax\""
	for (i = 0; i < 80000; i++) {
		print ".type many_" i ",@function\n.globl many_" i "\nmany_" i ": .zero 16\n.size many_" i ",16"
	}
}' >"$tmp/many.s"
gcc -c "$tmp/many.s" -o "$tmp/many.o" && ld -o "$tmp/many" --build-id=0xabcd03 -e 0 \
	--section-start=.at_start=0xffffffff81000040 --section-start=.at_a=0xffffffff81001000 "$tmp/many.o"
{
	printf '# profpipe text 1\nprofile\ntype "samples" "count"\n'
	echo 'mapping 1 0xffffffff84000040 0xffffffff84802100 0x0 "[kernel.kallsyms]_stext" "abcd03" F'
	echo 'function 1 "other" "other" "" 0'
	awk 'BEGIN {
		for (i = 0; i < 150000; i++)
			printf "location %d m1 0xffffffff84%06x f1:0:0\n", i + 1, 4096 + 8 * i
		for (i = 1; i <= 150000; i++)
			print "sample 1 : " i
		print "end"
	}'
} >"$tmp/raw"
# shellcheck disable=SC3045 # dash and bash have -t
(ulimit -t 60 && prof-symbolize --binary="$tmp/many" -j1 "$tmp/raw" >"$tmp/got")
is $? 0 'many symbols and other names: an end in time'
prof-symbolize --debug-dir="$tmp/none" "$tmp/raw" | cmp -s - "$tmp/got"
is $? 0 'the names stay'

# The tree of modules is walked once, not for each module of a profile.
i=0
while [ $i -lt 300 ]; do
	echo "$tmp/walk/lib/modules/6.1.0/kernel/d$i"
	i=$((i + 1))
done | xargs mkdir -p
{
	printf '# profpipe text 1\nprofile\ntype "samples" "count"\n'
	awk 'BEGIN {
		for (i = 1; i <= 20; i++) {
			printf "mapping %d 0xffffffffc0%03x000 0xffffffffc0%03xfff 0 \"[m%d]\" \"ab%04x\" F\n", i, i, i, i, i
			printf "location %d m%d 0xffffffffc0%03x010\nsample 1 : %d\n", i, i, i, i
		}
		print "end"
	}'
} >"$tmp/raw"
if strace -o "$tmp/calls" true 2>/dev/null; then
	strace -f -e trace=openat -o "$tmp/calls" prof-symbolize --debug-dir="$tmp/walk" "$tmp/raw" >"$tmp/got"
	is "$(grep -c '/d7"' "$tmp/calls")" 1 'many modules: one walk'
else
	skip 'no strace, or it may not trace' 'many modules: one walk'
fi
done_testing
