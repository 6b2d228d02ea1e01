# SPDX-License-Identifier: Apache-2.0
# RFC 4180 as strictly as it goes: every line ends in CR LF, all have as many cells, a quote is
# only around a cell or doubled in one. Prints the cells, separated by TAB, one record a line.
# Cells that hold line ends are not written by us and refused.
BEGIN { RS = "\n" }
{
	if (substr($0, length) != "\r")
		bad("no CR LF at the end")
	rest = substr($0, 1, length - 1)
	if (rest ~ /[\r\t]/)
		bad("a control character")
	n = 0
	line = ""
	for (;;) {
		if (substr(rest, 1, 1) == "\"") {
			cell = ""
			rest = substr(rest, 2)
			while ((at = index(rest, "\"")) && substr(rest, at + 1, 1) == "\"") {
				cell = cell substr(rest, 1, at)
				rest = substr(rest, at + 2)
			}
			if (!at)
				bad("a quote is not closed")
			cell = cell substr(rest, 1, at - 1)
			rest = substr(rest, at + 1)
			if (rest != "" && substr(rest, 1, 1) != ",")
				bad("text after a quoted cell")
		} else {
			at = index(rest ",", ",")
			cell = substr(rest, 1, at - 1)
			if (cell ~ /"/)
				bad("a quote inside a cell without")
			rest = substr(rest, at)
		}
		line = line (n++ ? "\t" : "") cell
		if (rest == "")
			break
		rest = substr(rest, 2)
	}
	if (NR == 1)
		cells = n
	if (n != cells)
		bad(n " cells, not " cells)
	print line
}
function bad(why) {
	print "line " NR ": " why > "/dev/stderr"
	failed = 1
	exit 1
}
