# SPDX-License-Identifier: Apache-2.0
# in_main FILE PATH ID: as text, a profile of one sample in main of FILE, which was mapped as PATH
# and has the build id ID. Sourced after tap.sh.
in_main() {
	at=$(nm "$1" | awk '$3 == "main" { print $1 }')
	off=$(readelf -lW "$1" | awk '$1 == "LOAD" && / R E / { print $2, $3 }')
	cat <<-END
	# profpipe text 1
	profile
	time 1
	duration 1
	period "cpu" "nanoseconds" 1
	type "samples" "count" default
	mapping 1 0x550000001000 0x550000100000 ${off%% *} "$2" "$3" -
	location 1 m1 $(printf '0x%x' $((0x550000001000 + 0x$at - ${off##* })))
	sample 1 : 1 :
	end
	END
}
