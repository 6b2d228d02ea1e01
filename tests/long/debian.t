#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The Debian package, as docs/howto-deploy.md makes it: built without a network, judged by lintian,
# installed in a new Debian; and there, the DaemonSet's command with its capabilities and mounts.
. "$top/tests/lib/tap.sh"
. "$top/tests/lib/capture.sh"
. "$top/tests/lib/spool.sh"

[ "$(id -u)" -eq 0 ] || skip_all 'needs root'
for needed in dpkg-buildpackage dh debootstrap lintian; do
	command -v "$needed" >/dev/null || skip_all "no $needed (scripts/install-packages package)"
done
unset MAKEFLAGS MFLAGS MAKELEVEL BUILD CFLAGS LDFLAGS
version=$(make -s -C "$top" print-VERSION)
mkdir "$tmp/src"
(cd "$top" && tar -cf - --exclude=./.git --exclude=./build .) | (cd "$tmp/src" && tar -xf -)
cd "$tmp/src" || exit
dpkg-checkbuilddeps 2>"$tmp/err" || skip_all "$(cat "$tmp/err")"

# --- build ---------------------------------------------------------------------------------------
howto=$top/docs/howto-deploy.md
run unshare -n env DEB_BUILD_OPTIONS=parallel=2 \
	sh -c "$(sed -n 's/^    \(dpkg-buildpackage .*\) -b$/\1 -F/p' "$howto")"
is "$status" 0 'source and package, without a network' || tail -n 30 "$tmp/out" "$tmp/err" | diag
like "$tmp/out" '^Result: PASS' 'its unit tests ran' # prove
package=$tmp/profpipe_${version}_$(dpkg --print-architecture).deb
[ -s "$package" ] || done_testing
run lintian --allow-root --fail-on=error,warning "$tmp"/profpipe_*.changes
is "$status$(cat "$tmp/out")" 0 'lintian has nothing to say' || diag "$tmp/out"
run debian/rules clean
cd "$top" || exit
is "$(cd "$tmp/src" && find . -newer "$package" -type f)" '' 'clean leaves nothing behind'

# --- install -------------------------------------------------------------------------------------
cd "$tmp" || exit
tree=$tmp/image
run "$top/scripts/image" "$package" "$tree"
if [ "$status" -ne 0 ] && grep -qE 'Failed getting release file|Invalid Release|Unable to (resolve|connect)' "$tmp/err" "$tmp/out"; then
	skip 'no mirror of Debian to be reached' 'a new Debian'
	done_testing
fi
is "$status" 0 'it installs in a new Debian' || tail -n 20 "$tmp/err" | diag
inside() { chroot "$tree" "$@"; }
for program in capture symbolize merge diff render spool scrape; do
	is "$(inside "prof-$program" --version | grep -oE '[0-9.]+$')" "$version" "prof-$program runs"
	[ -s "$tree/usr/share/man/man1/prof-$program.1.gz" ] ||
		grep -qr 'path-exclude.*/man' "$tree/etc/dpkg"
	ok $? 'and has its page'
done
is "$(inside dpkg -V profpipe)" '' 'all files are there'
like "$tree/etc/passwd" '^profpipe:' 'a user for the services'
is "$(find "$tree"/etc/systemd/system -name 'profpipe*')" '' 'which are not enabled'
is "$(getcap -r "$tree/usr/bin" 2>/dev/null | grep prof-)" '' 'no program has capabilities'
cat >"$tree/root/pipe" <<'END'
set -e
printf '# profpipe text 1\nprofile\ntime 1700000000000000000\nduration 10000000000\n' >twin
printf 'period "cpu" "nanoseconds" 10\ntype "samples" "count"\nfunction 1 "f" "" "" 0\n' >>twin
printf 'location 1 m0 0x0 f1:0:0\nsample 7 : 1 : "comm"="x"\nend\n' >>twin
prof-spool init store
prof-merge twin | prof-spool add store -
prof-spool tend -q store
prof-spool query store | prof-render -f folded
END
run inside sh -c 'cd /root && sh pipe'
is "$status $(cat "$tmp/out" "$tmp/err")" '0 f 7' 'a pipeline works'

# --- the DaemonSet -------------------------------------------------------------------------------
daemonset() {
	python3 -c 'import yaml' 2>/dev/null || { skip 'no python3-yaml' 'the DaemonSet' && return; }
	prof-capture -q -d 0.05 >"$tmp/try" 2>"$tmp/err" || { skip "$(cat "$tmp/err")" 'the DaemonSet' && return; }
	python3 "$top/tests/lib/manifest.py" "$top/deploy/kubernetes/daemonset.yaml" | tr '\t' '\n' >"$tmp/words"
	sed -n '/^capture$/,/^container$/p' "$tmp/words" | sed '1,2d; /^container$/d' >"$tmp/capture"
	caps=$(sed -n '1s/cap_/+/gp' "$tmp/capture")
	sed 1d "$tmp/capture" | sed 's/\$(NODE)/node-7/' | tr '\n' '\0' >"$tmp/command"
	cp "$workload" "$tmp/onnode"
	"$tmp/onnode" burn 6000000 >/dev/null &
	load=$!
	# of a container: another program, which is not to be found at the node's root
	mkdir -p "$tmp/c"
	gcc -O2 -g -Wl,--build-id=0x0123456789abcdef -o "$tmp/c/incontainer" \
		"$top/tests/lib/workload.c" -lpthread 2>"$tmp/err"
	ok $? 'a program of its own for a container' || diag "$tmp/err"
	unshare -m sh -c "mount -t tmpfs t /mnt && mv '$tmp/c/incontainer' /mnt && exec /mnt/incontainer burn 6000000" \
		>/dev/null &
	other=$!
	mkdir -p "$tree/host" "$tree/binaries" "$tree/var/lib/profpipe"
	cat >"$tmp/node" <<-END
		set -e
		mount --bind $tree $tree
		mount -t proc proc $tree/proc
		mount -t sysfs -o ro sysfs $tree/sys
		mount --rbind /dev $tree/dev
		for d in tmp binaries var/lib/profpipe; do mount -t tmpfs tmpfs $tree/\$d; done
		mount --bind $tmp/spool $tree/var/lib/profpipe
		mount --rbind / $tree/host
		mount -o remount,bind,ro $tree/host
		mount -o remount,bind,ro $tree
		exec chroot $tree setpriv --no-new-privs --bounding-set=-all,$caps --inh-caps=-all "\$@"
	END
	mkdir "$tmp/spool"
	prof-spool init "$tmp/spool"
	xargs -0 -a "$tmp/command" unshare -m sh "$tmp/node" >"$tmp/node.out" 2>&1 &
	runner=$!
	store=$tmp/spool
	named() {
		prof-spool query "$store" -s "comm=$1" 2>/dev/null | prof-render -f csv - 2>/dev/null |
			grep -q short_burn
	}
	wait_for named onnode
	ok $? 'a program of the node has names' || diag "$tmp/node.out" "$store/run.log"
	wait_for named incontainer
	ok $? 'one of a container, too' || diag "$tmp/node.out" "$store/run.log"
	is "$(grep -v '^$' "$store/run.log")" '' 'prof-capture misses nothing'
	is "$(prof-spool query "$store" | prof-merge --list=values --by=node | cut -f2)" node-7 "the node's name"
	kill $load $other
	kill "$(pgrep -x prof-spool -P "$runner" || echo "$runner")"
	wait "$runner"
	is "$?$(cat "$tmp/node.out")" 0 'it ends well'
}
daemonset

run inside apt-get -qq -y purge profpipe
is "$status" 0 'it can be removed' || diag "$tmp/err"
is "$(find "$tree/usr" "$tree/lib/systemd" -name 'prof-*' -o -name 'profpipe*')" '' 'and leaves nothing behind'
done_testing
