# SPDX-License-Identifier: Apache-2.0
# A stream of profiles in the text form, like those of one service: 48 functions under four
# handlers, their counts varying from profile to profile by about a tenth, always in the same way.
#
#	awk -v n=5 -v seed=1 [-v grow='f03=1.5 f07=0.8'] [-v name='f04=f04.cold'] \
#	    [-v file='f01=other.c'] [-v part='f01=x'] [-v host=2] [-v load=1] [-v hostbias=0] \
#	    -f replicates.awk
#
# grow: what a function's cost is multiplied by. host: as many hosts in turn, which differ by
# hostbias. load: what all is multiplied by. part: label "part", "rest" of the other functions, or
# with ids a value for each of their samples.
function noise() {
	# the middle of three dice: a bell, of Park and Miller's numbers
	return (die() + die() + die()) / 3 - 0.5
}
function die() {
	state = (state * 16807) % 2147483647
	return state / 2147483647
}
function settings(text, into,    part, k, eq, count) {
	count = split(text, part, " ")
	for (k = 1; k <= count; k++) {
		eq = index(part[k], "=")
		into[substr(part[k], 1, eq - 1)] = substr(part[k], eq + 1)
	}
}
function part_of(id) {
	return id in within ? within[id] : ids ? r "." id : "rest"
}
BEGIN {
	settings(grow, factor)
	settings(name, called)
	settings(file, where)
	settings(part, within)
	if (!load)
		load = 1
	state = 12345 + seed * 7919
	for (r = 0; r < 10; r++)
		die()
	for (r = 0; r < n; r++) {
		printf "# profpipe text 1\nprofile\ntime %d000000000\nduration 10000000000\n", \
			1700000000 + 10 * r
		print "period \"cpu\" \"nanoseconds\" 10000000"
		print "type \"samples\" \"count\"\ntype \"cpu\" \"nanoseconds\" default"
		print "mapping 1 0x400000 0x500000 0x0 \"/usr/bin/app\" \"" build "\" FNLI"
		print "function 1 \"main\" \"main\" \"main.c\" 1"
		for (h = 0; h < 4; h++)
			printf "function %d \"handler%d\" \"handler%d\" \"main.c\" %d\n", \
				h + 2, h, h, 10 * h
		for (i = 0; i < 48; i++) {
			id = sprintf("f%02d", i)
			text = id in called ? called[id] : id
			printf "function %d \"%s\" \"%s\" \"%s\" 1\n", i + 6, text, text, \
				id in where ? where[id] : sprintf("file%02d.c", i)
		}
		for (h = 0; h < 53; h++)
			printf "location %d m1 0x%x f%d:1:0\n", h + 1, 4198400 + 64 * h, h + 1
		weight = load * (0.8 + 0.4 * die())
		for (i = 0; i < 48; i++) {
			id = sprintf("f%02d", i)
			cost = 4000 / (i + 4) * weight * (1 + 0.3 * noise())
			if (host)
				cost *= 1 + hostbias * ((i * 7 + r % host * 5) % 11 - 5) / 5
			if (id in factor)
				cost *= factor[id]
			cost = int(cost + 0.5)
			if (cost > 0)
				printf "sample %d %d0000000 : %d %d 1 : \"endpoint\"=\"/%d\"%s%s\n", \
					cost, cost, i + 6, i % 4 + 2, i % 4, \
					host ? sprintf(" \"host\"=\"h%d\"", r % host) : "", \
					part ? sprintf(" \"part\"=\"%s\"", part_of(id)) : ""
		}
		print "end"
	}
}
