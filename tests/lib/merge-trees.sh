# SPDX-License-Identifier: Apache-2.0
# What merge tests of both sizes share. Needs tap.sh, corpus.sh and $tmp/gen.

# manifest DIR KEY: a number from DIR/manifest.json, digit for digit (jq makes them doubles).
manifest() {
	sed -n 's/^  "'"$2"'": \([0-9]*\),*$/\1/p' "$1/manifest.json"
}

# check_manifest NAME PRESET [GENERATOR OPTIONS]: generate, merge, compare all sums.
check_manifest() {
	cm_name=$1
	cm_dir=$tmp/$1
	cm_preset=$2
	shift 2
	"$tmp/gen" -out "$cm_dir" -preset "$cm_preset" "$@" >/dev/null
	prof-merge "$cm_dir" >"$cm_dir.pb.gz"
	ok $? "$cm_name: merges"
	# types in the order of the file, sums by name
	gzip -dc "$cm_dir.pb.gz" | protoc --decode=perftools.profiles.Profile \
		-I "$top/lib/pprof" "$top/lib/pprof/profile.proto" >"$tmp/decoded"
	awk '
		/^sample_type \{/ { in_type = 1 }
		in_type && /^  type: / { type[nt++] = $2; in_type = 0 }
		/^sample \{/ { n++; k = 0 }
		/^  value: / { v[k++] += $2 }
		/^string_table: / { s = $0; sub(/^string_table: "/, "", s); sub(/"$/, "", s); str[ns++] = s }
		/^duration_nanos: / { duration = $2 }
		/^time_nanos: / { time = $2 }
		END {
			for (i = 0; i < nt; i++)
				printf "%s %.0f\n", str[type[i]], v[i]
			printf "distinct %d\nduration %s\ntime %s\n", n, duration, time
		}' "$tmp/decoded" | sort >"$tmp/got"
	{
		sed -n '/"merged_value_sums"/,/}/s/^    "\(.*\)": \([0-9]*\),*$/\1 \2/p' \
			"$cm_dir/manifest.json"
		echo "distinct $(manifest "$cm_dir" merged_distinct_samples)"
		echo "duration $(manifest "$cm_dir" merged_duration_nanos)"
		echo "time $(manifest "$cm_dir" merged_time_nanos)"
	} | sort >"$tmp/want"
	same "$tmp/got" "$tmp/want" "$cm_name: sums, distinct samples, duration and time are exact"
}

# check_trees DIR N: N random merge trees over DIR's profiles, of one to three threads, give the
# bytes of one merge.
check_trees() {
	ct_dir=$1
	ct_n=$2
	ct_bad=0
	prof-merge "$ct_dir" >"$tmp/want.pb.gz"
	ct_i=0
	while [ "$ct_i" -lt "$ct_n" ]; do
		ct_i=$((ct_i + 1))
		rm -rf "$tmp/tree"
		mkdir "$tmp/tree"
		# groups of random size, merged, then merged in random order with the rest
		find "$ct_dir" -name "*.pb.gz" | shuf >"$tmp/files"
		ct_size=$((ct_i % 7 + 2))
		split -l "$ct_size" -a 4 "$tmp/files" "$tmp/tree/part."
		for ct_part in "$tmp"/tree/part.*; do
			xargs prof-merge -j "$((ct_i % 3 + 1))" <"$ct_part" >"$ct_part.pb.gz" || ct_bad=$((ct_bad + 1))
		done
		find "$tmp/tree" -name '*.pb.gz' | shuf >"$tmp/parts"
		# a level of stream concatenation in the middle
		head -n 3 "$tmp/parts" | xargs cat | prof-merge >"$tmp/tree/cat.pb.gz"
		tail -n +4 "$tmp/parts" | xargs prof-merge "$tmp/tree/cat.pb.gz" >"$tmp/got.pb.gz"
		cmp -s "$tmp/got.pb.gz" "$tmp/want.pb.gz" || ct_bad=$((ct_bad + 1))
	done
	ok "$ct_bad" "$ct_n random merge trees give the same bytes"
}
