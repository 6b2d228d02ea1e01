#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Merges in parts, by processes of one machine: the bytes of one merge, for all that is killed; and
# errors where a part or an input is not what it was. What the Kubernetes manifest says is run for
# each of its indexes. tests/long/cluster.t has ssh and Slurm.
. "$top/tests/lib/tap.sh"
. "$top/tests/lib/cluster.sh"

cd "$tmp" || exit
inputs in 16
mkdir all
printf '../%s\0' in/*.pb.gz >all/list
prof-merge in >want.pb.gz

for n in 1 3 7 16; do
	parts all "$n" && shard join all "$n" got.pb.gz
	is_one_merge "$n parts have the bytes of one merge"
done
cp all/2-of-3.pb.gz again.pb.gz
shard part all 3 2 --each=1
cmp all/2-of-3.pb.gz again.pb.gz
ok $? 'a part that runs again has the same bytes'
rm all/2-of-3.pb.gz
SLURM_ARRAY_TASK_ID=2 shard part all 3 -
cmp all/2-of-3.pb.gz again.pb.gz
ok $? 'an index from Slurm'
set -- --without=part --since=2023-01-01T00:00:00Z -s 'part!="a b"' --window=1h -- --trim=20% --window=1h
parts all 3 "$@" && shard join all 3 got.pb.gz "$@"
ok $? 'options of the parts, and of their sum'
prof-merge --without=part --since=2023-01-01T00:00:00Z -s 'part!="a b"' --trim=20% --window=1h in >other.pb.gz
cmp got.pb.gz other.pb.gz
ok $? '... do what they do in one merge'
cmp -s other.pb.gz want.pb.gz
is $? 1 '... which is something'
rm got.pb.gz

# --- killed ------------------------------------------------------------------------------------

shard clear all 3
is "$(echo all/*-of-3.pb.gz)" 'all/*-of-3.pb.gz' 'clear takes the parts of that number away'
parts all 3
rm all/1-of-3.pb.gz
stall in/05.pb.gz
shard part all 3 1 2>err &
worker=$!
reader "$tmp/in/05.pb.gz"
ok $? 'a worker reads'
resume in/05.pb.gz
[ ! -e all/1-of-3.pb.gz ]
ok $? '... and there is no part yet'
shard part all 3 1
ok $? 'another one makes the part'
kill -KILL "$reader"
status=0
wait "$worker" || status=$?
is "$status" 2 'the first is killed, and fails'
no_writer
shard join all 3 got.pb.gz
is_one_merge 'the result is that of one merge'

# --- lost --------------------------------------------------------------------------------------

# fails PATTERN DESCRIPTION COMMAND…: exit 2, one line, and no result
fails() {
	pattern=$1 what=$2
	shift 2
	refuses "$what" "$@"
	like err "$pattern" '... and says so'
	[ ! -e got.pb.gz ]
	ok $? '... without a result'
}
mv all/1-of-3.pb.gz kept.pb.gz
fails '^shard: all: lost: 1-of-3.pb.gz$' 'a part is lost' shard join all 3 got.pb.gz
: >all/1-of-3.pb.gz
fails '^shard: all: lost: 1-of-3.pb.gz$' 'a part is empty' shard join all 3 got.pb.gz
head -c 500 kept.pb.gz >all/1-of-3.pb.gz
fails '^shard: all: not as they were made: 1-of-3.pb.gz$' 'a part is cut off' shard join all 3 got.pb.gz
mv kept.pb.gz all/1-of-3.pb.gz
touch -d '1 hour ago' all/[02]-of-3.pb.gz
fails '^shard: all: lost: 0-of-3.pb.gz 2-of-3.pb.gz$' 'parts are older than the list' \
	shard join all 3 got.pb.gz
mv in/05.pb.gz kept.pb.gz
rm all/1-of-3.pb.gz
fails '^prof-merge: ../in/05.pb.gz: No such file' 'an input is lost' shard part all 3 1
cat kept.pb.gz kept.pb.gz >in/05.pb.gz
fails '^prof-merge: expected 5 profiles, got 6$' 'an input is not what it was' shard part all 3 1 --each=1
head -c 1000 kept.pb.gz >in/05.pb.gz
fails '^prof-merge: ../in/05.pb.gz: ' 'an input is cut off' shard part all 3 1
[ ! -e all/1-of-3.pb.gz ]
ok $? '... and its part is not made'
mv kept.pb.gz in/05.pb.gz

refuses 'more parts than inputs' shard clear all 17
refuses '... one of them' shard part all 17 16
refuses 'an index too large' shard part all 3 3
refuses 'no index' shard part all 3 -
refuses 'a number that is none' shard clear all 3x
refuses 'no parts' shard clear all 0
refuses 'too few operands' shard join all 3
refuses 'no such directory' shard join none 3 got.pb.gz
refuses 'a directory without a list' shard join in 3 got.pb.gz

# --- the how-to --------------------------------------------------------------------------------

# in profiles: two hosts, eight hours of a day, and another one
for i in $(seq 0 15); do
	mkdir -p "profiles/host$((i % 2))/1h/2026-12"
	cp "in/$(printf %02d $((i + 1))).pb.gz" \
		"profiles/host$((i % 2))/1h/2026-12/2026120$((1 + (i == 15)))T$(printf %02d "$i")Z.pb.gz"
done
prof-merge --without=pid,ppid,thread_id --trim=0.1% profiles/host*/1h/2026-12/20261201T* >want.pb.gz
block 3 >contract.sh
like contract.sh '^"\$cluster/shard" join' 'the how-to has commands'
sh -e contract.sh && mv day.pb.gz got.pb.gz
is_one_merge 'the result of the how-to is that of one merge'

# --- engines -----------------------------------------------------------------------------------

if command -v parallel >/dev/null; then
	echo '2/:' >hosts
	# a store with half an hour of the last one; parallel takes this machine for a host
	PATH=$top/scripts:$PATH
	prof-merge --label=comm=app in | prof-render -f text |
		sed "s/^time .*/time $(($(date +%s) - 1800))000000000/; s/^duration .*/duration 60000000000/" |
		prof-merge -o hour.pb.gz
	prof-spool init store && prof-spool add store hour.pb.gz
	prof-merge --label="host=$(hostname)" hour.pb.gz >want.pb.gz
	echo '1/:' >hosts
	block 1 >ask.sh
	bash -e ask.sh
	ok $? 'the how-to asks each host' || diag ask.sh
	mv hour.pb.gz got.pb.gz
	is_one_merge '... and has what it has'
	echo '1/nobody@127.0.0.1:1' >>hosts
	run bash -e ask.sh
	is "$status" 2 '... or an error, if one does not answer'
	[ ! -e hour.pb.gz ]
	ok $? '... and no result'
	echo '2/:' >hosts
	prof-merge in >want.pb.gz
	over-ssh hosts all 5 got.pb.gz --each=1
	is_one_merge 'GNU parallel on this machine'
	mv in/07.pb.gz kept.pb.gz
	run over-ssh hosts all 5 got.pb.gz
	is "$status" 2 '... fails where an input is lost'
	like err '^shard: .*/all: lost: 1-of-5.pb.gz$' '... and says which part that is'
	mv kept.pb.gz in/07.pb.gz
	block 4 >ssh.sh
	like ssh.sh '^"\$cluster/over-ssh"' 'the how-to has a command for that'
	prof-merge --without=pid,ppid,thread_id --trim=0.1% profiles/host*/1h/2026-12/20261201T* >want.pb.gz
	cluster=$cluster sh -e ssh.sh && mv day.pb.gz got.pb.gz
	is_one_merge '... with the result of one merge'
else
	skip 'no GNU parallel' 'GNU parallel on this machine'
fi

unset MAKEFLAGS MFLAGS MAKELEVEL BUILD
image=profpipe:$(make -s -C "$top" print-VERSION)

# pod NAME: what a job of the manifest runs, and how often, with this machine's places for its own
pod() {
	python3 -c 'if True:
		import json, shlex, sys, yaml
		name, shard, profiles = sys.argv[2:]
		jobs = {j["metadata"]["name"]: j for j in yaml.safe_load(open(sys.argv[1]))["items"]}
		spec = jobs[name]["spec"]
		box, = spec["template"]["spec"]["containers"]
		words = [w.replace("/profiles", profiles) for w in box["args"]]
		assert box["command"] == ["/usr/local/share/profpipe/cluster/shard"]
		assert (spec.get("completionMode"), spec.get("suspend")) in (("Indexed", None), (None, True))
		print(spec.get("completions", 1), shlex.join([shard] + words))' \
		"$cluster/kubernetes.yaml" "$1" "$cluster/shard" "$tmp/profiles"
}
if python3 -c 'import yaml' 2>/dev/null; then
	run python3 "$top/tests/lib/manifest.py" "$cluster/kubernetes.yaml"
	is "$status$(cat err)" 0 'the Kubernetes manifest is well-formed' || diag out err
	is "$(awk -F'\t' '/^Job/ { print } /^container/ { print $3, $4 }' out | xargs)" \
		"Job prof-part $image none Job prof-join $image none" '... two jobs, without capabilities'
	sed 's/  restartPolicy: Never/  restartPolicy: Always/' "$cluster/kubernetes.yaml" >bad.yaml
	run python3 "$top/tests/lib/manifest.py" bad.yaml
	is "$status $(head -n 1 out)" '1 Job/prof-part: restarts for ever' '... and faults are found'
	mkdir profiles/job
	prof-merge in >want.pb.gz
	printf '%s\0' "$tmp"/in/*.pb.gz >profiles/job/list
	pod prof-part >part.txt && read -r completions command <part.txt
	is "$completions" 8 '... of eight parts'
	for i in $(seq 0 $((completions - 1)) | shuf); do
		JOB_COMPLETION_INDEX=$i sh -c "$command" || break
	done
	ok $? '... which its command makes'
	pod prof-join >join.txt && read -r completions command <join.txt
	sh -c "$command" && mv profiles/job/all.pb.gz got.pb.gz
	is_one_merge '... and joins, as one merge would'
else
	skip 'no python3-yaml' 'the Kubernetes manifest'
fi
done_testing
