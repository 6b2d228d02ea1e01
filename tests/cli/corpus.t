#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Real profiles of many producers: what google/pprof accepts we read without loss (held to
# protobuf-c by the helper), what it rejects we refuse in one line; and the known differences.
. "$top/tests/lib/tap.sh"
. "$top/tests/lib/corpus.sh"
need_corpus

# google/pprof's verdict (INDEX.tsv), but: a stream of two members is two profiles; a sum that
# does not fit 64 bits is refused; its legacy formats are refused by name.
expect() { # expect FILE VERDICT CONTAINER
	case $1 in
	*/bad_concatenated_gzip.pb.gz) echo ok ;;
	*/ok_int64_extremes.pb) echo refused ;;
	*/bad_string_table_only.pb) echo refused ;; # its library takes it, its command does not
	*/ok_gzip_two_members.pb.gz) echo refused ;;
	*) case $3:$2 in
		gzip:ok | raw:ok) echo ok ;;
		*) echo refused ;;
		esac ;;
	esac
}

awk -F'\t' 'NR > 1 { print $18 "\t" $12 "\t" $13 }' "$corpus/INDEX.tsv" >"$tmp/index"
bad=0
refusals=0
while IFS="$(printf '\t')" read -r file verdict container; do
	[ -f "$corpus/$file" ] || continue
	want=$(expect "$file" "${verdict%%:*}" "$container")
	got=$(roundtrip "$corpus/$file" 2>&1) || true
	case $got in
	*"refused "*) got_word=refused ;;
	"ok "*) got_word=ok ;;
	*) got_word=broken ;;
	esac
	[ "$got_word" = "$want" ] || { bad=$((bad + 1)); echo "$file: want $want: $got" | diag; }
	[ "$want" = refused ] || continue
	run prof-merge "$corpus/$file"
	if [ "$status" != 2 ] || [ -s "$tmp/out" ] || [ "$(wc -l <"$tmp/err")" != 1 ]; then
		refusals=$((refusals + 1))
		{ echo "$file: status $status"; cat "$tmp/err"; } | diag
	fi
done <"$tmp/index"
ok "$bad" "every file of the corpus is read without loss or refused, as it should be"
ok "$refusals" "refused files give exit 2, one line, no output"

run prof-merge "$corpus/_edge/bad_concatenated_gzip.pb.gz"
is "$status" 0 "two profiles in two members are a stream"
gzip -dc <"$tmp/out" | grep -qa 'merged=2'
ok $? "and count as two"

# The project's own conformance list of hand-made files.
bad=0
while IFS="$(printf '\t')" read -r file _ word _; do
	[ -f "$corpus/_edge/$file" ] || continue
	case $file in
	bad_concatenated_gzip.pb.gz | ok_gzip_two_members.pb.gz | ok_int64_extremes.pb) continue ;;
	esac
	run prof-merge "$corpus/_edge/$file"
	case $word:$status in
	accept:0 | reject:2) ;;
	*) bad=$((bad + 1)); echo "$file: $word, status $status" | diag ;;
	esac
done <"$corpus/_edge/EXPECT.tsv"
ok "$bad" "EXPECT.tsv of the hand-made files is met"

# Merging is idempotent on every readable file, byte for byte.
bad=0
for file in $(awk -F'\t' '$2 == "ok" && $3 != "legacy" { print $1 }' "$tmp/index"); do
	[ -f "$corpus/$file" ] || continue
	prof-merge "$corpus/$file" >"$tmp/once" 2>/dev/null || continue
	prof-merge "$tmp/once" >"$tmp/twice" || bad=$((bad + 1))
	cmp -s "$tmp/once" "$tmp/twice" || { bad=$((bad + 1)); echo "$file" | diag; }
done
ok "$bad" "a merged profile merges to itself"
done_testing
