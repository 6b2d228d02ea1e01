# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh disable=SC2086 # levels are lists of words
# The tree of prof-spool: where things are in it, and how they get there and away.
#
# What holds at any moment, so that a crash at any moment does no harm:
# - a file in raw, 1m, 1h or 1d is whole: it was renamed into place;
# - a file of 1m, 1h or 1d holds all that is there of its window in the level below. Whoever adds
#   to a window removes what was made of it first. FILE.members tells its parts and their sums;
# - a part is removed only when what was made of it is there, and finest first.
# The tree changes under an exclusive lock, which a program killed gives up.

MARK=.profpipe-store
LEVELS='raw 1m 1h 1d'
# for awk: of a file's name, its level and its window (20261202T1020, of raw one second more)
PARSE='{
	level = substr($0, 1, index($0, "/") - 1)
	name = $0
	sub(/.*\//, "", name)
	sub(/Z.*/, "", name)
}
'
GRACE_S=60 # a window that ended less ago may still get profiles

# --- time ------------------------------------------------------------------------------------

END_OF_TIME_S=9223372036 # that a profile can tell

# moment TIME: seconds since the epoch, of those that a profile can begin at
moment() {
	case $1 in
	@*)
		is_number "${1#@}" || die "not a time: $1"
		n=${1#@} n=${n#"${n%%[!0]*}"}
		;;
	-*) n=$(seconds "${1#-}") && n=$(($(date +%s) - n)) ;;
	*) n=$(date -d "$1" +%s 2>/dev/null) || die "not a time: $1" ;;
	esac
	n=${n:-0}
	[ "$n" -ge 0 ] || n=0
	[ "$n" -le $END_OF_TIME_S ] || n=$END_OF_TIME_S
	echo "$n"
}

# stamp SECONDS: 20261202T102030, of which windows are the beginnings
stamp() {
	date -d "@$1" +%Y%m%dT%H%M%S
}

# --- the tree --------------------------------------------------------------------------------

# one_line DIR: lists of files are lines
one_line() {
	case $1 in
	*"$nl"*) die 'a store with a line feed in its name' ;;
	esac
}

# default_settings: what a store is made with
default_settings() {
	keep_raw=2d keep_1m=14d keep_1h=90d keep_1d=forever
	max_bytes=0 min_free=0 without=pid,ppid,thread_id
}

# enter DIR: into a store, whose settings become variables
enter() {
	one_line "$1"
	[ -d "$1" ] || die "$1: no such directory"
	[ -x "$1" ] && { [ ! -e "$1/$MARK" ] || [ -r "$1/$MARK" ]; } || die "$1: Permission denied"
	[ -f "$1/$MARK" ] || die "$1: not a store (prof-spool init makes one)"
	cd -- "$1" || exit 2
	default_settings
	while IFS='=' read -r key value; do
		case $key in
		'' | '#'*) ;;
		keep-raw) keep_raw=$value ;;
		keep-1m) keep_1m=$value ;;
		keep-1h) keep_1h=$value ;;
		keep-1d) keep_1d=$value ;;
		max-bytes) max_bytes=$value ;;
		min-free) min_free=$value ;;
		without) without=$value ;;
		*) die "$1/$MARK: unknown setting: $key" ;;
		esac
	done <$MARK
}

# enter_to_write DIR: the same, to change it
enter_to_write() {
	enter "$1"
	for _d in . new $LEVELS bad cache; do
		[ -w "$_d" ] || [ ! -e "$_d" ] || die "$1: Permission denied"
	done
}

# owned FILE…: made by root, they are the owner's of the store
owned() {
	[ -O . ] || chown --reference=. -- "$@"
}

# lock -x or -s: until this program ends, and those it started
lock() {
	exec 9<.lock
	flock "$1" 9
}

# path LEVEL WINDOW: sets $path, without making a process
path() {
	_r=${2#????} _y=${2%"${2#????}"}
	_m=${_r%"${_r#??}"} _r=${_r#??}
	_d=${_r%"${_r#??}"}
	case $1 in
	1d) path=1d/$_y/${2}Z.pb.gz ;;
	1h) path=1h/$_y-$_m/${2}Z.pb.gz ;;
	*) path=$1/$_y-$_m-$_d/${2}Z.pb.gz ;;
	esac
}

# windows STAMP: sets $minute, $hour and $day: where what is made of it is
windows() {
	path 1m "${1%??}" && minute=$path
	path 1h "${1%????}" && hour=$path
	path 1d "${1%T*}" && day=$path
}

# contents LEVEL…: all files of these levels, in order of time
contents() {
	find "$@" -name '2*Z*.pb.gz' -type f | sort
}

parts_of() {
	sed -n '2,$s/^[0-9a-f]*  //p' "$1.members"
}

# has_parts FILE: all that it was made of is still there
has_parts() {
	[ -f "$1.members" ] || return 1
	for _part in $(parts_of "$1"); do
		[ -e "$_part" ] || return 1
	done
}

# log_loss CAUSE NAME: what is not in the sums, and never will be
log_loss() {
	printf '%s %s %s\n' "$(date +%Y-%m-%dT%H:%M:%SZ)" "$1" "$2" >>lost.log
	owned lost.log
	printf '%s: lost: %s: %s\n' "$program" "$2" "$1" >&2
}

# --- to add ------------------------------------------------------------------------------------

# symbolize_file FROM TO: of what a capture may do, only to read any file
symbolize_file() {
	_from=$1 _to=$2
	set -- ${sysroot:+"--sysroot=$sysroot"} \
		${binaries:+"--debug-dir=$binaries" --debug-dir=/usr/lib/debug}
	setpriv --ambient-caps=-bpf,-perfmon,-sys_ptrace,-syslog,-checkpoint_restore \
		prof-symbolize -q --cache=cache "$@" -o "$_to" -- "$_from"
}

# name_file FROM TO: sets $named to what is to be taken: TO, with names, or FROM where there are
# none to be had. Without the lock: of a large new program it takes its time.
name_file() {
	named=$1
	[ ! "$symbolize" ] || ! symbolize_file "$1" "$2" || named=$2
}

# take STAMP SUM FILE: into raw, under the lock. A file taken twice is there once. SUM is of what
# was captured, without names.
take() {
	path raw "$1"
	raw=${path%.pb.gz}-$2.pb.gz
	windows "$1"
	[ ! -e "$raw" ] || return 0
	if [ -e "$minute.members" ] && parts_of "$minute" | grep -qxF "$raw"; then
		return 0
	fi
	for made in "$minute" "$hour" "$day"; do
		if [ -e "$made" ] && ! has_parts "$made"; then
			cp -- "$3" "bad/${raw##*/}" || return
			log_loss 'its window is closed' "bad/${raw##*/}"
			return 0
		fi
	done
	if [ -e "$day" ] || [ -e "$hour" ] || [ -e "$minute" ]; then
		rm -f "$day" "$hour" "$minute" "$day.members" "$hour.members" "$minute.members"
	fi
	[ -d "${raw%/*}" ] || { mkdir -p "${raw%/*}" && owned "${raw%/*}"; } || return
	# whole under its name, or not at all
	whole=raw/.${raw##*/}
	cp -- "$3" "$whole" && owned "$whole" && sync "$whole" && mv "$whole" "$raw"
}

# --- to add up ---------------------------------------------------------------------------------

# build FILE WITHOUT PART…: the list of parts comes first into place: a list without its file is
# nothing
build() {
	made=$1 tmp=${1%/*}/.build less=${2:+"--without=$2"}
	shift 2
	[ -d "${made%/*}" ] || { mkdir -p "${made%/*}" && owned "${made%/*}"; } || return
	prof-merge -q ${less:+"$less"} -o "$tmp" -- "$@" || return
	sha256sum "$tmp" "$@" >"$tmp.members" || return
	owned "$tmp" "$tmp.members" && sync "$tmp.members" "$tmp" && mv "$tmp.members" "$made.members" && mv "$tmp" "$made"
}

# What cannot be read goes where it can be looked at, or is made again.
set_bad_aside() {
	for part; do
		! prof-merge -q "$part" >/dev/null 2>&1 || continue
		bad=1
		if has_parts "$part"; then
			note "$part: cannot be read, and is made again"
			rm -f "$part"
		else
			mv "$part" "bad/${part##*/}" || return
			log_loss 'cannot be read' "bad/${part##*/}"
		fi
	done
}

# roll LEVEL FROM DIGITS FINER WITHOUT: each window that has ended, has parts in FROM, all of
# them, and of which nothing coarser was made. A window's name is the beginning of its parts'.
roll() {
	end=$(stamp $(($(date +%s) - GRACE_S)))
	contents $LEVELS | awk -v from="$2" -v n="$3" -v finer="$4" -v end="$end" "$PARSE"'
		level == from { parts[substr(name, 1, n)]; digits = length(name) }
		level == finer { fine[name] }
		level != "raw" && length(name) <= n { made[name] }
		level == from { have[name] }
		END {
			for (f in fine)
				if (!(substr(f, 1, digits) in have))
					unready[substr(f, 1, n)]
			for (w in parts)
				if (!(w in made) && !(substr(w, 1, 11) in made) && !(w in unready) &&
				    !(substr(w, 1, 8) in made) && w < substr(end, 1, n))
					print w
		}' | sort >.windows || return
	while read -r w; do
		path "$2" "$w" && parts=${path%Z.pb.gz}
		path "$1" "$w"
		if ! build "$path" "$5" "$parts"*Z*.pb.gz; then
			set_bad_aside "$parts"*Z*.pb.gz
			return 2
		fi
	done <.windows
}

roll_all() {
	bad=
	roll 1m raw 13 '' '' && roll 1h 1m 11 raw "$without" && roll 1d 1h 8 1m "$without"
}

# removable LEVEL COARSER FINER: of which something coarser was made and nothing finer is left
removable() {
	contents $LEVELS | awk -v wanted="$1" -v coarser="$2" -v finer="$3" "$PARSE"'
		BEGIN { digits["1m"] = 13; digits["1h"] = 11; digits["1d"] = 8 }
		level == wanted { file[++n] = $0; window[n] = name }
		level == finer { busy[substr(name, 1, digits[wanted])] }
		level == coarser { made[name] }
		END {
			for (i = 1; i <= n; i++)
				if ((!coarser || substr(window[i], 1, digits[coarser]) in made) &&
				    !(window[i] in busy))
					print file[i]
		}'
}

# expire LEVEL COARSER FINER KEEP: what is older than KEEP
expire() {
	[ "$4" != forever ] || return 0
	limit=$(stamp $(($(date +%s) - $(seconds "$4"))))
	removable "$1" "$2" "$3" | awk -v limit="$limit" "$PARSE"'
		name < substr(limit, 1, length(name))' >.expired
	remove_listed
}

# A list of parts goes after its file; a list alone is nothing.
remove_listed() {
	xargs -r rm -f <.expired
	sed 's/$/.members/' .expired | xargs -r rm -f
}

# excess: bytes to remove, by the settings
excess() {
	max=$(bytes "$max_bytes") free=$(bytes "$min_free") e=0
	if [ "$max" -gt 0 ]; then
		e=$(($(du -sk --apparent-size . | cut -f1) * 1024 - max))
	fi
	if [ "$free" -gt 0 ]; then
		f=$((free - $(df -k --output=avail . | sed 1d) * 1024))
		[ "$f" -le "$e" ] || e=$f
	fi
	echo "$e"
}

# shrink LEVEL COARSER FINER: the oldest, until it is enough
shrink() {
	e=$(excess)
	[ "$e" -gt 0 ] || return 0
	removable "$1" "$2" "$3" | xargs -r stat -c '%b %B %n' | awk -v e="$e" '
		e > 0 { print $3; e -= $1 * $2 }' >.expired
	if [ ! "$2" ]; then
		while read -r f; do
			log_loss 'no room' "$f"
		done <.expired
	fi
	remove_listed
}

# --- to choose ---------------------------------------------------------------------------------

# choose SINCE UNTIL LEVEL (stamps): the coarsest whole file of each window, so that nothing is
# counted twice. What begins or ends within a window is taken from its parts, if they are there.
choose() {
	contents $LEVELS | awk -v since="$1" -v until="$2" -v top="$3" "$PARSE"'
		function has_parts(f,   line, n, ok) {
			ok = 1
			while ((getline line < (f ".members")) > 0)
				if (n++ && !(substr(line, 67) in files))
					ok = 0
			close(f ".members")
			return n && ok
		}
		function consider(f, w, level,   first, inside) {
			first = w substr("00000000T000000", length(w) + 1)
			if (first >= until || w "~" < since || substr(w, 1, 8) in taken ||
			    substr(w, 1, 11) in taken || substr(w, 1, 13) in taken)
				return
			inside = first >= since && w "~" < until
			if ((!inside || is_finer[top, level]) && level != "raw" && has_parts(f))
				return
			print f
			taken[w]
			if (is_finer[top, level])
				print "prof-spool: " f ": its parts are gone" > "/dev/stderr"
		}
		{ files[$0] = name; list[level, ++n[level]] = $0 }
		END {
			levels = split("1d 1h 1m raw", l, " ")
			for (i = 1; i <= levels; i++)
				for (j = 1; j < i; j++)
					is_finer[l[i], l[j]] = 1
			for (i = 1; i <= levels; i++)
				for (j = 1; j <= n[l[i]]; j++)
					consider(list[l[i], j], files[list[l[i], j]], l[i])
		}'
}
