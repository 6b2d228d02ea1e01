#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# --report=json: what was named by what, why the rest was not, and where files were looked for.
. "$top/tests/lib/tap.sh"

command -v gcc >/dev/null || skip_all 'no gcc'
command -v jq >/dev/null || skip_all 'no jq'
printf 'int f(int x) { return x + 1; } int main(int n, char **v) { (void)v; return f(n); }' \
	>"$tmp/a.c"
gcc -g -O0 -o "$tmp/prog" "$tmp/a.c"
strip -o "$tmp/bare" "$tmp/prog"
cp "$tmp/prog" "$tmp/other"
id=$(readelf -n "$tmp/prog" | sed -n 's/.*Build ID: //p')
at=$(nm "$tmp/prog" | awk '$3 == "f" { print $1 }')
cat >"$tmp/raw" <<END
# profpipe text 1
profile
time 1
duration 1
period "cpu" "nanoseconds" 1
type "samples" "count" default
mapping 1 0x0 0x0 0x0 "$tmp/prog" "$id" -
mapping 2 0x0 0x0 0x0 "$tmp/bare" "$id" -
mapping 3 0x0 0x0 0x0 "$tmp/other" "00$id" -
mapping 4 0x0 0x0 0x0 "/no/such \"file\"" "beef01" -
location 1 m1 0x$at
location 2 m2 0x$at
location 3 m3 0x$at
location 4 m4 0x$at
location 5 m1 0x10
sample 30 : 1 2 :
sample 60 : 4 :
sample 10 : 3 5 :
end
END
run prof-symbolize --report=json:"$tmp/report" -o "$tmp/named.pb.gz" --debug-dir="$tmp/dbg" "$tmp/raw"
is "$status" 0 'exit status'
jq . "$tmp/report" >/dev/null
is $? 0 'it is JSON'
value() { # value JQ WANT DESCRIPTION
	is "$(jq -r "$1" "$tmp/report")" "$2" "$3"
}
value '[.value, .named_value] | map(tostring) | join(" ")' '100 30' 'samples by their leaf'
value '.objects | length' 4 'each file of a mapping'
value '.objects[0] | [.named.dwarf, .unnamed, .reasons["no-function"], .verified] | map(tostring) | join(" ")' \
	'1 1 1 true' 'named by DWARF, and what no function has'
value '.objects[1] | [.unnamed, .reasons["no-function"] // .reasons["no-symbols"], .lines_from] | map(tostring) | join(" ")' \
	"1 1 .build-id/$(echo "$id" | cut -c1-2)/$(echo "$id" | cut -c3-).debug" \
	'stripped: the file that would help'
value ".objects[1].looked_at[] | select(.path == \"$tmp/dbg/.build-id/$(echo "$id" | cut -c1-2)/$(echo "$id" | cut -c3-).debug\") | .result" \
	'no such file' 'and where it was looked for'
value '.objects[2].reasons["build-id-mismatch"]' 1 'another build'
value ".objects[2].looked_at[] | select(.path == \"$tmp/other\") | .result" 'build id differs' \
	'and what was wrong with it'
value '.objects[3].wanted' '/no/such "file" with build id beef01' 'what is wanted'
value '.objects[0].looked_at[0].result' used 'what was used'

# the table of -v has the same numbers, in 80 columns
prof-symbolize -v --report=json --debug-dir="$tmp/dbg" "$tmp/raw" 2>"$tmp/verbose" >"$tmp/second"
same "$tmp/second" "$tmp/report" 'to standard output instead of the profiles'
sed '/^$/,$d' "$tmp/verbose" >"$tmp/table"
is "$(awk 'length > 80' "$tmp/table")" '' 'the table of -v fits 80 columns'
cat >"$tmp/want" <<'END'
file                     addresses  named by           not, or not fully
prog                             2  dwarf           1  no-function             1
bare                             1                     no-function             1
other                            1                     build-id-mismatch       1
such "file"                      1                     no-file                 1
(all)                            5  named           1  unnamed                 4
30.00% of the samples' value has a name at its leaf.
END
same "$tmp/table" "$tmp/want" 'with the numbers of the report'
sed -n 's/^  looked at //p' "$tmp/verbose" | sort -u >"$tmp/got"
jq -r '.objects[] | select(.binary == null or .lines_from != null) | .looked_at[] | .path + ": " + .result' \
	"$tmp/report" | sort -u >"$tmp/want"
same "$tmp/got" "$tmp/want" 'and the places that were looked at'
jq -r '.objects[] | .wanted // empty' "$tmp/report" | sort >"$tmp/want"
sed -n 's/^  wanted: //p' "$tmp/verbose" | sort >"$tmp/got"
same "$tmp/got" "$tmp/want" 'and what is wanted'
jq -r '.objects[] | .lines_from // empty' "$tmp/report" | sort >"$tmp/want"
sed -n 's/^  lines would need //p' "$tmp/verbose" | sort >"$tmp/got"
same "$tmp/got" "$tmp/want" 'and what would give lines'
prof-symbolize --report json:"$tmp/third" --debug-dir="$tmp/dbg" -o "$tmp/named2.pb.gz" "$tmp/raw"
same "$tmp/third" "$tmp/report" '--report json:FILE in two words'
prof-symbolize --debug-dir="$tmp/dbg" "$tmp/raw" | cmp -s - "$tmp/named.pb.gz"
is $? 0 'the profile is the same with and without'

prof-symbolize --require=31% --report=json:"$tmp/r" --debug-dir="$tmp/dbg" "$tmp/raw" \
	>/dev/null 2>&1
is $? 1 'less than required: exit 1'
is "$(jq .named_value "$tmp/r")" 30 'with the report all the same'
prof-symbolize --require=30% --debug-dir="$tmp/dbg" "$tmp/raw" >/dev/null 2>&1
is $? 0 'as much as required'
refuses 'another format' prof-symbolize --report=xml "$tmp/raw"
refuses 'no file' prof-symbolize --report=json: "$tmp/raw"
refuses 'both to one file' prof-symbolize --report=json:"$tmp/x" -o "$tmp/x" "$tmp/raw"
for name in "$tmp/./x" "$tmp/link"; do
	rm -f "$tmp/x"
	ln -sf x "$tmp/link"
	refuses "both to one file, as ${name##"$tmp"/} the second time" \
		prof-symbolize --report=json:"$name" -o "$tmp/x" --debug-dir="$tmp/dbg" "$tmp/raw"
	same "$tmp/x" "$tmp/named.pb.gz" 'the profiles are there'
done
prof-symbolize --report=json:"$tmp/x" --debug-dir="$tmp/dbg" "$tmp/raw" >"$tmp/x" 2>/dev/null
is $? 2 'both to the file that standard output is'
same "$tmp/x" "$tmp/named.pb.gz" 'the profiles are there'
refuses 'a report that cannot be written' prof-symbolize --report=json:"$tmp/no/dir" \
	-o "$tmp/y" "$tmp/raw"
done_testing
