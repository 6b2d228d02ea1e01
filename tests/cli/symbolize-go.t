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
	"syscall"
)

type item struct {
	Name string
	Size []int
}

type number interface{ int | float64 }

//go:noinline
func most[T number](v []T) (m T) {
	for i := 0; i < 2000; i++ {
		for _, x := range v {
			if x > m {
				m = x
			}
		}
	}
	return
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

// In ms: a busy machine must not make a profile of few samples.
func cpu() int64 {
	var used syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &used)
	return (used.Utime.Nano() + used.Stime.Nano()) / 1e6
}

func main() {
	f, _ := os.Create(os.Args[1])
	pprof.StartCPUProfile(f)
	n := 0
	for cpu() < 1500 {
		n += spin(10000) + most([]int{1, n, 3}) + int(most([]float64{1, 2}))
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
strip_names() { # strip_names PROFILE RAW
	prof-render -f text "$1" | sed -e '/^function/d' \
		-e 's/^\(mapping .*\) [FNLI]*$/\1 -/' \
		-e 's/^\(location [^ ]* [^ ]* [^ ]*\) .*/\1/' >"$2"
	! grep -q spin "$2"
}
agree() { # agree PROFILE WHAT [OPTION...]
	strip_names "$1" "$tmp/raw"
	ok $? "$2: the names are gone"
	frames "$1" >"$tmp/want"
	shift
	what=$1
	shift
	prof-symbolize -v "$@" "$tmp/raw" >"$tmp/ours.pb.gz" 2>"$tmp/report"
	frames "$tmp/ours.pb.gz" >"$tmp/got"
	same "$tmp/got" "$tmp/want" \
		"$what: all $(wc -l <"$tmp/want") addresses as the runtime has them"
}

"$tmp/prog" "$tmp/cpu.pb.gz"
agree "$tmp/cpu.pb.gz" 'with DWARF'
like "$tmp/want" '":[0-9]+ "' 'the runtime tells of inlined frames'
like "$tmp/want" 'main\.most\[\.\.\.\]' 'and of generic functions'
like "$tmp/report" '^prog +[0-9]+  gopclntab +[0-9]+$' 'the report names the source'
# What ships is stripped; sections stay, and with them the table.
strip -o "$tmp/stripped" "$tmp/prog"
! readelf -SW "$tmp/stripped" | grep -q '\.debug_info\|\.symtab'
ok $? 'strip has taken DWARF and symbols'
agree "$tmp/cpu.pb.gz" 'stripped' --binary="$tmp/stripped"

# Where the text starts and where the inline trees are, is in relocations.
build() { # build NAME OPTION...: run it, too
	name=$1
	shift
	(cd "$tmp/go" && GO111MODULE=off GOCACHE=${GOCACHE:-$tmp/gocache} \
		go build -o "$tmp/$name" "$@") 2>"$tmp/build" && "$tmp/$name" "$tmp/$name.pb.gz"
}
pie='position independent, stripped'
if build pie -buildmode=pie -ldflags='-s -w' main.go; then
	agree "$tmp/pie.pb.gz" "$pie"
else
	skip "$(head -n 1 "$tmp/build")" "$pie"
fi
# The C linker puts the table where no section is named after it, and C before Go.
cat >"$tmp/go/c.go" <<'END'
package main

// int twice(int x) { return x + x; }
import "C"

func init() { C.twice(1) }
END
cgo='with C, position independent, stripped'
if CGO_ENABLED=1 build cgo -buildmode=pie -ldflags='-s -w -linkmode=external' main.go c.go; then
	readelf -SW "$tmp/cgo" | grep -q 'gopclntab'
	is "$?" 1 "$cgo: no section has the table's name"
	agree "$tmp/cgo.pb.gz" "$cgo"
else
	skip "$(head -n 1 "$tmp/build")" "$cgo"
fi

# Go's own reader of the table, which knows of no inlining: outermost name, innermost line.
go tool nm -size -sort address "$tmp/prog" | awk '
	$3 == "T" && $2 > 8 && ++n % 3 == 0 { print $1 }' >"$tmp/addrs"
symaddr "$tmp/stripped" <"$tmp/addrs" | awk 'BEGIN { RS = ""; FS = "\n" } {
	sub(/:0$/, "", $2); print $(NF - 1); print $2 }' >"$tmp/ours"
go tool addr2line "$tmp/stripped" <"$tmp/addrs" >"$tmp/theirs"
same "$tmp/ours" "$tmp/theirs" "$(wc -l <"$tmp/addrs") functions' starts as go tool addr2line"
done_testing
