# SPDX-License-Identifier: Apache-2.0
# What a page tells its reader to type, one line each: "FILE:LINE", a tab, the line. Lines of
# one example have the same FILE:LINE: an indented block of Markdown, a literal block or a run
# of .Dl lines in the EXAMPLES of an mdoc page. Prompts are taken off.

function begin() {
	if (!at)
		at = FILENAME ":" FNR
}
function put(s) {
	begin()
	# a prompt; the text twin begins like root's
	if (s !~ /^# profpipe text /)
		sub(/^[$#] /, "", s)
	print at "\t" s
}
FNR == 1 { at = ""; section = 0; literal = 0; markdown = FILENAME ~ /\.md$/; fenced = 0 }
markdown && /^```/ { fenced = !fenced; at = ""; next }
markdown && (fenced || /^    /) { sub(/^    /, ""); put($0); next }
markdown && !/^$/ { at = "" }
markdown { next }

/^\.Sh / { section = $2 == "EXAMPLES"; at = ""; next }
!section { next }
/^\.Bd -literal/ { literal = 1; at = ""; next }
/^\.Ed/ { literal = 0; at = ""; next }
literal || sub(/^\.Dl /, "") { gsub(/\\e/, "\\"); put($0); next }
{ at = "" }
