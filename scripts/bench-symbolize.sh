# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh disable=SC2154
# Part of bench, which sources it: variables and functions that are not here are there.

# Where what is fetched is kept: outside the tree.
fetched=${BENCH_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/profpipe-bench}
large_name=ceph-mds
pprof_addresses=${BENCH_PPROF:-100}

# A large C++ program with its debug information, in one file: $fetched/$large_name-{plain,zlib}
large_program() {
	[ -f "$fetched/$large_name-plain" ] && return
	have apt-get && have dpkg-deb && have eu-unstrip && have objcopy || return
	mkdir -p "$fetched/debs" || return
	(
		cd "$fetched/debs" &&
			apt-get -qq download "$large_name" "$large_name-dbg" 2>fetch.log >&2 &&
			for deb in *.deb; do dpkg-deb -x "$deb" root || exit; done &&
			debug=$(find root/usr/lib/debug -name '*.debug' -size +10M | head -n 1) &&
			eu-unstrip -o ../tmp-zlib root/usr/bin/"$large_name" "$debug" &&
			objcopy --decompress-debug-sections ../tmp-zlib ../tmp-plain &&
			mv ../tmp-zlib "../$large_name-zlib" && mv ../tmp-plain "../$large_name-plain"
	) || return
	rm -rf "$fetched/debs"
}

# as_profile FILE LIST OUT: one sample for each address of the list, as where the kernel puts it
as_profile() {
	id=$(readelf -n "$1" | sed -n 's/^ *Build ID: //p' | head -n 1)
	readelf -lW "$1" | awk '$1 == "LOAD" && /E 0x/ { print $2, $3, $6; exit }' >"$work/segment"
	read -r offset vaddr size <"$work/segment"
	awk -v file="$1" -v id="$id" -v offset=$((offset)) -v vaddr=$((vaddr)) -v size=$((size)) \
		-v base=$((0x7f0000000000)) '
	BEGIN {
		print "# profpipe text 1\nprofile"
		print "period \"cpu\" \"nanoseconds\" 10101010\ntype \"samples\" \"count\""
		printf "mapping 1 %.0f %.0f %.0f \"%s\" \"%s\" -\n", base + vaddr, \
			base + vaddr + size, offset, file, id
	}
	{
		if (!($1 in location)) {
			location[$1] = ++n
			printf "location %d m1 %.0f\n", n, base + $1
		}
		sample[NR] = location[$1]
	}
	END {
		for (i = 1; i <= NR; i++)
			printf "sample 1 : %d\n", sample[i]
		print "end"
	}' "$2" | prof-merge -o "$3"
}

# The addresses and profiles of all rows.
large_inputs() {
	nm -S -n --defined-only "$1" >"$work/nm"
	awk -v want=10000 -v hot=400 -v seed=1 -f tests/lib/addresses.awk "$work/nm" >"$work/10k"
	awk -v want=100000 -v hot=0 -v seed=2 -f tests/lib/addresses.awk "$work/nm" >"$work/100k"
	awk -v want="$pprof_addresses" -v hot=400 -v seed=3 -f tests/lib/addresses.awk "$work/nm" \
		>"$work/few"
	for list in 10k 100k few; do
		as_profile "$1" "$work/$list" "$work/$list.pb.gz"
		awk '{ printf "0x%x\n", $1 }' "$work/$list" >"$work/$list.hex"
	done
	as_profile "$2" "$work/10k" "$work/10k-zlib.pb.gz"
	rm -rf "$work/service"
	mkdir "$work/service"
	k=100
	while [ $k -lt 200 ]; do
		awk -v want=1000 -v hot=400 -v seed=$k -f tests/lib/addresses.awk "$work/nm" >"$work/one"
		as_profile "$1" "$work/one" "$work/service/$k.pb.gz"
		k=$((k + 1))
	done
}

wall() { column "$work/$1.runs" 4; }
anon() { column "$work/$1.runs" 5 | awk '{ printf "%.1f", $1 / 1024 }'; }

# large_row TITLE OURS PEER WANT-CPU WANT-MEMORY: names of runs
large_row() {
	printf '| %s | %.3f s, %s MiB | %.3f s, %s MiB | %s (%s) | %s (%s) |\n' "$1" \
		"$(cpu "$2")" "$(anon "$2")" "$(cpu "$3")" "$(anon "$3")" \
		"$(ratio "$(cpu "$2")" "$(cpu "$3")")" "$4" "$(ratio "$(anon "$2")" "$(anon "$3")")" "$5"
}

large_runs() {
	plain=$1 zlib=$2
	fresh cold10 cold100 warm10 warm100 zlib10 llvm10 llvm100 llvmzlib one two profile batch
	rm -rf "$work/index"
	prof-symbolize --cache "$work/index" --index "$plain"
	symbolize="prof-symbolize -j1 -o $work/symbolized.pb.gz"
	i=0
	while [ "$i" -lt "$runs" ]; do
		# the options are words
		# shellcheck disable=SC2086
		{
			take -a cold10 $symbolize "$work/10k.pb.gz"
			llvm llvm10 "$plain" 10k
			take -a warm10 $symbolize --cache "$work/index" "$work/10k.pb.gz"
			take -a cold100 $symbolize "$work/100k.pb.gz"
			llvm llvm100 "$plain" 100k
			take -a warm100 $symbolize --cache "$work/index" "$work/100k.pb.gz"
			take -a zlib10 $symbolize "$work/10k-zlib.pb.gz"
			llvm llvmzlib "$zlib" 10k
			take one $symbolize "$work/10k.pb.gz"
			take two $symbolize -j2 "$work/10k.pb.gz"
			take profile $symbolize "$work/service/100.pb.gz"
			take batch $symbolize "$work/service"
		}
		i=$((i + 1))
	done
}

# llvm NAME FILE LIST
llvm() {
	take -a "$1" sh -c 'exec llvm-symbolizer --inlines --obj="$1" <"$2"' - "$2" "$work/$3.hex"
}

bench_large() {
	if ! have llvm-symbolizer || ! have readelf || ! have nm; then
		left_out 'no llvm-symbolizer, readelf or nm'
		return
	fi
	need 1500
	if ! large_program; then
		left_out "$large_name and $large_name-dbg cannot be fetched with apt-get"
		return
	fi
	plain=$fetched/$large_name-plain zlib=$fetched/$large_name-zlib
	large_inputs "$plain" "$zlib"
	large_runs "$plain" "$zlib"
	echo "Debian's \`$large_name\` with its debug information in one file of $(du -m "$plain" |
		cut -f1) MiB,"
	echo "$(llvm-symbolizer --version | sed -n 's/^ *\(.*LLVM version.*\)/\1/p'); one thread, CPU and"
	echo "anonymous memory; $runs interleaved runs, medians. In brackets: what we want to reach."
	echo
	echo '| addresses | prof-symbolize | llvm-symbolizer | CPU ratio | memory ratio |'
	echo '| --- | --- | --- | --- | --- |'
	large_row '10,000 as in a profile' cold10 llvm10 0.30 0.15
	large_row '100,000 all over the code' cold100 llvm100 0.20 0.15
	large_row '10,000, from an index' warm10 llvm10 0.02 0.15
	large_row '100,000, from an index' warm100 llvm100 0.08 0.15
	large_row '10,000, sections packed by zlib' zlib10 llvmzlib 0.45 -
	echo
	echo '| | | ratio |'
	echo '| --- | --- | --- |'
	printf '| wall time, two threads : one | %.3f s : %.3f s | %s (0.65) |\n' "$(wall two)" \
		"$(wall one)" "$(ratio "$(wall two)" "$(wall one)")"
	printf '| CPU, 100 profiles of 1,000 samples : one | %.3f s : %.3f s | %s (1.3) |\n' \
		"$(cpu batch)" "$(cpu profile)" "$(ratio "$(cpu batch)" "$(cpu profile)")"
	large_pprof
	echo
}

# It takes a second or so an address.
large_pprof() {
	have go || return 0
	fresh ours peer
	take ours prof-symbolize -j1 -o "$work/symbolized.pb.gz" "$work/few.pb.gz"
	take peer env PPROF_BINARY_PATH="$fetched" "$(pprof_path)" -symbolize=local -proto \
		-output="$work/peer.pb.gz" "$work/few.pb.gz"
	printf '| CPU, %s addresses, `pprof -symbolize=local` = 1 | %.3f s : %.3f s | %s (0.01) |\n' \
		"$pprof_addresses" "$(cpu ours)" "$(cpu peer)" "$(ratio "$(cpu ours)" "$(cpu peer)")"
}
