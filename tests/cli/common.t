#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What DESIGN promises of every program: messages, exit statuses, -o, bad input, directories.
. "$top/tests/lib/tap.sh"

cat >"$tmp/good.txt" <<'END'
# profpipe text 1
profile
type "samples" "count"
function 1 "main" "main" "main.c" 1
location 1 m0 0x10 f1:2:0
sample 5 : 1
end
END
good=$tmp/good.pb.gz
prof-merge -o "$good" "$tmp/good.txt" || exit 1
printf 'not a profile at all' >"$tmp/bad"
: >"$tmp/empty"
gzip -c "$tmp/empty" >"$tmp/empty.gz"
head -c 60 "$good" >"$tmp/cut.pb.gz"

# read_by PROGRAM ARGUMENT…: PROGRAM, reading the arguments that are not options.
read_by() {
	rb_program=$1
	shift
	case $rb_program in
	prof-diff) prof-diff "$@" "$good" ;; # base and new
	prof-render) prof-render -f text "$@" ;;
	*) "$rb_program" "$@" ;;
	esac
}

# one_line DESCRIPTION: the last run ended 2 with one line that begins with the program's name.
one_line() {
	if [ "$status" -eq 2 ] && [ "$(wc -l <"$tmp/err")" -eq 1 ] &&
		grep -q "^$name: " "$tmp/err"; then
		ok 0 "$1"
	else
		ok 1 "$1"
		{ echo "status $status"; head -n 5 "$tmp/err"; } | diag
	fi
}

readers=
for program in "$build"/bin/prof-*; do
	[ -x "$program" ] || continue
	name=$(basename "$program")
	[ "$name" = prof-capture ] || readers="$readers $name"

	run "$name" --help
	is "$status" 0 "$name --help: exit status"
	like "$tmp/out" "^Usage: $name" "$name --help: on standard output"
	run "$name" --version
	is "$status" 0 "$name --version: exit status"
	is "$(wc -l <"$tmp/out")" 1 "$name --version: one line on standard output"
	refuses "$name -o '': no name" "$name" -o ''
	like "$tmp/err" "^$name: --output: no file name\$" "and says so"
	# the message goes into a pipe, which may be as long as it likes
	{
		(ulimit -f 0 && exec "$name" --help >"$tmp/limited") 2>&1
		echo "$?" >"$tmp/status"
	} | cat >"$tmp/err"
	status=$(cat "$tmp/status")
	one_line "$name: a limit on the size of files"
	run "$name" --no-such-option
	is "$status" 2 "$name: an unknown option: exit status"
	is "$(wc -c <"$tmp/out")" 0 "$name: an unknown option: nothing on standard output"
	run sh -c "'$name' --help >/dev/full"
	is "$status" 2 "$name --help >/dev/full: exit status"
done

for name in $readers; do
	# output that does not arrive
	run sh -c '"$@" >/dev/full' sh "$name" "$good" "$good"
	one_line "$name >/dev/full: one line, exit 2"
	refuses "$name -o in no directory" read_by "$name" -o "$tmp/absent/out" "$good"
	refuses "$name -o on a directory" read_by "$name" -o "$tmp" "$good"
	refuses "$name -o without a name" read_by "$name" -o '' "$good"
	refuses "$name -o /dev/full" read_by "$name" -o /dev/full "$good"
	run sh -c '"$@" >&-' sh "$name" "$good" "$good"
	one_line "$name: closed standard output: one line, exit 2"
	read_by "$name" -o "$tmp/out1" "$good" 2>/dev/null
	read_by "$name" -v -v -o "$tmp/out2" "$good" 2>&-
	cmp -s "$tmp/out1" "$tmp/out2"
	ok $? "$name: without standard error, messages do not go into the output"
	run sh -c '"$@" | head -c 1' sh "$name" "$good" "$good"
	is "$(wc -c <"$tmp/err")" 0 "$name: a reader that leaves is met with silence"

	# input that is none, or not good
	for input in /dev/null "$tmp/empty" "$tmp/empty.gz"; do
		refuses "$name: $(basename "$input") is refused" read_by "$name" "$input"
		like "$tmp/err" 'no profile in input$' "$name: … as no profile in input"
	done
	refuses "$name: a file that is not there" read_by "$name" "$tmp/absent"
	like "$tmp/err" "^$name: $tmp/absent: No such file or directory$" "$name: … named"
	refuses "$name: not a profile" read_by "$name" "$tmp/bad"
	refuses "$name: a member cut short" read_by "$name" "$tmp/cut.pb.gz"
	like "$tmp/err" "^$name: $tmp/cut.pb.gz: truncated gzip member at byte 60" "$name: … where"
	cat "$good" "$tmp/cut.pb.gz" >"$tmp/second.pb.gz"
	run read_by "$name" "$tmp/second.pb.gz"
	one_line "$name: the second member cut short: one line, exit 2"
	like "$tmp/err" ': member 2: truncated' "$name: … with its number"
	hostile="$tmp/$(printf 'evil\033[31m\nname\302\233.pb.gz')"
	cp "$tmp/bad" "$hostile"
	refuses "$name: a hostile file name" read_by "$name" "$hostile"
	is "$(tr -cd '\033\233' <"$tmp/err" | wc -c)" 0 "$name: … does not reach the terminal"
	refuses "$name: larger than --max-size" read_by "$name" --max-size 20 "$good"
	refuses "$name: --max-size that is no size" read_by "$name" --max-size 1X "$good"

	# a file without a byte, among good ones; nothing in a stream is nothing
	case $name in
	prof-diff) set -- --new "$good" --base ;;
	prof-render) set -- -f text ;;
	*) set -- ;;
	esac
	run "$name" -o "$tmp/none" "$@" "$good" "$tmp/empty"
	one_line "$name: an empty file beside a good one: one line, exit 2"
	like "$tmp/err" ": $tmp/empty: empty file: no profile in input\$" "$name: … named"
	run "$name" --skip-bad "$@" "$tmp/empty" "$good"
	is "$status $(grep -c "$tmp/empty: empty file" "$tmp/err")" "0 1" "$name --skip-bad: … goes on"
	cat "$tmp/empty.gz" "$good" "$tmp/empty.gz" "$tmp/empty" >"$tmp/stream"
	run "$name" "$@" "$good" "$tmp/stream" "$tmp/empty.gz"
	is "$status" 0 "$name: an empty member is passed over"
	run "$name" "$@" "$good" - </dev/null
	is "$status" 0 "$name: … and so is empty standard input beside a good file"

	# -o: whole or not at all
	echo old >"$tmp/kept"
	run read_by "$name" -o "$tmp/kept" "$tmp/second.pb.gz"
	is "$(cat "$tmp/kept")" old "$name: after an error the old file is there"
	mkfifo "$tmp/fifo"
	mkdir "$tmp/dir"
	exec 9<>"$tmp/fifo" # both ways: opening waits for nobody
	cat "$good" >&9
	(exec "$name" -o "$tmp/dir/out.txt" "$tmp/fifo" "$good" 2>"$tmp/err" 9>&-) &
	pid=$!
	sleep 0.2
	kill -9 "$pid"
	ok $? "$name: waits for the end of its input" || diag "$tmp/err"
	exec 9>&-
	wait "$pid" 2>/dev/null
	is "$(ls "$tmp/dir")" '' "$name: killed, nothing is left under a name that shows"
	rm -rf "$tmp/fifo" "$tmp/dir"

	# --skip-bad
	case $name in
	prof-diff) set -- --new "$good" --base ;;
	prof-render) set -- -f text ;;
	*) set -- ;;
	esac
	run "$name" --skip-bad -o "$tmp/out1" "$@" "$tmp/bad" "$good" "$tmp/absent" "$tmp/cut.pb.gz"
	is "$status" 0 "$name --skip-bad: exit status"
	is "$(grep -c "^$name: $tmp/\(bad\|absent\|cut.pb.gz\): " "$tmp/err")" 3 \
		"$name --skip-bad: each bad one is named"
	"$name" -o "$tmp/out2" "$@" "$good" 2>/dev/null
	cmp -s "$tmp/out1" "$tmp/out2"
	ok $? "$name --skip-bad: the rest as without them"
	run "$name" --skip-bad "$@" "$tmp/bad" "$tmp/cut.pb.gz"
	is "$status" 2 "$name --skip-bad: exit status when none was good"
	is "$(wc -c <"$tmp/out")" 0 "$name --skip-bad: … and no output"

	# a store's levels overlap
	mkdir -p "$tmp/store/sub"
	cp "$good" "$tmp/store/a.pb.gz"
	: >"$tmp/store/sub/.profpipe-store"
	refuses "$name: a directory that is a store" read_by "$name" "$tmp/store"
	like "$tmp/err" 'use prof-spool query' "$name: … says what to use"
	rm -rf "$tmp/store"
done

# directories: all *.pb.gz below, no other names, no hidden ones
mkdir -p "$tmp/d/a/b" "$tmp/d/.hidden" "$tmp/d/x.pb.gz" "$tmp/empty-dir"
for file in a/b/1 a/2 3 .4 .hidden/5 x.pb.gz/6; do
	cp "$good" "$tmp/d/$file.pb.gz"
done
cp "$tmp/bad" "$tmp/d/notes.txt"
ln -s .. "$tmp/d/a/round"
is "$(prof-merge "$tmp/d" | prof-render -f text | sed -n 's/^sample \([0-9]*\) .*/\1/p')" 20 \
	'a directory means the *.pb.gz below it'
refuses 'a directory without any' prof-merge "$tmp/empty-dir"

# a choice that nothing fits: said, in one line, and no error where there is something to say
for name in prof-merge prof-render; do
	run "$name" -s app=x "$good"
	is "$status $(cat "$tmp/err")" "0 $name: no sample fits the selector" \
		"$name: a selector that nothing fits: a note"
	run "$name" -q -s app=x "$good"
	is "$status $(wc -c <"$tmp/err")" "0 0" "$name: none with -q"
	run "$name" -s app= --focus main --hide '^main$' "$good"
	is "$status $(wc -c <"$tmp/err")" "0 0" "$name: none when all fits"
done
for option in focus ignore show hide show-from; do
	for name in prof-merge prof-render "prof-render -f text" "prof-render -f html"; do
		run $name "--$option" nowhere "$good"
		is "$status $(cat "$tmp/err")" "0 ${name%% *}: --$option matches nothing" \
			"$name: --$option that nothing fits: a note"
	done
done
run prof-diff --ignore nowhere "$good" "$good"
is "$status $(cat "$tmp/err")" "0 prof-diff: --ignore matches nothing" \
	"prof-diff: --ignore that nothing fits: a note"
for name in prof-merge prof-render "prof-render -f text" "prof-diff $good"; do
	for choice in '-t nope' '--until @-1' '--since 2100-01-01T00:00:00Z'; do
		# shellcheck disable=SC2086 # words of their own
		refuses "$name $choice: nothing is left" $name $choice "$good"
	done
done

# terminals
if command -v script >/dev/null; then
	for name in prof-merge prof-symbolize; do
		status=0
		script -qec "$name $good" /dev/null </dev/null >"$tmp/out" 2>&1 || status=$?
		is "$status" 2 "$name: a terminal as output: exit status"
		like "$tmp/out" 'will not write a binary profile to a terminal' "$name: … says why"
	done
	for name in $readers; do
		[ "$name" != prof-diff ] || continue # reads no standard input unasked
		status=0
		script -qec "$name >/dev/null" /dev/null </dev/null >"$tmp/out" 2>&1 || status=$?
		is "$status" 2 "$name: a terminal as input: exit status"
		like "$tmp/out" '^Usage: ' "$name: … shows the usage"
	done
else
	skip 'no script(1)' 'terminals'
fi
done_testing
