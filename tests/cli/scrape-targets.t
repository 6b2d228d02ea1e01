#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The targets file of prof-scrape, and its usage.
. "$top/tests/lib/tap.sh"
. "$top/tests/lib/scrape.sh"

# shown LINE…: what status has of them, without what it has in all of them
shown() {
	targets "$@"
	prof-scrape status --state="$state" "$tmp/targets" 2>"$tmp/err" | sed 1d | cut -f1-4 | tr '\t' ' '
}

is "$(shown 'http://h:1 job=a')" 'new a h:1 profile
new a h:1 heap
new a h:1 goroutine' 'what a target has by itself'
is "$(shown '# nothing' '' '  # nothing' "http://h$tab job=a  profiles=mutex # word" \
	'https://[::1]/x job=b profiles=block label.a=b label.c.d=e=f')" 'new a h:80 mutex
new b [::1]:443 block' 'comments, blanks, ports'
printf 'http://h:1 job=a profiles=heap\r\n' >"$tmp/targets"
is "$(prof-scrape status --state="$state" "$tmp/targets" | sed 1d | cut -f4)" heap 'lines of DOS'

# bad REASON LINE: the second line is the reason
bad() {
	targets '# one' "$2"
	refuses "$2" prof-scrape run --once --state="$state" "$tmp/targets"
	is "$(cat "$tmp/err")" "prof-scrape: $tmp/targets:2: $1" '… is said'
}
bad 'not a URL of http or https: ftp://h' 'ftp://h job=a'
bad 'not a URL of http or https: file:///etc/passwd' 'file:///etc/passwd job=a'
bad 'not a URL of http or https: job=a' 'job=a http://h'
bad 'no name and password in a URL, please: bearer-file= keeps a secret' 'http://me:word@h job=a'
bad 'no ? and # in a URL, please' 'http://h/?token=x job=a'
bad 'not a host: ' 'http:/// job=a'
bad 'not a host: a"b' 'http://a"b job=a'
bad 'not a host: {a,b}' 'http://{a,b} job=a'
bad 'not a port: h:65536' 'http://h:65536 job=a'
bad 'not a path of a URL: /a\b' 'http://h/a\b job=a'
bad 'no job=' 'http://h'
bad 'not KEY=VALUE: job=' 'http://h job='
bad 'not KEY=VALUE: word' 'http://h job=a word'
bad 'not a setting: jobs' 'http://h jobs=a'
bad 'not a setting: label.' 'http://h job=a label.=b'
bad 'not a setting: label.1' 'http://h job=a label.1=b'
bad 'a label that is there anyway: label.job' 'http://h job=a label.job=b'
bad 'label.x= is there twice' 'http://h job=a label.x=1 label.x=2'
bad 'not a time: interval=0' 'http://h job=a interval=0'
bad 'not a time: timeout=1w' 'http://h job=a timeout=1w'
bad 'not a time: seconds=-1' 'http://h job=a seconds=-1'
bad 'longer than a year: timeout=999999d' 'http://h job=a timeout=999999d'
bad 'longer than a year: interval=367d' 'http://h job=a interval=367d'
bad 'not the name of a file: bearer-file=-' 'http://h job=a bearer-file=-'
bad 'a line of more than 64 kB' "http://h job=a label.x=$(head -c 70000 /dev/zero | tr '\0' a)"
bad 'seconds=9 is longer than interval=8' 'http://h job=a interval=8 seconds=9'
bad 'not a profile: cpu (profile heap allocs goroutine block mutex threadcreate fgprof)' \
	'http://h job=a profiles=heap,cpu'
bad 'heap of this job and host is in line 2 already; heap and allocs are the same' \
	'http://h job=a profiles=heap,heap'
bad 'allocs of this job and host is in line 2 already; heap and allocs are the same' \
	'http://h job=a profiles=heap,allocs'
bad 'a control character' "$(printf 'http://h job=a\033[31m')"
bad 'job= is too long' "http://h job=$(head -c 201 /dev/zero | tr '\0' a)"
bad 'no job=' 'http://h:80/x profiles=heap'
targets 'http://h job=a profiles=mutex' 'http://h:80/other job=a profiles=heap,mutex'
refuses 'what could not be told apart' prof-scrape status "$tmp/targets"
like "$tmp/err" 'targets:2: mutex of this job and host is in line 1 already$' '… is said'
is "$(shown 'http://h job=a profiles=heap' 'http://h job=b profiles=heap' | wc -l)" 2 \
	'two jobs of a host can'
seq 700 | sed 's|.*|http://h& job=a|' >"$tmp/targets"
refuses 'too many' prof-scrape status "$tmp/targets"
like "$tmp/err" 'targets:667: more than 2000 profiles' '… where'
targets '# none'
refuses 'no target' prof-scrape status "$tmp/targets"
refuses 'no file' prof-scrape status "$tmp/absent"
refuses 'a directory' prof-scrape status "$tmp"

targets 'http://h job=a'
refuses 'no targets file' prof-scrape run
refuses 'two of them' prof-scrape run "$tmp/targets" "$tmp/targets"
refuses 'an unknown option' prof-scrape run --no-such-option "$tmp/targets"
refuses 'an option of another command' prof-scrape status --once "$tmp/targets"
refuses 'an option without its value' prof-scrape run --spool
refuses 'two destinations' prof-scrape run -o "$tmp/o" --spool="$tmp/s" "$tmp/targets"
refuses 'a size that is none' prof-scrape run --max-size=1X "$tmp/targets"
refuses 'a size of nothing' prof-scrape run --max-size=0 "$tmp/targets"
refuses 'an unknown command' prof-scrape walk
mkdir "$tmp/plain"
refuses 'a spool that is none' prof-scrape run --once --state="$state" --spool="$tmp/plain" "$tmp/targets"
: >"$tmp/plain/file"
refuses 'an output that cannot be' prof-scrape run -o "$tmp/plain/file/o" --state="$state" "$tmp/targets"
like "$tmp/err" "^prof-scrape: $tmp/plain/file/o: Not a directory" '… is said'
refuses 'a state that cannot be' prof-scrape run --once --state="$tmp/plain/file/s" "$tmp/targets"
refuses 'a state that is something else' prof-scrape run --once --state="$tmp/plain" "$tmp/targets"
is "$(ls -A "$tmp/plain")" file '… is left alone'
run prof-scrape --help
is "$status" 0 '--help'
like "$tmp/out" 'prof-scrape\(1\)' '… names the page'
run prof-scrape --version
like "$tmp/out" '^prof-scrape .*[0-9]+\.[0-9]+\.[0-9]+' '--version'
done_testing
