#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What debian/ says twice is the same as in the rest of the tree. tests/long/debian.t builds it.
. "$top/tests/lib/tap.sh"

unset MAKEFLAGS MFLAGS MAKELEVEL BUILD
version=$(make -s -C "$top" print-VERSION)
is "$(sed -n '1s/^profpipe (\(.*\)) .*/\1/p' "$top/debian/changelog")" "$version" 'the version'
# what every build has, and what is used only later
awk '/^\[/ { wanted = /build|package/ } wanted && /^[a-z]/' "$top/scripts/packages.txt" |
	grep -vxE 'gcc|libc6-dev|make|binutils|gzip|procps|util-linux|debootstrap|dpkg-dev|lintian' |
	sort >"$tmp/want"
sed -n '/^Build-Depends:/,/^[A-Z][^:]*:/s/^ \([^ ,]*\).*/\1/p' "$top/debian/control" |
	grep -vx 'dh-sequence-.*' | sed 's/-compat$//' | sort >"$tmp/got"
same "$tmp/got" "$tmp/want" 'what it is built with'
tr -dc 'A-Za-z_,+' <"$top/debian/README.Debian" >"$tmp/readme"
like "$tmp/readme" "setcap$(make -s -C "$top" print-CAPTURE_CAPS)[+]ep" 'the capabilities of prof-capture'
# of a name that no host can have: RFC 2606
nobody='profpipe maintainers <maintainers@profpipe.invalid>'
is "$(sed -n 's/^Maintainer: //p' "$top/debian/control")" "$nobody" 'the maintainer is nobody in particular'
is "$(sed -n 's/^ -- \(.*>\)  .*/\1/p' "$top/debian/changelog" | sort -u)" "$nobody" '... also in the changelog'
done_testing
