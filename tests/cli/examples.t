#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Each example of README.md and of the EXAMPLES in the man pages is run as it is written, in a
# directory that has the files it names: each of its commands must end well, and leave something.
#
# What is not as written: prompts go, and /var is a directory of the test. prof-capture is told
# one second for each time (with PROFPIPE_LONG=1 ten, in intervals of two), and what has no end
# gets Ctrl-C.
# sudo is nothing where root runs the test. curl finds the two Go services at other ports.
. "$top/tests/lib/tap.sh"

# Examples that are not run: how a line of them begins, and why. No entry may be left over.
not_run='scripts/demo	tests/cli/demo.t runs it
scripts/check	it runs this test
scripts/install-packages build	installs packages; tests/cli/make.t makes and installs
sudo prof-spool init	tests/cli/spool-run.t and spool.t do the same
* * * * *	lines of crontab; tests/cli/spool-run.t and scrape.t run what they do
sudo prof-scrape run --spool	tests/cli/scrape.t does the same, of a server of its own
prof-scrape run --spool	tests/cli/scrape.t does the same, of a server of its own
prof-spool query --since=	tests/cli/spool.t asks for ranges, of a store with a past
prof-diff --base $(prof-spool	tests/cli/spool.t has a store with a past, and prints its files'

cd "$top" || exit
awk -f tests/lib/examples.awk README.md docs/*.5 tools/*/prof-*.1 scripts/prof-*.1 >"$tmp/lines"
cut -f1 "$tmp/lines" | uniq >"$tmp/places"
for page in README.md docs/*.5 tools/*/prof-*.1 scripts/prof-*.1; do
	grep -q "^$page:" "$tmp/places"
	ok $? "$page has examples"
done

# --- programs that stand in for others ---------------------------------------------------------
shim=$tmp/shim
mkdir "$shim"
duration=1s
interval=1s
if [ "${PROFPIPE_LONG:-}" ]; then
	duration=10s
	interval=2s
fi
cat >"$shim/prof-capture" <<END
#!/bin/bash
args=()
while [ \$# -gt 0 ] && [ "\$1" != -- ]; do
	args+=("\$1")
	case \$1 in
	-d) args+=($duration); shift ;;
	-i) args+=($interval); shift ;;
	esac
	shift
done
exec $build/bin/prof-capture "\${args[@]}" "\$@"
END
[ "$(id -u)" -ne 0 ] || printf '#!/bin/sh\nexec "$@"\n' >"$shim/sudo"

may_capture=no
why_not='needs root'
if [ "$(id -u)" -eq 0 ]; then
	if "$build/bin/prof-capture" -q -d 0.05 >"$tmp/try.pb.gz" 2>"$tmp/err"; then
		may_capture=yes
	else
		why_not=$(head -n 1 "$tmp/err")
	fi
fi

# start EXAMPLE: the processes that it wants to see, and one so that there is something to see.
background=
start() {
	for name in some app postgres; do
		if [ "$name" = some ] || grep -qE "['\"]${name}[*'\"]" "$1"; then
			cp "$build/tests/lib/workload" "$tmp/$name"
			"$tmp/$name" split 600 >/dev/null &
		elif grep -q "pidof $name" "$1"; then # its memory is of interest
			cp "$build/tests/lib/allocload" "$tmp/$name"
			"$tmp/$name" slowly 600000 &
		else
			continue
		fi
		background="$background $!"
	done
}
stop() {
	for pid in $background; do
		kill "$pid" 2>/dev/null
		wait "$pid" 2>/dev/null
	done
	background=
}
trap 'stop; rm -rf "$tmp"' EXIT

# Two Go services, and a curl that finds them.
services() {
	mkdir "$tmp/go"
	cat >"$tmp/go/main.go" <<'END'
package main

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	_ "net/http/pprof"
)

func main() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Println(l.Addr().(*net.TCPAddr).Port)
	go func() {
		for v := []int{1, 2, 3}; ; {
			b, _ := json.Marshal(v)
			json.Unmarshal(b, &v)
		}
	}()
	http.Serve(l, nil)
}
END
	(cd "$tmp/go" && GO111MODULE=off GOCACHE=${GOCACHE:-$tmp/gocache} CGO_ENABLED=0 \
		go build -o "$tmp/service" main.go) 2>"$tmp/err" || return
	{
		echo '#!/bin/bash'
		[ "${PROFPIPE_LONG:-}" ] || echo 'set -- "${@//seconds=10/seconds=1}"'
		for name in 6060 6061; do
			"$tmp/service" >"$tmp/port" &
			background="$background $!"
			while [ ! -s "$tmp/port" ] && kill -0 $!; do
				sleep 0.1
			done
			printf 'set -- "${@//127.0.0.1:%s/127.0.0.1:%s}"\n' $name "$(cat "$tmp/port")"
			: >"$tmp/port"
		done
		printf 'exec %s "$@"\n' "$(command -v curl)"
	} >"$shim/curl"
	chmod +x "$shim/curl"
}

# --- what the examples read ---------------------------------------------------------------------
# twin SECONDS-AGO PARSE FIB LABELS: ten seconds of CPU time, as text
twin() {
	cat <<END
# profpipe text 1
profile
time $(($(date +%s) - $1))000000000
duration 10000000000
period "cpu" "nanoseconds" 10000000
type "samples" "count"
type "cpu" "nanoseconds" default
mapping 1 0x400000 0x500000 0x0 "/usr/bin/app" "aa" FNL
function 1 "main" "main" "app.c" 10
function 2 "parse" "parse" "parse.c" 20
function 3 "malloc" "malloc" "malloc.c" 30
function 4 "fib" "fib" "fib.c" 40
location 1 m1 0x401000 f1:12:0
location 2 m1 0x402000 f2:22:0
location 3 m1 0x403000 f3:32:0
location 4 m1 0x404000 f4:42:0
sample $2 ${2}0000000 : 2 1 : $4
sample 40 400000000 : 3 2 1 : $4
sample $3 ${3}0000000 : 4 1 : $4
end
END
}

inputs=$tmp/inputs
mkdir "$inputs"
cd "$inputs" || exit
mkdir -p v1 v2 old new var/tmp/prof
labels='"comm"="app" "pod"="web-7f9c"'
twin 9000 2000 4000 "$labels" | prof-merge -o v1/1.pb.gz
twin 8000 2050 1000 "$labels" | prof-merge -o v2/1.pb.gz
for i in $(seq 2 30); do
	cp v1/1.pb.gz "v1/$i.pb.gz"
	cp v2/1.pb.gz "v2/$i.pb.gz"
done
cp v1/[1-3].pb.gz old
cp v2/[1-3].pb.gz new
for name in v1 v2 old new; do
	prof-merge -o $name.pb.gz $name
done
cp old.pb.gz a.pb.gz
cp new.pb.gz b.pb.gz
cp v1.pb.gz app.pb.gz
cp v1.pb.gz day.pb.gz
for ago in 3000 1500 300; do
	twin $ago 200 400 "$labels \"version\"=\"1\"" | prof-merge -o var/tmp/prof/1-$ago.pb.gz
	twin $ago 205 100 "$labels \"version\"=\"2\"" | prof-merge -o var/tmp/prof/2-$ago.pb.gz
done
twin 100 7 9 "$labels" | sed 's/"samples" "count"/"alloc_objects" "count"/
	s/"cpu" "nanoseconds" default/"alloc_space" "bytes"/' | prof-merge -o heap.pb.gz
# addresses alone, of a program that is not in its place
mkdir -p rootfs/usr/bin dbg/.build-id/11
gcc -g -O2 -Wl,--build-id=0x1122334455 -DBUILD_ID='"1122334455"' -o rootfs/usr/bin/app \
	"$top/tests/symbolize/whereami.c" 2>"$tmp/err"
ok $? 'a program in rootfs' || diag "$tmp/err"
objcopy --only-keep-debug rootfs/usr/bin/app dbg/.build-id/11/22334455.debug
rootfs/usr/bin/app | sed "s|\"[^\"]*/rootfs/|\"/|" | prof-merge -o raw.pb.gz
mkdir bin lib
cp rootfs/usr/bin/app bin/app
cp rootfs/usr/bin/app lib/libapp.so
printf '#!/bin/sh\nexec %s burn 500\n' "$build/tests/lib/workload" >program
chmod +x program
printf 'all:\n\t%s split 0.5 >made\n' "$build/tests/lib/workload" >Makefile
# what a run makes is what is younger
find . -type f -exec touch -d '1 hour ago' {} +
chmod +x "$shim"/*

# --- each of them -------------------------------------------------------------------------------
# reason EXAMPLE: why it is not run, or nothing
reason() {
	echo "$not_run" | while IFS='	' read -r how because; do
		if grep -q "^$how" "$1"; then
			echo "$how" >>"$tmp/used"
			echo "$because"
		fi
	done
	! grep -qE 'prof-capture|sudo' "$1" || [ $may_capture = yes ] || echo "$why_not"
	! grep -q curl "$1" || command -v go >/dev/null || echo 'no Go compiler'
}

# outcome DIR: what is wrong with what a run left
outcome() {
	find "$1" -type f -mmin -30 >"$tmp/new"
	while read -r file; do
		[ -s "$file" ] || echo "$file is empty"
	done <"$tmp/new"
	if [ ! -s "$tmp/new" ] && [ ! -s "$tmp/out" ]; then
		# the answer may be what is said
		if ! grep -q '>/dev/null$' "$tmp/example" || [ ! -s "$tmp/err" ]; then
			echo 'no output'
		fi
	fi
	awk '/flat +flat%/ { head = NR } END { if (head && head == NR) print "an empty table" }' \
		"$tmp/out"
}

n=0
while read -r place; do
	grep "^$place	" "$tmp/lines" | cut -f2- >"$tmp/example"
	what="$place: $(tr -s '\n ' ' ' <"$tmp/example" | cut -c 1-110)"
	why=$(reason "$tmp/example" | head -n 1)
	if [ "$why" ]; then
		skip "$why" "$what"
		continue
	fi
	if head -n 1 "$tmp/example" | grep -q '^# profpipe text 1$'; then
		prof-render -f text "$tmp/example" >"$tmp/out"
		same "$tmp/out" "$tmp/example" "$place: a profile as text, written again as it is"
		continue
	fi
	n=$((n + 1))
	dir=$tmp/run.$n
	cp -a "$inputs" "$dir"
	sed "s|/var/|$dir/var/|g" "$tmp/example" >"$tmp/script"
	until=
	if grep -q prof-capture "$tmp/example"; then
		start "$tmp/example"
		grep -qE 'prof-capture.* (-d|-n|--) ' "$tmp/example" ||
			until='timeout --preserve-status -s INT 3'
	fi
	if grep -q curl "$tmp/example"; then
		services
		ok $? 'two Go services' || diag "$tmp/err"
	fi
	want=0
	# diff says 1 of profiles that differ, as ours do
	! grep -qE '(^|\| )diff ' "$tmp/example" || want=1
	status=0
	# shellcheck disable=SC2086
	(cd "$dir" && PATH=$shim:$PATH $until bash -e -o pipefail "$tmp/script") \
		>"$tmp/out" 2>"$tmp/err" </dev/null || status=$?
	stop
	outcome "$dir" >"$tmp/wrong"
	[ "$status" -eq $want ] && [ ! -s "$tmp/wrong" ]
	ok $? "$what" || { echo "status $status"; head -n 5 "$tmp/wrong" "$tmp/err" "$tmp/out"; } | diag
	rm -rf "$dir"
done <"$tmp/places"

echo "$not_run" | cut -f1 | sort >"$tmp/want"
sort -u "$tmp/used" >"$tmp/got"
same "$tmp/got" "$tmp/want" 'each entry of what is not run is an example'
done_testing
