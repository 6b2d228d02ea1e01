# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# What the scripts of users say and understand alike. $program is the script's name; with $quiet
# it gives no notes.

# a name without a slash is one here
unset CDPATH

# shellcheck disable=SC2034 # for those that source this
nl='
'

die() {
	printf '%s: %s\n' "$program" "$*" >&2
	exit 2
}

note() {
	[ "$quiet" ] || printf '%s: %s\n' "$program" "$*" >&2
}

is_number() {
	case $1 in
	'' | *[!0-9]* | ??????????????*) return 1 ;;
	esac
}

# fits DIGITS NUMBER WHAT: it has no more of them, so that no product leaves 64 bits
fits() {
	[ ${#2} -le "$1" ] || die "$3"
}

# seconds TIME: of 10s, 5m, 1h, 2d, 1y, or of a bare number
seconds() {
	n=${1%[smhdy]}
	is_number "$n" || die "not a time: $1"
	n=${n#"${n%%[!0]*}"} n=${n:-0} # digits after a 0 would be octal
	case $1 in
	*y) fits 4 "$n" "too long a time: $1" ;;
	*) fits 11 "$n" "too long a time: $1" ;;
	esac
	case $1 in
	*m) n=$((n * 60)) ;;
	*h) n=$((n * 3600)) ;;
	*d) n=$((n * 86400)) ;;
	*y) n=$((n * 366 * 86400)) ;;
	esac
	echo "$n"
}

# bytes SIZE: of 64K, 8M, 20G, 1T, or of a bare number
bytes() {
	n=${1%[KMGT]}
	is_number "$n" || die "not a size: $1"
	n=${n#"${n%%[!0]*}"} n=${n:-0}
	case $1 in
	*T) fits 6 "$n" "too large a size: $1" ;;
	*G) fits 9 "$n" "too large a size: $1" ;;
	*M) fits 12 "$n" "too large a size: $1" ;;
	esac
	case $1 in
	*K) n=$((n << 10)) ;;
	*M) n=$((n << 20)) ;;
	*G) n=$((n << 30)) ;;
	*T) n=$((n << 40)) ;;
	esac
	echo "$n"
}
