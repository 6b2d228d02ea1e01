#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Merges on other machines: two hosts behind sshd, and Slurm with two nodes, all on loopback. Each
# way gives the bytes of one merge and of random trees of merges, also where a host or a node is
# killed at work; what is lost is an error. Needs scripts/install-packages cluster.
. "$top/tests/lib/tap.sh"
. "$top/tests/lib/corpus.sh"
. "$top/tests/lib/merge-trees.sh"
. "$top/tests/lib/cluster.sh"

cd "$tmp" || exit
inputs in 64
job all "$tmp"/in/*.pb.gz
check_trees in 100
sum=$(sha256sum <want.pb.gz)

# is_sum DESCRIPTION: what was joined has the bytes of the trees
is_sum() {
	is "$(sha256sum <got.pb.gz)" "$sum" "$1"
	rm -f got.pb.gz
}

# at_work: waits for who reads the file that is stalled; others find it whole from then on
at_work() {
	reader "$tmp/in/06.pb.gz"
	ok $? '... a part is being made'
	resume in/06.pb.gz
}

# lost_input COMMAND…: which fails where there is one input less
lost_input() {
	mv in/06.pb.gz kept.pb.gz
	run "$@"
	is "$status" 2 'an input is lost: exit 2'
	like err 'in/06\.pb\.gz: No such file' '... and says what'
	like err '^shard: .*/all: lost: 5-of-8\.pb\.gz$' '... and says which part'
	[ ! -e got.pb.gz ]
	ok $? '... without a result'
	mv kept.pb.gz in/06.pb.gz
}

# --- hosts -------------------------------------------------------------------------------------

if ! command -v parallel >/dev/null || ! [ -x /usr/sbin/sshd ]; then
	skip 'no GNU parallel, or no sshd' 'hosts'
elif ! start_hosts east west; then
	ok 1 'hosts'
	diag ssh/*.log
else
	over-ssh hosts all 8 got.pb.gz --each=1
	is_sum 'two hosts'
	is "$(grep -l '^Accepted publickey' ssh/*.log | xargs)" 'ssh/east.log ssh/west.log' '... both of them'
	lost_input over-ssh hosts all 8 got.pb.gz
	stall in/06.pb.gz
	over-ssh hosts all 8 got.pb.gz 2>err &
	engine=$!
	at_work
	where=$(tr '\0' '\n' <"/proc/$reader/environ" | sed -n 's/^HOST_OF_TEST=//p')
	eval "daemon=\$sshd_$where"
	# the host is gone: its daemon, and what that had started
	end_line "$reader" "$daemon"
	kill -KILL "$daemon"
	no_writer
	wait "$engine"
	ok $? 'one host is killed at work'
	is_sum '... and the result is the same'
fi

# --- Slurm -------------------------------------------------------------------------------------

if ! [ -x /usr/sbin/slurmctld ] || ! [ -x /usr/sbin/slurmd ] || ! [ -x /usr/sbin/munged ]; then
	skip 'no slurmctld, slurmd or munged' 'Slurm'
	done_testing
fi
if ! start_slurm n0 n1; then
	ok 1 'Slurm'
	tail -v -n 5 slurm/*.log | diag
	done_testing
fi
over-slurm all 8 got.pb.gz --each=1
is_sum 'two nodes of Slurm'
lost_input over-slurm all 8 got.pb.gz
stall in/06.pb.gz
over-slurm all 8 got.pb.gz >out 2>err &
engine=$!
at_work
where=$(tr '\0' '\n' <"/proc/$reader/environ" | sed -n 's/^SLURMD_NODENAME=//p')
end_line "$reader" 1
kill -KILL "$(cat "slurm/$where.pid")"
rm "slurm/$where.pid"
no_writer
wait "$engine"
ok $? 'one node is killed at work' || diag err
is_sum '... and the result is the same'
like slurm/slurmctld.log "requeue.*due to failure of node $where" '... since its part ran again'
done_testing
