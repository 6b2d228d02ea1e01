# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# What prof-scrape does with one profile of one target, in a directory of its own:
#   get     an answer, as fetched
#   base    of a counter: the answer that the next one is counted from
#   out     what is to be handed over, with labels
#   status  up or down, of which time (twice), seconds it took, the last error
#
# While there is a get, it is not decided what it gives: after a crash both get and out go. An out
# without it is whole, and base has moved on: it is handed over before anything else is fetched. So
# what a counter gains is in one profile, whatever fails.

# printable: standard input as a reason that can be shown
printable() {
	head -n 1 | tr -cd '\040-\176' | cut -c 1-200
}

# in_background COMMAND…: so that a signal need not wait for its end
in_background() {
	"$@" 8>&- &
	child=$!
	r=0
	wait "$child" || r=$?
	child=
	return "$r"
}

end_child() {
	if [ "$child" ]; then
		kill "$child" 2>/dev/null || :
		# without the shell's word on how it ended
		wait "$child" 2>/dev/null || :
	fi
}

# stopped: told to; what is half fetched is nothing
stopped() {
	end_child
	recover
	rm -f curl.out curl.err merge.err status.new
	exit 0
}

# authorization: sets $header, which curl gets where ps does not see it
authorization() {
	header='' token=''
	[ "$bearer" != - ] || return 0
	# of a FIFO one might wait for ever
	{ [ -f "$bearer" ] && IFS= read -r token <"$bearer"; } 2>/dev/null || [ "$token" ] ||
		{ why="no token in $bearer" && return 1; }
	case $token in
	*[!A-Za-z0-9._~+/=-]*) why="not a bearer token: $bearer" && return 1 ;;
	esac
	[ ${#token} -le 16384 ] || { why="not a bearer token: $bearer" && return 1; }
	header="header = \"Authorization: Bearer $token\""
}

# answer: fetches it into get. A file may not grow over the limit, whatever length is announced.
answer() {
	trap '' XFSZ
	ulimit -f $((max_bytes / 512 + 1)) 2>/dev/null || :
	exec curl -q --config - --silent --show-error --globoff --proto =http,https \
		--connect-timeout "$timeout" --max-time $((timeout + length)) \
		--max-filesize "$max_bytes" --output get \
		--write-out '%{http_code} %{time_total}' -- "$url" >curl.out 2>curl.err <<-END
		$header
	END
}

fetch() {
	authorization || return
	: >get
	code=0 took='' r=0
	in_background answer || r=$?
	{ read -r code took <curl.out; } 2>/dev/null || [ "$took" ] || took=0
	case $r in
	0) ;;
	28) why="no complete answer within $((timeout + length)) s" ;;
	63) why="larger than $max_size" ;;
	*)
		why=$(sed 's/^curl: ([0-9]*) //' curl.err | printable)
		[ "$(wc -c <get)" -le "$max_bytes" ] || why="larger than $max_size"
		;;
	esac
	[ "$r" -eq 0 ] || return 1
	case $code in
	200) return 0 ;;
	'') ;; # there was no room for what curl says
	3??) why="HTTP $code: a redirect, which is not followed" ;;
	*)
		why=$(head -c 300 get | printable)
		case $why in
		'' | '<'*) why="HTTP $code" ;;
		*) why="HTTP $code: $why" ;;
		esac
		;;
	esac
	return 1
}

# conceal: a server may send the token back, and that is no reason to show it
conceal() {
	[ "$token" ] || return 0
	case $code in '' | 0 | 000) return ;; esac # without an answer
	case $why in
	*"$(printf %.8s "$token")"*) why="HTTP $code: an answer that holds the token" ;;
	esac
}

is_counter() {
	case $profile in
	heap | allocs | block | mutex) ;;
	*) return 1 ;;
	esac
}

# merge OPTION…: get, checked, with labels, as out
merge() {
	# shellcheck disable=SC2086 # a list of options
	prof-merge -q --expect=1 --max-size="$max_bytes" $labels "$@" -o out get 2>merge.err && return
	why=$(sed 's/^prof-merge: //; s/^get: //; s/^empty file: //' merge.err | printable)
	return 1
}

# check: makes out of get. What is text is none of ours, even if prof-merge could read it.
check() {
	case $(od -An -tx1 -N2 get) in
	' 1f 8b') ;;
	*)
		! merge || why='not a compressed profile'
		return 1
		;;
	esac
	if ! is_counter; then
		merge || return
	elif [ ! -e base ]; then
		# there is nothing yet to count from
		merge && rm -f out && mv get base
		return
	elif ! merge --minus=base; then
		# the next one counts from this one, if it is good
		difference=$why
		merge && rm -f out && mv get base && why=$difference
		return 1
	fi
	case $(prof-merge --list=ranges out) in
	*'	1970-01-01T00:00:00'*) why='a profile without a time' && return 1 ;;
	esac
	if is_counter; then
		mv get base
	else
		rm -f get
	fi
}

# file_as TIME: out, as a file of its own, whoever else writes there
file_as() {
	exec 7<"$to/$name"
	flock 7
	cp out "$to/$name/.new" && mv "$to/$name/.new" "$to/$name/$1.pb.gz" && return
	rm -f "$to/$name/.new"
	return 1
}

# hand_over: out goes where it belongs
hand_over() {
	[ -e out ] || return 0
	r=0
	case $how in
	spool) prof-spool add "$to" "$PWD/out" 2>merge.err || r=$? ;;
	files)
		t=$(prof-merge --list=ranges out | cut -f2 | tr -d ':-')
		{ mkdir -p "$to/$name" && (file_as "$t"); } 2>merge.err || r=$?
		;;
	stream)
		# one after another; without a reader there is nothing left to do for anyone
		flock "$state/.stream" cat out 2>merge.err || r=$?
		if [ "$r" -ne 0 ]; then
			[ "$r" -eq 141 ] || printf '%s: %s\n' "$program" "$(printable <merge.err)" >&2
			kill -PIPE "$main"
		fi
		;;
	esac
	if [ "$r" -ne 0 ]; then
		why="not handed over: $(printable <merge.err)"
		return 1
	fi
	rm -f out
}

# recover: after a crash
recover() {
	[ ! -e get ] || rm -f get out
	[ ! -e out ] || prof-merge -q out >/dev/null 2>&1 || rm -f out
}

# scrape: once, and tells how it went
scrape() {
	was=new now=up took=0 why='' error='' token='' code=0
	[ ! -e status ] || read -r was _ _ _ error <status || was=down
	hand_over && fetch && check && hand_over || now=down
	at=$(date '+%s %Y-%m-%dT%H:%M:%SZ')
	if [ $now = down ]; then
		conceal
		[ "$why" ] || why="$state: cannot be written"
		error="${at#* } $why"
	fi
	[ ! -e get ] || rm -f get out
	rm -f curl.out curl.err merge.err
	if ! { printf '%s\n' "$now $at $took $error" >status.new && mv status.new status; } 2>/dev/null; then
		# an empty one needs no room, and says as much
		rm -f status.new
		{ : >status; } 2>/dev/null || :
	fi
	case $was-$now in
	new-down | up-down) printf '%s: %s %s %s: %s\n' "$program" "$job" "$instance" "$profile" "$why" >&2 ;;
	down-up) note "$job $instance $profile: up again" ;;
	esac
	[ $now = up ]
}
