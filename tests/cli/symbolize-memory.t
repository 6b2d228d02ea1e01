#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# --max-memory: what does not fit in is named by symbol, with the reason, and nothing else fails.
. "$top/tests/lib/tap.sh"

command -v jq >/dev/null || skip_all 'no jq'
command -v objcopy >/dev/null || skip_all 'no objcopy'
cp "$(command -v prof-symbolize)" "$tmp/plain"
readelf -S "$tmp/plain" | grep -q '\.debug_info' || skip_all 'built without debug information'
objcopy --compress-debug-sections=zlib "$tmp/plain" "$tmp/zlib"
id=$(readelf -n "$tmp/plain" | sed -n 's/.*Build ID: //p')
nm --defined-only "$tmp/plain" | awk '$2 ~ /^[tT]$/ && NR % 3 == 0 { print $1 }' | sort -u >"$tmp/at"

profile() { # profile FILE
	printf '# profpipe text 1\nprofile\nperiod "cpu" "nanoseconds" 1\ntype "samples" "count"\n'
	echo "mapping 1 0 0 0 \"$1\" \"$id\" -"
	awk '{ print "location " NR " m1 0x" $1 }' "$tmp/at"
	awk '{ print "sample 1 : " NR }' "$tmp/at"
	echo end
}
count() { # count KEY: of the report
	jq "[.objects[0] | $1] | add // 0" "$tmp/report"
}
for file in plain zlib; do
	profile "$tmp/$file" >"$tmp/$file.txt"
	last=0
	for max in 200K 1M 4M 1G; do
		run prof-symbolize --max-memory=$max -j 1 --report="json:$tmp/report" \
			-o "$tmp/$file.$max" "$tmp/$file.txt"
		is "$status" 0 "$file, $max: exit status"
		by_dwarf=$(count '.named.dwarf')
		over=$(count '.reasons["memory-limit"]')
		[ "$by_dwarf" -ge "$last" ]
		ok $? "$file, $max: $by_dwarf by debug information, $over over the limit"
		last=$by_dwarf
		prof-symbolize --max-memory=$max -j 3 "$tmp/$file.txt" | cmp -s - "$tmp/$file.$max"
		is $? 0 "$file, $max: the same by three threads"
		if [ $max = 200K ]; then
			[ "$by_dwarf" -lt "$(wc -l <"$tmp/at")" ] && [ "$over" -gt 0 ]
			ok $? "$file, $max: not all, and why"
		fi
		if [ $max = 1M ]; then
			[ "$(count '.named | .dwarf + .symtab')" -gt 100 ]
			ok $? "$file, $max: others by symbol"
		fi
	done
	is "$over" 0 "$file, $max: nothing is over the limit"
	[ "$last" -gt 100 ]
	ok $? "$file, $max: $last by debug information"
done
# an index holds all that is known, or is not made
run prof-symbolize --max-memory=1M --cache="$tmp/cache" --index "$tmp/plain"
is "$status" 2 'no index in too little memory'
is "$(find "$tmp/cache" -name '*.idx' 2>/dev/null | wc -l)" 0 'nor a part of one'
run prof-symbolize --max-memory=1M --cache="$tmp/cache" -o "$tmp/cached" "$tmp/plain.txt"
is "$status" 0 'profiles are named all the same'
cmp -s "$tmp/cached" "$tmp/plain.1M"
is $? 0 'as without a cache'
refuses 'no size' prof-symbolize --max-memory=x "$tmp/plain.txt"
refuses 'no memory' prof-symbolize --max-memory=0 "$tmp/plain.txt"
done_testing
