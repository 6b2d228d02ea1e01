#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The tree builds, installs and uninstalls from a copy that is no git repository.
. "$top/tests/lib/tap.sh"

mkdir "$tmp/src"
(cd "$top" && tar -cf - --exclude=./.git --exclude=./build .) | (cd "$tmp/src" && tar -xf -)
# what the make that runs us was told is not for this one
unset MAKEFLAGS MFLAGS MAKELEVEL BUILD CFLAGS LDFLAGS
quick='CFLAGS=-O0 PREFIX=/usr'

# an ordinary user's PATH has no sbin
# shellcheck disable=SC2086
run env PATH="$(echo "$PATH" | tr : '\n' | grep -v sbin | paste -sd :)" \
	make -C "$tmp/src" -j2 $quick DESTDIR="$tmp/root" install
ok "$status" 'builds and installs' || tail -n 20 "$tmp/err" | diag
is "$(wc -l <"$tmp/err")" 0 'without a warning' || diag "$tmp/err"

for main in "$top"/tools/*/main.c; do
	[ -e "$main" ] || continue
	t=$(basename "$(dirname "$main")")
	run "$tmp/root/usr/bin/prof-$t" --version
	is "$status" 0 "prof-$t is installed and runs"
	for f in man/man1/prof-$t.1 bash-completion/completions/prof-$t; do
		[ -s "$tmp/root/usr/share/$f" ]
		ok $? "$f is installed"
	done
done
[ -s "$tmp/root/usr/share/man/man5/profpipe-stream.5" ]
ok $? 'profpipe-stream.5 is installed'
run "$tmp/root/usr/share/profpipe/cluster/shard" --help
is "$status" 0 'scripts for clusters are installed'

# tests_see BUILD: where they are told to find what was built
tests_see() {
	make -C "$tmp/src" -n BUILD="$1" check | grep ' prove ' | grep -o ' build="[^"]*"'
}
is "$(tests_see build)" " build=\"$tmp/src/build\"" 'tests are told where the build is'
is "$(tests_see "$tmp/elsewhere")" " build=\"$tmp/elsewhere\"" '... and where else'

# shellcheck disable=SC2086
run make -C "$tmp/src" -q $quick all
is "$status" 0 'nothing is left to do after that'
touch "$tmp/src/lib/base/err.h"
# shellcheck disable=SC2086
run make -C "$tmp/src" -n $quick all
[ "$(grep -c 'lib/base/err\.o' "$tmp/out")" -gt 0 ]
ok $? 'a changed header compiles its users again'

# shellcheck disable=SC2086
run make -C "$tmp/src" $quick DESTDIR="$tmp/root" uninstall
is "$status" 0 'uninstalls'
is "$(find "$tmp/root" ! -type d | head)" '' 'and leaves nothing behind'
run make -C "$tmp/src" clean
[ ! -e "$tmp/src/build" ]
ok $? 'clean removes all that was built'
(cd "$tmp/src" && find . -type f | sort) >"$tmp/now"
(cd "$top" && find . \( -path ./.git -o -path ./build \) -prune -o -type f -print | sort) >"$tmp/then"
same "$tmp/now" "$tmp/then" 'the build touched nothing outside build/'
done_testing
