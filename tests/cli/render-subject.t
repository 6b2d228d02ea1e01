#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What headings say a profile is of: the program by the samples' labels, not the heaviest library.
. "$top/tests/lib/tap.sh"

# profile SAMPLES: of two programs and a library in which most of the time is
profile() {
	cat <<-'END'
	# profpipe text 1
	profile
	time 1700000000000000000
	duration 10000000000
	period "cpu" "nanoseconds" 10000000
	type "cpu" "nanoseconds" default
	mapping 1 0x7000 0x8000 0x0 "/lib/libc.so.6" "c0ffee" -
	mapping 2 0x1000 0x2000 0x0 "/usr/bin/app" "abcd01" -
	mapping 3 0x3000 0x4000 0x0 "/usr/bin/other" "abcd02" -
	location 1 m1 0x7010
	location 2 m2 0x1010
	location 3 m3 0x3010
	END
	printf '%s\n' "$1" end
}

# of DESCRIPTION FILE-AND-BUILD-ID TITLE SAMPLES
of() {
	profile "$4" >"$tmp/in"
	prof-render -q "$tmp/in" | sed -n '/^Type:/q; s/^File: //p; s/^Build ID: //p' |
		paste -s -d ' ' >"$tmp/file"
	is "$(cat "$tmp/file")" "$2" "$1: table"
	prof-render -q -f svg "$tmp/in" | sed -n 's|^<title id="t">\(.*\)</title>$|\1|p' >"$tmp/title"
	is "$(cat "$tmp/title")" "$3" "$1: picture"
	prof-render -q -f html "$tmp/in" | sed -n 's|^<title>\(.*\)</title>$|\1|p' >"$tmp/title"
	want=${3%: cpu}
	[ "$want" != cpu ] || want='cpu profile'
	is "$(cat "$tmp/title")" "$want" "$1: page"
}

app='"executable"="/usr/bin/app" "comm"="app" "node"="alpha"'
other='"executable"="/usr/bin/other" "comm"="other" "node"="alpha"'

of 'no labels' 'libc.so.6 c0ffee' 'libc.so.6: cpu' 'sample 9 : 1 2 :'
of 'one program, most of it in a library' 'app abcd01' 'app: cpu' "\
sample 9 : 1 : $app
sample 1 : 1 2 : $app"
of 'several programs' '' 'alpha: cpu' "\
sample 5 : 1 2 : $app
sample 5 : 1 3 : $other"
of 'one of several has most' 'other abcd02' 'other: cpu' "\
sample 5 : 1 2 : $app
sample 6 : 1 3 : $other"
of 'most is of no program' '' 'alpha: cpu' "\
sample 2 : 1 : \"comm\"=\"kworker\" \"node\"=\"alpha\"
sample 2 : 1 3 : $other"
of 'several programs of two machines' '' 'cpu' "\
sample 5 : 1 2 : $app
sample 5 : 1 3 : \"executable\"=\"/usr/bin/other\" \"node\"=\"beta\""
of 'process names alone' 'other' 'other: cpu' 'sample 9 : 1 3 : "comm"="other"'
of 'process names alone, of several' '' 'cpu' '
sample 5 : 1 2 : "comm"="app"
sample 5 : 1 3 : "comm"="other"'
of 'process name, and a program that is no library' 'app abcd01' 'app: cpu' \
	'sample 9 : 2 : "comm"="worker"'
of 'as negative as positive' 'other abcd02' 'other: cpu' "\
sample 5 : 1 2 : $app
sample -6 : 1 3 : $other"

profile "sample 6 : 1 2 : $app
sample 5 : 3 : $other" >"$tmp/in"
is "$(prof-render -q --focus other "$tmp/in" | sed -n 's/^File: //p')" other \
	'of what the stack filters leave'
done_testing
