# SPDX-License-Identifier: Apache-2.0
# Profiles to merge in parts, and machines to do it: hosts behind sshd and nodes of Slurm, all on
# loopback, with keys and settings of their own. Sourced after tap.sh.
cluster=$top/scripts/cluster
PATH=$cluster:$PATH
writer=''
trap 'stop_cluster; rm -rf "$tmp"' EXIT

# inputs DIR N: profiles of one service, a file each: 01.pb.gz and so on
inputs() {
	mkdir -p "$1"
	for i in $(seq -w "$2"); do
		awk -v n=1 -v load=0.1 -v seed="$i" -v part="f0${i#?}" \
			-f "$top/tests/lib/replicates.awk" | prof-merge -o "$1/$i.pb.gz"
	done
}

# job DIR FILE…: a directory with a list
job() {
	mkdir -p "$1"
	_job=$1
	shift
	printf '%s\0' "$@" >"$_job/list"
}

# parts DIR N [OPTION…]: all of them, in an order of chance
parts() {
	_dir=$1 _n=$2
	shift 2
	for i in $(seq 0 $((_n - 1)) | shuf); do
		shard part "$_dir" "$_n" "$i" "$@" || return
	done
}

# is_one_merge DESCRIPTION: what was joined is
is_one_merge() {
	cmp got.pb.gz want.pb.gz
	ok $? "$1"
	rm -f got.pb.gz
}

# block N: the Nth block of shell of docs/howto-fleet.md, with places of this test for its own
block() {
	awk -v n="$1" '/^```/ { inside = !inside && $0 == "```sh" && ++k == n; next } inside' \
		"$top/docs/howto-fleet.md" | sed "s|/usr/local/share/profpipe/cluster|$cluster|
			s|/profiles|$tmp/profiles|g; s|/var/lib/profpipe|$tmp/store|g"
}

# stall FILE: who reads it gets its beginning, and then waits; until resume
stall() {
	mv "$1" "$1.whole" && mkfifo "$1"
	rm -f "$tmp/opened"
	(
		exec 9>"$1"
		head -c 1000 "$1.whole" >&9
		: >"$tmp/opened"
		exec sleep 600
	) &
	writer=$!
}

# reader FILE: waits for the prof-merge that reads a stalled file, which is $reader then
reader() {
	reader=''
	wait_for [ -e "$tmp/opened" ] || return
	for _pid in $(pgrep -x prof-merge); do
		[ -z "$(find "/proc/$_pid/fd" -lname "$1" 2>/dev/null)" ] || reader=$_pid
	done
	[ "$reader" ]
}

# resume FILE: for who opens it from now on
resume() {
	mv "$1.whole" "$1"
}

# no_writer: who still reads a stalled file has its end
no_writer() {
	kill "$writer"
	wait "$writer" 2>/dev/null
	writer=''
}

# end_line PID ANCESTOR: kill a process and those it descends from, below ANCESTOR
end_line() {
	_line=''
	_pid=$1
	while [ "$_pid" -gt 1 ] && [ "$_pid" -ne "$2" ]; do
		_line="$_line $_pid"
		_pid=$(($(ps -o ppid= -p "$_pid")))
	done
	# shellcheck disable=SC2086
	kill -KILL $_line
}

# free_ports N: numbers
free_ports() {
	python3 -c 'if True:
		import socket, sys
		all = [socket.create_server(("127.0.0.1", 0)) for i in range(int(sys.argv[1]))]
		print(*[s.getsockname()[1] for s in all])' "$1"
}

# --- hosts -------------------------------------------------------------------------------------

# start_hosts NAME…: an sshd each, which `ssh -F $tmp/ssh/config NAME` reaches; $sshd_NAME
start_hosts() {
	mkdir "$tmp/ssh"
	[ "$(id -u)" -ne 0 ] || mkdir -p /run/sshd
	for _key in host user; do
		ssh-keygen -q -t ed25519 -N '' -f "$tmp/ssh/$_key"
	done
	for _host; do
		_port=$(free_ports 1)
		cat >"$tmp/ssh/$_host" <<-END
			ListenAddress 127.0.0.1:$_port
			HostKey $tmp/ssh/host
			AuthorizedKeysFile $tmp/ssh/user.pub
			PermitRootLogin prohibit-password
			StrictModes no
			UsePAM no
			PidFile none
			SetEnv "PATH=$PATH" HOST_OF_TEST=$_host
		END
		cat >>"$tmp/ssh/config" <<-END
			Host $_host
			HostName 127.0.0.1
			Port $_port
		END
		/usr/sbin/sshd -D -f "$tmp/ssh/$_host" -E "$tmp/ssh/$_host.log" &
		eval "sshd_$_host=$!"
		sshds="${sshds-} $!"
	done
	cat >>"$tmp/ssh/config" <<-END
		Host *
		IdentityFile $tmp/ssh/user
		IdentitiesOnly yes
		BatchMode yes
		StrictHostKeyChecking no
		UserKnownHostsFile /dev/null
		LogLevel ERROR
	END
	for _host; do
		echo "2/ssh -F $tmp/ssh/config $_host" >>"$tmp/hosts"
		wait_for ssh -n -F "$tmp/ssh/config" "$_host" true || return
	done
}

# --- Slurm -------------------------------------------------------------------------------------

# start_slurm NODE…: a controller and these nodes; their process ids are in $tmp/slurm/NODE.pid
start_slurm() {
	_at=$tmp/slurm
	_name=$(hostname)
	mkdir "$_at" "$_at/state" "$_at/munge"
	# munged insists
	chmod a+x "$tmp"
	(umask 077 && head -c 128 /dev/urandom >"$_at/key")
	/usr/sbin/munged --socket="$_at/munge/socket" --key-file="$_at/key" --num-threads=2 \
		--pid-file="$_at/munged.pid" --log-file="$_at/munged.log" --seed-file="$_at/seed" || return
	cat >"$_at/slurm.conf" <<-END
		ClusterName=test
		SlurmctldHost=$_name(127.0.0.1)
		SlurmctldPort=$(free_ports 1)
		SlurmUser=$(id -un)
		SlurmdUser=$(id -un)
		AuthInfo=socket=$_at/munge/socket,cred_expire=10
		MpiDefault=none
		ProctrackType=proctrack/linuxproc
		TaskPlugin=task/none
		JobAcctGatherType=jobacct_gather/none
		ReturnToService=2
		SlurmdTimeout=10
		SlurmctldPidFile=$_at/slurmctld.pid
		SlurmctldLogFile=$_at/slurmctld.log
		SlurmdPidFile=$_at/%n.pid
		SlurmdLogFile=$_at/%n.log
		SlurmdSpoolDir=$_at/spool-%n
		StateSaveLocation=$_at/state
		SlurmdParameters=config_overrides
		SelectType=select/cons_tres
		SelectTypeParameters=CR_CPU
		PartitionName=main Nodes=$(echo "$*" | tr ' ' ,) Default=YES
	END
	for _node; do
		echo "NodeName=$_node NodeHostname=$_name NodeAddr=127.0.0.1 Port=$(free_ports 1) CPUs=1"
	done >>"$_at/slurm.conf"
	export SLURM_CONF="$_at/slurm.conf"
	/usr/sbin/slurmctld -c || return
	for _node; do
		/usr/sbin/slurmd -N "$_node" || return
	done
	wait_for idle "$@"
}

# idle NODE…: all of them have nothing to do
idle() {
	[ "$(sinfo -h -N -t idle -o %N 2>/dev/null | sort | xargs)" = "$*" ]
}

# stop_cluster: ends all that was started
stop_cluster() {
	# shellcheck disable=SC2086
	kill $writer ${sshds-} 2>/dev/null
	[ -d "$tmp/slurm" ] || return 0
	scancel -f -u "$(id -un)" 2>/dev/null
	wait_for no_jobs
	for _file in "$tmp/slurm"/*.pid; do
		[ ! -s "$_file" ] || kill "$(cat "$_file")" 2>/dev/null
	done
	wait_for no_daemons
}

no_jobs() {
	[ -z "$(squeue -h 2>/dev/null)" ]
}

# no_daemons: those that end take their file away
no_daemons() {
	[ -z "$(find "$tmp/slurm" -name '*.pid')" ]
}
