#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# -j: the same bytes for any number of threads, over many files and several profiles.
. "$top/tests/lib/tap.sh"

command -v gcc >/dev/null || skip_all 'no gcc'
command -v jq >/dev/null || skip_all 'no jq'

# Files of all sorts: ten small programs with DWARF, and what they are linked with.
n=0
while [ $n -lt 10 ]; do
	printf 'static inline int in(int x) { return x * %d; }
		int f%d(int x) { return in(x) + in(x + 1); }
		int main(int n, char **v) { (void)v; return f%d(n); }' $n $n $n >"$tmp/$n.c"
	gcc -g -O2 -o "$tmp/prog$n" "$tmp/$n.c"
	n=$((n + 1))
done
ldd "$(command -v gcc)" "$(command -v sh)" "$(command -v jq)" |
	sed -n 's/.*=> \(\/[^ ]*\) .*/\1/p' | sort -u >"$tmp/files"
ls "$tmp"/prog* >>"$tmp/files"
# large ones, whose units are divided among the threads
command -v prof-symbolize prof-merge prof-render >>"$tmp/files"

# profile SEED: addresses all over the functions of each, and no file at all in between
profile() {
	m=0
	loc=0
	while read -r file; do
		m=$((m + 1))
		echo "mapping $m 0x0 0x0 0x0 \"$file\" \"$(readelf -n "$file" 2>/dev/null |
			sed -n 's/.*Build ID: //p')\" -"
		{
			nm -D --defined-only "$file" 2>/dev/null
			nm --defined-only "$file" 2>/dev/null
		} | awk -v seed="$1" '$2 ~ /[tTwWiI]/ && ++n % (11 + seed) == seed { print $1 }' |
			sort -u | head -n 200 >"$tmp/at"
		while read -r at; do
			loc=$((loc + 1))
			echo "location $loc m$m 0x$at" >>"$tmp/locations"
			echo "sample 1 : $loc :" >>"$tmp/samples"
		done <"$tmp/at"
	done <"$tmp/files" >"$tmp/mappings"
	echo '# profpipe text 1'
	echo profile
	printf 'time 1\nduration 1\nperiod "cpu" "nanoseconds" 1\ntype "samples" "count" default\n'
	cat "$tmp/mappings" "$tmp/locations" "$tmp/samples"
	echo end
	rm -f "$tmp/locations" "$tmp/samples"
}
profile 0 >"$tmp/a"
profile 1 >"$tmp/b"
symbolize() { # symbolize THREADS
	prof-symbolize -j "$1" --report=json:"$tmp/report$1" -o "$tmp/out$1" "$tmp/a" "$tmp/b" "$tmp/a"
}
symbolize 1
[ "$(jq '[.objects[] | select(.named != {})] | length' "$tmp/report1")" -ge 12 ]
ok $? "$(jq '.objects | length' "$tmp/report1") files, most of them with names"
[ "$(jq .named_value "$tmp/report1")" -gt 500 ]
ok $? "$(jq .named_value "$tmp/report1") samples with names"
for threads in 2 3 7; do
	symbolize $threads
	cmp -s "$tmp/out$threads" "$tmp/out1"
	ok $? "-j $threads: the same profiles as -j 1"
	same "$tmp/report$threads" "$tmp/report1" "-j $threads: the same report"
done
prof-symbolize "$tmp/a" "$tmp/b" "$tmp/a" | cmp -s - "$tmp/out1"
is $? 0 'and by default'
refuses 'no thread at all' prof-symbolize -j 0 "$tmp/a"
refuses 'too many' prof-symbolize -j 257 "$tmp/a"
refuses 'not a number' prof-symbolize -j x "$tmp/a"
done_testing
