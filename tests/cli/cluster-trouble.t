#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Merges in parts among those that mean them harm: parts of other options or another list, options
# that make no sense in parts, names of all kinds, what was left by those that were killed, two at
# once.
. "$top/tests/lib/tap.sh"
. "$top/tests/lib/cluster.sh"

cd "$tmp" || exit
inputs in 10
mkdir all
printf '../%s\0' in/*.pb.gz >all/list
prof-merge in >want.pb.gz
nl='
'

# fails MESSAGE COMMAND…: exit 2, that line, and no result
fails() {
	message=$1
	shift
	refuses "fails: $message" "$@"
	is "$(cat err)" "$message" '... with that line'
	[ ! -e got.pb.gz ]
	ok $? '... without a result'
}

# --- parts of something else -------------------------------------------------------------------

parts all 2 --without=part
fails 'shard: all: 0-of-2.pb.gz: made with other options: --without=part' shard join all 2 got.pb.gz
fails 'shard: all: 0-of-2.pb.gz: made with other options: --without=part' \
	shard join all 2 got.pb.gz --without=comm
fails 'shard: all: 0-of-2.pb.gz: made without --each=1' shard join all 2 got.pb.gz --each=1 --without=part
shard join all 2 got.pb.gz --without=part
is "$? $(prof-merge --list=values --by=part got.pb.gz 2>&1 | grep -c f0)" '0 0' 'with the same ones it is a sum'
rm got.pb.gz
shard part all 2 1 --each=1
fails 'shard: all: 1-of-2.pb.gz: made with other options: none' shard join all 2 got.pb.gz --without=part
fails 'shard: all: 0-of-2.pb.gz: made with other options: --without=part' shard join all 2 got.pb.gz
parts all 2 "--label=a=b$nl--without=part"
fails 'shard: all: 0-of-2.pb.gz: made with other options: --label=a=b?--without=part' \
	shard join all 2 got.pb.gz --label=a=b --without=part
parts all 2 --each=1
shard join all 2 got.pb.gz
is_one_merge 'who does not ask for --each has parts that were made with it'
shard join all 2 got.pb.gz --each=1
is_one_merge '... and who does, too'
fails 'shard: all: 0-of-2.pb.gz: made without --each=2' shard join all 2 got.pb.gz --each=2
mv all/0-of-2.made kept
fails 'shard: all: lost: 0-of-2.pb.gz' shard join all 2 got.pb.gz
cp all/1-of-2.made all/0-of-2.made
fails 'shard: all: not as they were made: 0-of-2.pb.gz' shard join all 2 got.pb.gz
head -c 100 kept >all/0-of-2.made
fails 'shard: all: lost: 0-of-2.pb.gz' shard join all 2 got.pb.gz
mv kept all/0-of-2.made
# a list of before that has other names: the time of it says nothing
cp -p all/list kept
printf '../in/%s\0' 01.pb.gz 02.pb.gz 03.pb.gz >all/list
touch -r kept all/list
fails 'shard: all: lost: 0-of-2.pb.gz 1-of-2.pb.gz' shard join all 2 got.pb.gz
mv kept all/list
shard join all 2 got.pb.gz
is_one_merge 'all is as it was'

# --- options -----------------------------------------------------------------------------------

for option in --trim=1% --max-stacks=9 --mean --rate --scale=2 --minus=../in/01.pb.gz --expect=3 --tri=1%; do
	refuses "$option is for the sum" shard part all 2 0 "$option"
	like err "^shard: an option for the sum, to stand behind --: $option$" '... as is said'
done
for option in -o/dev/null --output=x --files0-from=list --list=types --help --version '-?'; do
	refuses "$option is for nobody" shard part all 2 0 "$option"
	refuses '... nor for the sum' shard join all 2 got.pb.gz -- "$option"
done
for option in --since=2020-01-01 --until=@5 --skip-bad --label-from-name=x --replicates=3; do
	fails "shard: an option for the parts, to stand before --: $option" \
		shard join all 2 got.pb.gz -- "$option"
done
fails 'shard: each part would have a time of its own: --since=-1h' shard part all 2 0 --since=-1h
fails 'shard: each part would have a time of its own: --until=-1h' shard part all 2 0 --until -1h
for options in '--window=1h' '-- --window=1h' '--window=1h -- --window=2h' '--window 1h'; do
	# shellcheck disable=SC2086 # words
	refuses "windows of one side: $options" shard join all 2 got.pb.gz $options
	like err '^shard: on both sides of --, or on none: --window=' '... as is said'
done
parts all 2 --window 1h -s part=f01 -- --window 1h --label=a=b --replicates 2:part
ok $? 'options of two words'
shard join all 2 got.pb.gz --window 1h -s part=f01 -- --window 1h --label=a=b --replicates 2:part
prof-merge --window 1h -s part=f01 --label=a=b --replicates 2:part in | cmp - got.pb.gz
ok $? '... for both sides'
rm got.pb.gz
refuses 'clear with more than it takes' shard clear all 2 0
refuses 'a part of a file more' shard part all 2 0 ../in/01.pb.gz

# --- names -------------------------------------------------------------------------------------

rm -f all/*-of-2.*
parts all 2
mkdir other
touch other/list
for dir in ' a  b' '-' '-x' "lines$nl and a tail$nl" '*' "quo'te\"" '%a{}{1}$HOME' 'back\slash'; do
	mkdir -p "./$dir/in"
	for f in in/*; do
		cp "$f" "./$dir/in/-${f#in/}$nl x"
	done
	(cd "./$dir" && printf '%s\0' in/* >list)
	CDPATH=$tmp/other:$tmp/all parts "$dir" 2 --each=1 &&
		shard join "$dir" 2 "./$dir/-got $nl" --each=1
	mv "./$dir/-got $nl" got.pb.gz
	is_one_merge "a directory named '$(printf %s "$dir" | tr '\n' ' ')'"
done
shard join all 2 - >got.pb.gz
is_one_merge 'to standard output'
refuses 'an empty name' shard join '' 2 got.pb.gz
mkdir -- dash -d
cp in/01.pb.gz dash/-
cp in/02.pb.gz dash/-d
(cd dash && printf '%s\0' -d - >list)
fails 'shard: dash/list: not the name of a file: -' shard part dash 2 1
shard part dash 2 0
cmp dash/0-of-2.pb.gz in/02.pb.gz
ok $? 'a file with a dash is one'
# its parts would be its inputs
mkdir in/job
printf '%s\0' ../../other ../../in >in/job/list
fails 'shard: in/job: is in a directory that its list names' shard part in/job 1 0
rm -r in/job
is "$(find . -name '.shard*')" '' 'nothing half done is left'

# --- what was killed ---------------------------------------------------------------------------

stall in/01.pb.gz
shard part all 2 0 2>err &
worker=$!
reader "$tmp/in/01.pb.gz"
ok $? 'a part is being made'
resume in/01.pb.gz
kill -KILL "$worker" "$reader"
wait "$worker" 2>/dev/null
no_writer
left=$(find all -name '.shard-0-of-2.??????')
is "$(printf '%s' "$left" | grep -c '')" 1 '... and killed, it leaves a directory'
shard part all 2 1
[ -d "$left" ]
ok $? '... which for a day is that of one at work, for all that others know'
touch -d '2 days ago' "$left"
mkdir all/.shard-x all/.shard-0-of-2 all/.shard-1-of-2.abcdef
: >all/.shard-1-of-2.abcdef/held
touch -d '2 days ago' all/.shard-* all/.other
stall in/03.pb.gz
shard part all 2 0 2>err &
worker=$!
reader "$tmp/in/03.pb.gz"
is "$? $(find "$left" 2>/dev/null)" '0 ' '... and then is taken away'
resume in/03.pb.gz
held=$(find all -name '.shard-0-of-2.??????')
touch -d '2 days ago' "$held"
shard clear all 2
is "$(find all -name '.[a-z]*' | sort | xargs)" "all/.other all/.shard-0-of-2 $held all/.shard-x" \
	'one at work, and files of others, stay'
no_writer
wait "$worker"
is "$(cd all && find . | sort | xargs)" '. ./.other ./.shard-0-of-2 ./.shard-x ./list' 'and one that fails leaves nothing'
rm -r all/.shard-*

# --- two at once -------------------------------------------------------------------------------

for i in 1 2 3 4; do
	parts all 3 2>>err.all &
	[ $((i % 2)) = 1 ] || parts all 2 --without=part 2>>err.all &
done
wait
shard join all 3 got.pb.gz
is_one_merge 'four make the same parts at once'
is "$(cat err.all)" '' '... and none says anything'
# of two with other options, a sum is of one of them, or none
prof-merge --without=part in >less.pb.gz
bad=0
for i in 1 2 3 4 5 6; do
	parts all 2 &
	parts all 2 --without=part &
	wait
	if shard join all 2 got.pb.gz 2>/dev/null; then
		cmp -s got.pb.gz want.pb.gz || bad=1
	elif shard join all 2 got.pb.gz --without=part 2>/dev/null; then
		cmp -s got.pb.gz less.pb.gz || bad=1
	fi
	rm -f got.pb.gz
done
is $bad 0 'two with other options do not become a mixture'
: >all/1x-of-2.pb.gz
shard clear all 2
is "$(find all -name '*-of-2*')" all/1x-of-2.pb.gz 'clear takes what is its own'

# --- Slurm, as far as over-slurm speaks to it ----------------------------------------------------

mkdir bin
cat >bin/sbatch <<'END'
#!/bin/sh
# runs what it is given at once; the second job fails to be queued if $refused is there
array='' log=
while :; do
	case $1 in
	--array=*) array=$(seq "$(echo "${1#*=}" | tr - ' ' | cut -d' ' -f1)" "${1##*-}") ;;
	--output=*) log=${1#*=} ;;
	--*) ;;
	*) break ;;
	esac
	shift
done
printf '%s\n' "$log" >>"$tmp/logs"
if [ "$array" ]; then
	for i in $array; do
		SLURM_ARRAY_TASK_ID=$i "$@" || echo "part $i failed" >&2
	done
	echo 7
elif [ -e "$tmp/refused" ]; then
	echo 'sbatch: error: Batch job submission failed' >&2
	exit 1
else
	"$@" && echo COMPLETED >"$tmp/state" || echo FAILED >"$tmp/state"
	echo '8;here'
fi
END
cat >bin/scontrol <<'END'
#!/bin/sh
# of no job in particular, those of others
case $4 in
8) echo "JobId=8 JobState=$(cat "$tmp/state") Reason=None" ;;
'') echo 'JobId=3 JobState=COMPLETED Reason=None' ;;
esac
END
chmod +x bin/*
export tmp
PATH=$tmp/bin:$PATH
dir='%a{}{1}$HOME'
over-slurm "$dir" 3 got.pb.gz --each=1
is_one_merge 'over-slurm, a directory that sbatch would take for a pattern'
is "$(cat logs)" "$(printf '%s\n' "$tmp/%%a{}{1}\$HOME/%a.log" "$tmp/%%a{}{1}\$HOME/join.log")" '... with logs there'
: >refused
run over-slurm "$dir" 3 got.pb.gz
is "$status $(tail -n 1 err)" '2 over-slurm: the sum could not be queued' 'a sum that is not queued is an error'
rm refused
mv "$dir/list" kept
printf '%s\0' nothing nobody nowhere >"$dir/list"
run over-slurm "$dir" 3 got.pb.gz
is "$status $(tail -n 1 err)" '2 over-slurm: job 8 did not complete' '... and so are lost parts'
mv kept "$dir/list"
fails 'over-slurm: the sum is made by a job, which has no standard output of yours' over-slurm all 3 -
exec 9>>all/.lock
flock 9
fails "over-slurm: $tmp/all: another run is at work" over-slurm all 3 got.pb.gz
exec 9>&-
fails 'over-slurm: nowhere: no directory with a list' over-slurm nowhere 3 got.pb.gz

if ! command -v parallel >/dev/null; then
	skip 'no GNU parallel' 'over-ssh with braces'
	done_testing
fi
echo '2/:' >'ho sts'
for dir in "lines$nl and a tail$nl" "quo'te\"" '%a{}{1}$HOME'; do
	over-ssh 'ho sts' "$dir" 3 got.pb.gz --each=1
	is_one_merge "over-ssh, a directory named '$(printf %s "$dir" | tr '\n' ' ')'"
done
select='{part!~"x{1}|{}|{#}|{=1=}| y'"'$nl"'"}'
over-ssh 'ho sts' all 3 got.pb.gz --each=1 -s "$select"
is_one_merge 'over-ssh, a selector with all that parallel has a meaning for'
is "$(printf '%s\0' -s "$select" | sha256sum | cut -c 1-64)" \
	"$(sed -n 's/^options \([0-9a-f]*\) .*/\1/p' all/0-of-3.made)" '... which comes as it was'
over-ssh 'ho sts' all 3 - >got.pb.gz
is_one_merge 'over-ssh, to standard output'
stall in/01.pb.gz
over-ssh 'ho sts' all 2 got.pb.gz 2>err.ssh &
engine=$!
reader "$tmp/in/01.pb.gz"
resume in/01.pb.gz
fails "over-ssh: $tmp/all: another run is at work" over-ssh 'ho sts' all 2 other.pb.gz
no_writer
wait "$engine"
is_one_merge '... and that one goes on'
fails 'over-ssh: nowhere: no directory with a list' over-ssh 'ho sts' nowhere 2 got.pb.gz
fails 'over-ssh: nobody: cannot be read' over-ssh nobody all 2 got.pb.gz
done_testing
