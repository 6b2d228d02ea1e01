#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# prof-capture: labels of containers, pods and environments, from made-up trees of a host.
. "$top/tests/lib/tap.sh"
. "$top/tests/lib/capture.sh"

needs_capture

id=$(printf '%064d' 0 | tr 0 a)
docker=$(printf '%064d' 0 | tr 0 b)
uid=0123abcd-4567-89ab-cdef-0123456789ab
uid_=0123abcd_4567_89ab_cdef_0123456789ab
host=$tmp/host

# --- what a kubelet and runtimes leave on disk ---------------------------------------------------
mkdir -p "$host/var/log/containers" "$host/var/lib/docker/containers/$docker" \
	"$host/run/containerd/io.containerd.runtime.v2.task/k8s.io/$id"
: >"$host/var/log/containers/web-5d4_shop_front-$id.log"
: >"$host/var/log/containers/other_shop_front-$docker.txt"
cat >"$host/run/containerd/io.containerd.runtime.v2.task/k8s.io/$id/config.json" <<-'END'
	{"ociVersion": "1.0.2", "annotations": {"io.kubernetes.cri.image-name": "example.org/front:2.1",
	 "io.kubernetes.cri.sandbox-name": "not-looked-at"}}
END
cat >"$host/var/lib/docker/containers/$docker/config.v2.json" <<-'END'
	{"Name": "/db", "Config": {"Image": "postgres:15", "Labels": {}}}
END

# --- control groups, in the v2 tree ----------------------------------------------------------------
groups=$tmp/groups
mkdir "$groups"
if ! mount -t cgroup2 none "$groups" 2>"$tmp/err"; then
	groups=$(sed -n 's/^[^ ]* [^ ]* [^ ]* [^ ]* \([^ ]*\) .* - cgroup2 .*/\1/p' /proc/self/mountinfo | head -n 1)
	[ "$groups" ] || skip_all "no v2 tree of control groups: $(cat "$tmp/err")"
fi
made=
clean_groups() {
	# the innermost first
	for g in $made; do
		rmdir "${groups:?}$g" 2>/dev/null
	done
	umount "$tmp/groups" 2>/dev/null
}
trap 'clean_groups; rm -rf "$tmp"' EXIT
make_group() {
	mkdir "$groups$1" || exit 1
	made="$1 $made"
}
slice=/profpipe-test.slice
pod=$slice/kubepods-burstable-pod$uid_.slice
make_group $slice
make_group "$pod"
make_group "$pod/cri-containerd-$id.scope"
make_group "$pod/cri-containerd-$docker.scope"
make_group "$slice/docker-$docker.scope"

# labels OPTION…: of what the workload does in a group
labels() {
	prof-capture -q -F 999 --root "$host" "$@" | prof-render -f text >"$tmp/text"
}
group="$pod/cri-containerd-$id.scope"
labels --labels image,pod_uid,cgroup -- \
	sh -c 'echo $$ >"$0/cgroup.procs" && exec "$1" burn 100' "$groups$group" "$workload"
for l in "\"container_id\"=\"$id\"" '"container"="front"' '"pod"="web-5d4"' '"namespace"="shop"' \
	'"image"="example.org/front:2.1"' "\"pod_uid\"=\"$uid\""; do
	like "$tmp/text" "^sample .*\"comm\"=\"workload\".*$l( |\$)" "a pod of containerd: $l"
done
like "$tmp/text" "^sample .*\"cgroup\"=\"$group\" \"comm\"=\"workload\"" 'its control group'

labels --labels image -- sh -c 'echo $$ >"$0/cgroup.procs" && exec "$1" burn 100' \
	"$groups$slice/docker-$docker.scope" "$workload"
for l in '"container"="db"' '"image"="postgres:15"'; do
	like "$tmp/text" "^sample .*\"comm\"=\"workload\".*$l( |\$)" "a container of docker: $l"
done
! grep -q '"pod"=' "$tmp/text"
ok $? 'and it is in no pod'

# --- who is meant, by group and by container -----------------------------------------------------
sh -c 'echo $$ >"$0/cgroup.procs" && exec "$1" burn 60000' "$groups$group" "$workload" &
inside=$!
"$workload" burn 60000 &
outside=$!
trap 'kill $inside $outside 2>/dev/null; wait; clean_groups; rm -rf "$tmp"' EXIT
for o in "--cgroup $slice" "--cgroup $pod/" "--container front" "--container $(echo "$id" | cut -c1-12)" \
	'-s namespace=shop,comm=workload'; do
	# shellcheck disable=SC2086 # an option and its value
	labels $o -d 0.5
	is "$(grep -o '"pid"=[0-9]*' "$tmp/text" | sort -u)" "\"pid\"=$inside" "$o: only who is in it"
done
labels --container "$(echo "$id" | cut -c1-11)" -d 0.2
! grep -q '^sample' "$tmp/text"
ok $? 'fewer digits name no container'
# A container with a namespace of control groups has only its own part of the tree mounted.
make_group "$slice/capture.scope"
mkdir "$tmp/own"
cat >"$tmp/contained" <<-'END'
	echo $$ >"$1/capture.scope/cgroup.procs" && exec unshare -m -C sh -c '
		for m in $(sed -n "s/^\([^ ]* \)\{4\}\([^ ]*\) .* - cgroup2 .*/\2/p" /proc/self/mountinfo); do
			umount "$m" || exit 77
		done
		mount -t cgroup2 none "$0" || exit 77
		shift 2
		exec prof-capture "$@"' "$2" "$@"
END
sh "$tmp/contained" "$groups$slice" "$tmp/own" -q -F 999 --root "$host" --labels cgroup --container front \
	-d 0.5 >"$tmp/p" 2>"$tmp/err"
if [ $? = 77 ]; then
	skip "no namespace of control groups: $(cat "$tmp/err")" "in a namespace of its own: who is outside"
else
	prof-render -f text "$tmp/p" >"$tmp/text"
	is "$(grep -o '"cgroup"="[^"]*"\|"container"="[^"]*"\|"pid"=[0-9]*' "$tmp/text" | sort -u | xargs)" \
		"cgroup=${group#"$slice"} container=front pid=$inside" "in a namespace of its own: who is outside"
fi
kill "$inside" "$outside"
wait "$inside" "$outside" 2>/dev/null

# --- a pod whose directory of logs alone is there ------------------------------------------------
rm -r "$host/run" "$host/var/log/containers" "$host/var/lib"
mkdir -p "$host/var/log/pods/shop_web-5d4_$uid/front" "$host/var/log/pods/shop_web-5d4_$uid/side"
ln -s "/var/lib/docker/containers/$docker/x.log" "$host/var/log/pods/shop_web-5d4_$uid/side/0.log"
ln -s "/var/lib/docker/containers/$id/x.log" "$host/var/log/pods/shop_web-5d4_$uid/front/0.log"
labels -- sh -c 'echo $$ >"$0/cgroup.procs" && exec "$1" burn 100' "$groups$group" "$workload"
for l in '"container"="front"' '"pod"="web-5d4"' '"namespace"="shop"'; do
	like "$tmp/text" "^sample .*\"comm\"=\"workload\".*$l( |\$)" "a directory of logs: $l"
done

# --- a pod that left nothing ---------------------------------------------------------------------
rm -r "${host:?}/var"
labels -- sh -c 'echo $$ >"$0/cgroup.procs" && HOSTNAME=web-77 exec "$1" burn 900' \
	"$groups$group" "$workload"
like "$tmp/text" '^sample .*"comm"="workload".*"pod"="web-77"' 'a host name stands for the pod'
mkdir -p "$host/run/containerd/io.containerd.runtime.v2.task/k8s.io/$id"
for bad in '' '{' '[]' '{"annotations": [1]}' '{"annotations": {"io.kubernetes.cri.image-name": 7}}'; do
	echo "$bad" >"$host/run/containerd/io.containerd.runtime.v2.task/k8s.io/$id/config.json"
	labels --labels image -- sh -c 'echo $$ >"$0/cgroup.procs" && exec "$1" burn 20' \
		"$groups$group" "$workload"
	! grep -q '"image"=' "$tmp/text"
	ok $? "a damaged file tells nothing: $bad"
done

# --- environments --------------------------------------------------------------------------------
labels --env-label VERSION --env-label TEAM=owner --env-label NONE -- \
	sh -c 'VERSION=1.2.3 TEAM="a b" "$0" burn 400; VERSION=1.3 "$0" burn 400' "$workload"
like "$tmp/text" '^sample .*"comm"="workload".*"owner"="a b".*"version"="1.2.3"' \
	'--env-label: of one program'
like "$tmp/text" '^sample .*"comm"="workload".*"version"="1.3"' 'and of the next'
! grep -q '"none"' "$tmp/text"
ok $? 'what is not set is no label'
# shellcheck disable=SC2016 # expanded by the inner shell
VERSION=9 labels --env-label VERSION -- \
	sh -c 'VERSION=$(head -c 60000 /dev/zero | tr "\0" x) exec "$0" burn 400' "$workload"
grep '^sample .*"comm"="workload"' "$tmp/text" >"$tmp/samples"
[ -s "$tmp/samples" ] && ! grep -q '"version"=' "$tmp/samples"
ok $? 'one that is too long for a label is none, nor is what was there before'
VERSION=9 labels --env-label VERSION -- "$workload" spawn 20 5
like "$tmp/text" '^sample .*"version"="9"' 'children have what their parent had'
VERSION=now "$workload" burn 600000 &
load=$!
sleep 0.2
labels --env-label VERSION -d 0.3 -p "$load"
kill "$load"
like "$tmp/text" '^sample .*"version"="now"' 'of a program that ran before'
refuses '--env-label without a name' prof-capture --env-label =x
refuses '--env-label without a key' prof-capture --env-label X=
done_testing
