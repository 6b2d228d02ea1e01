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
	jq "[.objects[0] | $1 // 0] | add" "$tmp/report"
}
# What has a name, by address, and the report; peak memory in KiB in $peak.
named_at() { # named_at LIMIT FILE
	rm -f "$tmp/cost"
	run measure "$tmp/cost" prof-symbolize --max-memory="$1" -j 1 \
		--report="json:$tmp/report" -o "$tmp/named.pb.gz" "$tmp/$2.txt"
	peak=$(awk '{ print $2 }' "$tmp/cost")
	prof-render -f text "$tmp/named.pb.gz" |
		awk '$1 == "location" && NF > 4 { print $4 }' | sort >"$tmp/named"
}
# By debug information, without a name, over the limit.
tell() {
	read -r now unnamed over <<END
$(jq -r '.objects[0] | "\([.named.dwarf, .named.gopclntab] | add // 0) \(.unnamed)" +
	" \(.reasons["memory-limit"] // 0)"' "$tmp/report")
END
}
# More memory never names less: by address, and by debug information.
ladder() { # ladder FILE SLACK: of KiB that a limit may be passed by; 0 = any
	named_at 1G "$1"
	is "$(count '.reasons["memory-limit"]')" 0 "$1, 1G: nothing is over the limit"
	tell
	best=$now
	never=$unnamed
	[ "$best" -gt 100 ]
	ok $? "$1, 1G: $best by debug information"
	: >"$tmp/last"
	last=0
	wrong=0
	for max in 1 400K 700K 1M 2M 3M 4M 5M 6M 8M 16M 64M; do
		named_at $max "$1"
		tell
		lost=$(comm -23 "$tmp/last" "$tmp/named" | wc -l)
		if [ "$status" -ne 0 ] || [ -s "$tmp/err" ] || [ "$lost" -ne 0 ] ||
			[ "$now" -lt "$last" ] || [ $((unnamed - never)) -gt "$over" ] ||
			[ "$over" -lt $((best - now)) ] ||
			[ $(($(wc -l <"$tmp/named") + unnamed)) -ne "$(wc -l <"$tmp/at")" ]; then
			wrong=$((wrong + 1))
			echo "$1, $max: status $status, $lost names less, $unnamed unnamed," \
				"$now after $last by debug information, $over over the limit" |
				diag - "$tmp/err"
		fi
		[ "$max" = 1 ] && base=$peak
		kib=$(echo "$max" | numfmt --from=iec --to-unit=Ki)
		if [ "$2" -gt 0 ] && [ "$peak" -gt $((base + kib + $2)) ]; then
			wrong=$((wrong + 1))
			echo "$1, $max: $peak KiB, $base of them without any" | diag
		fi
		cp "$tmp/named" "$tmp/last"
		last=$now
	done
	is "$wrong" 0 "$1: more memory never names less"
	is "$last" "$best" "$1: and in the end all"
}
# sanitizers have a memory of their own
if nm "$tmp/plain" | grep -q __asan; then slack=0; else slack=4096; fi
objcopy --strip-all --keep-section='.debug*' "$tmp/plain" "$tmp/nosym"
for file in plain zlib nosym; do
	profile "$tmp/$file" >"$tmp/$file.txt"
	ladder $file $slack
	for max in 200K 1M 4M 1G; do
		prof-symbolize --max-memory=$max -j 1 -o "$tmp/$file.$max" "$tmp/$file.txt"
		prof-symbolize --max-memory=$max -j 3 "$tmp/$file.txt" | cmp -s - "$tmp/$file.$max"
		is $? 0 "$file, $max: the same by three threads"
	done
done
# packed symbols cannot take more than there is
head -c 64M /dev/zero | xz -1 >"$tmp/bomb.xz"
strip "$tmp/plain" -o "$tmp/bomb"
objcopy --add-section .gnu_debugdata="$tmp/bomb.xz" "$tmp/bomb"
profile "$tmp/bomb" >"$tmp/bomb.txt"
named_at 8M bomb
is "$status" 0 'a bomb in .gnu_debugdata: exit status'
[ "$(count '.reasons["memory-limit"]')" -eq "$(wc -l <"$tmp/at")" ]
ok $? 'the reason'
jq -r '.objects[0].trouble' "$tmp/report" >"$tmp/trouble"
like "$tmp/trouble" 'bomb: \.gnu_debugdata: xz data is over the limit' 'and what it was'
[ "$slack" -eq 0 ] || [ "$peak" -le $((base + 8192 + slack)) ]
ok $? "it takes no more than allowed: $peak KiB"

# Go's table, too
if command -v go >/dev/null; then
	mkdir "$tmp/go"
	printf 'package main\n\nfunc main() { println("x") }\n' >"$tmp/go/main.go"
	(cd "$tmp/go" && GO111MODULE=off GOCACHE=${GOCACHE:-$tmp/gocache} \
		go build -o "$tmp/gobin" main.go) 2>"$tmp/build" || diag "$tmp/build"
	nm "$tmp/gobin" | awk '$2 ~ /^[tT]$/ && NR % 5 == 0 { print $1 }' | sort -u >"$tmp/at"
	id=
	strip "$tmp/gobin" -o "$tmp/gostripped"
	for file in gobin gostripped; do
		profile "$tmp/$file" >"$tmp/$file.txt"
		ladder $file $slack
	done
	# what is asked of the index below is the other program
	id=$(readelf -n "$tmp/plain" | sed -n 's/.*Build ID: //p')
else
	skip 'no Go compiler' 'Go: more memory never names less'
fi
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
