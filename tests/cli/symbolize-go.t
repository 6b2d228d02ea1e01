#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Go's runtime as oracle: it writes profiles with functions, lines and inlined frames. Without
# them, and symbolized by us from the binary, each address must come out the same.
. "$top/tests/lib/tap.sh"

command -v go >/dev/null || skip_all 'no Go compiler'
mkdir "$tmp/go"
cat >"$tmp/go/main.go" <<'END'
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime/pprof"
	"sort"
	"time"
)

type item struct {
	Name string
	Size []int
}

func square(x int) int { return x * x }
func quad(x int) int   { return square(x) + square(x+1) }

//go:noinline
func spin(n int) (sum int) {
	for i := 0; i < n; i++ {
		sum += quad(i) % 7
	}
	return
}

func main() {
	f, _ := os.Create(os.Args[1])
	pprof.StartCPUProfile(f)
	n := 0
	for end := time.Now().Add(1500 * time.Millisecond); time.Now().Before(end); {
		n += spin(10000)
		v := []item{}
		for i := 0; i < 50; i++ {
			v = append(v, item{fmt.Sprint(i), []int{i, n}})
		}
		sort.Slice(v, func(i, j int) bool { return v[i].Size[1] < v[j].Size[1] })
		b, _ := json.Marshal(v)
		json.Unmarshal(b, &v)
	}
	pprof.StopCPUProfile()
	f.Close()
}
END
(cd "$tmp/go" && GO111MODULE=off GOCACHE=${GOCACHE:-$tmp/gocache} CGO_ENABLED=0 \
	go build -o "$tmp/prog" main.go) 2>"$tmp/build" || skip_all "$(head -n 1 "$tmp/build")"
"$tmp/prog" "$tmp/cpu.pb.gz"

# each address with its frames: "0x4012ab name:line name:line"
frames() {
	prof-render -f text "$1" | awk '
	$1 == "function" { name[$2] = $3 }
	$1 == "location" {
		line = $4
		for (i = 5; i <= NF; i++) {
			split($i, f, ":")
			line = line " " name[substr(f[1], 2)] ":" f[2]
		}
		print line
	}' | sort
}
prof-render -f text "$tmp/cpu.pb.gz" | sed -e '/^function/d' -e 's/^\(mapping .*\) [FNLI]*$/\1 -/' \
	-e 's/^\(location [^ ]* [^ ]* [^ ]*\) .*/\1/' >"$tmp/raw"
! grep -q 'spin' "$tmp/raw"
ok $? 'the names are gone'
prof-symbolize "$tmp/raw" >"$tmp/ours.pb.gz"
frames "$tmp/cpu.pb.gz" >"$tmp/want"
frames "$tmp/ours.pb.gz" >"$tmp/got"
like "$tmp/want" '":[0-9]+ "' 'the runtime tells of inlined frames'
total=$(wc -l <"$tmp/want")
for f in got want; do
	sed 's/":[0-9]*/"/g' "$tmp/$f" >"$tmp/$f.names"
done
same "$tmp/got.names" "$tmp/want.names" "all $total addresses named as the runtime names them"
# Go's DWARF has a few addresses with the line of an inlined function but no record of the
# inlining (1.19: 0x41389a in bulkBarrierPreWriteSrcOnly); the runtime reads its own tables.
# Where it has another line than we have, another reader of the DWARF must have ours.
comm -13 "$tmp/want" "$tmp/got" >"$tmp/ours"
differ=$(wc -l <"$tmp/ours")
what="their lines too, but for what the DWARF lacks: $differ of $total"
if [ "$differ" -gt 0 ] && ! command -v llvm-symbolizer >/dev/null; then
	skip 'no llvm-symbolizer' "$what"
	done_testing
fi
: >"$tmp/theirs"
while read -r address _; do
	# two lines a frame: the name, which for assembly is the symbol's, and "FILE:LINE:COLUMN"
	llvm-symbolizer --inlines -e "$tmp/prog" "$address" | awk -v line="$address" '
	NF && NR % 2 { sub(/\.abi0$/, ""); line = line " \"" $0 "\"" }
	NF && NR % 2 == 0 { n = split($0, part, ":"); line = line ":" part[n - 1] }
	END { print line }' >>"$tmp/theirs"
done <"$tmp/ours"
same "$tmp/ours" "$tmp/theirs" "$what" || diff "$tmp/want" "$tmp/got" | diag
done_testing
