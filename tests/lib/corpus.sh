# SPDX-License-Identifier: Apache-2.0
# Where profiles made by others are, and which program makes many: neither is part of the
# project, tests that want them skip themselves without.
corpus=${PROFPIPE_CORPUS:-}
gen_corpus=${PROFPIPE_GEN_CORPUS:-}

need_corpus() {
	[ -f "$corpus/INDEX.tsv" ] || skip_all "no corpus of profiles (PROFPIPE_CORPUS)"
}

need_pprof() {
	command -v go >/dev/null || skip_all "no Go compiler"
	go tool pprof -help 2>&1 | grep -q symbolize || skip_all "no go tool pprof"
}

# body [FILE]: of a table, from "Showing nodes" on: totals, dropped nodes, every row. Before it our
# header differs on purpose: the time is UTC and ISO 8601, "File" the binary with most samples.
body() {
	sed -n '/^Showing nodes/,$p' "$@"
}

# build_generator: the program at $tmp/gen.
build_generator() {
	[ -f "$gen_corpus/main.go" ] || skip_all "no profile generator (PROFPIPE_GEN_CORPUS)"
	command -v go >/dev/null || skip_all "no Go compiler"
	(cd "$gen_corpus" && GOFLAGS=-buildvcs=false GOCACHE=${GOCACHE:-$tmp/gocache} \
		go build -o "$tmp/gen" .) || skip_all "the profile generator does not build"
}

# sums FILE: "SAMPLES SUM0 SUM1" of a pprof file, as protoc reads it.
sums() {
	gzip -dc "$1" | protoc --decode=perftools.profiles.Profile -I "$top/lib/pprof" \
		"$top/lib/pprof/profile.proto" |
		awk '/^sample \{/ { n++; k = 0 }
		     /^  value: / { v[k++] += $2 }
		     END { printf "%d", n; for (i = 0; i in v; i++) printf " %.0f", v[i]; print "" }'
}
