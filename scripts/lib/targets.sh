# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# The targets file of prof-scrape.

PROFILES='profile heap allocs goroutine block mutex threadcreate fgprof'

# read_targets FILE: what is to be fetched, a line for each profile:
# NAME URL JOB INSTANCE PROFILE INTERVAL SECONDS TIMEOUT BEARER-FILE [LABEL=VALUE…]
# NAME is JOB/INSTANCE/PROFILE as names of files. Without a bearer file there is "-".
read_targets() {
	[ -f "$1" ] && [ -r "$1" ] || die "$1: not a file that can be read"
	program=$program file=$1 profiles=$PROFILES awk '
		function bad(why) {
			gsub(/[^ -~]/, "?", why)
			printf "%s: %s:%d: %s\n", ENVIRON["program"], ENVIRON["file"], NR, \
				substr(why, 1, 200) > "/dev/stderr"
			failed = 1
			exit
		}
		function time_of(key,   n) {
			n = set[key]
			sub(/[smhd]$/, "", n)
			if (n !~ /^[0-9]+$/ || length(n) > 6 || n + 0 == 0)
				bad("not a time: " key "=" set[key])
			n *= (set[key] ~ /m$/ ? 60 : set[key] ~ /h$/ ? 3600 : set[key] ~ /d$/ ? 86400 : 1)
			if (n > 366 * 86400)
				bad("longer than a year: " key "=" set[key])
			return n
		}
		# as prof-merge writes values of labels in names of files
		function as_name(s,   i, c, name) {
			for (i = 1; i <= length(s); i++) {
				c = substr(s, i, 1)
				name = name (c ~ /[A-Za-z0-9_+=,:@-]/ || (c == "." && i > 1) ? c : \
					sprintf("%%%02X", code[c]))
			}
			return name
		}
		function read_url(url,   slash) {
			if (url !~ /^https?:\/\//)
				bad("not a URL of http or https: " url)
			if (url ~ /[?#]/)
				bad("no ? and # in a URL, please")
			scheme = substr(url, 1, index(url, "//") + 1)
			host = substr(url, length(scheme) + 1)
			slash = index(host, "/")
			path = slash ? substr(host, slash) : ""
			host = slash ? substr(host, 1, slash - 1) : host
			if (host ~ /@/)
				bad("no name and password in a URL, please: bearer-file= keeps a secret")
			if (host !~ /^([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]+)?$/ || length(host) > 255)
				bad("not a host: " host)
			if (!match(host, /:[0-9]+$/))
				host = host (scheme ~ /^https/ ? ":443" : ":80")
			else if (RLENGTH > 6 || substr(host, RSTART + 1) + 0 > 65535)
				bad("not a port: " host)
			if (path !~ /^[A-Za-z0-9._~%\/+=,:-]*$/)
				bad("not a path of a URL: " path)
			sub(/\/+$/, "", path)
			if (path == "")
				path = "/debug/pprof"
		}
		function read_words(   i, at, key, value) {
			split("", set)
			labels = ""
			for (i = 2; i <= NF && $i !~ /^#/; i++) {
				at = index($i, "=")
				key = substr($i, 1, at - 1)
				value = substr($i, at + 1)
				if (!at || value == "")
					bad("not KEY=VALUE: " $i)
				if (key in set)
					bad(key "= is there twice")
				if ($i == "bearer-file=-")
					bad("not the name of a file: " $i)
				set[key] = value
				if (key ~ /^label\.(job|instance|profile)$/)
					bad("a label that is there anyway: " key)
				if (key ~ /^label\.[A-Za-z_][A-Za-z0-9_.]*$/)
					labels = labels " " substr($i, 7)
				else if (key !~ /^(job|profiles|interval|seconds|timeout|bearer-file)$/)
					bad("not a setting: " key)
			}
			if (!("job" in set))
				bad("no job=")
			if (length(as_name(set["job"])) > 200)
				bad("job= is too long")
			if (!("profiles" in set))
				set["profiles"] = "profile,heap,goroutine"
			interval = "interval" in set ? time_of("interval") : 15
			timeout = "timeout" in set ? time_of("timeout") : 10
			seconds = "seconds" in set ? time_of("seconds") : interval < 10 ? interval : 10
		}
		# heap and allocs differ in what is looked at first
		function once_only(profile,   what) {
			what = set["job"] " " host " " (profile == "allocs" ? "heap" : profile)
			if (what in seen)
				bad(profile " of this job and host is in line " seen[what] " already" \
					(profile ~ /heap|allocs/ ? "; heap and allocs are the same" : ""))
			seen[what] = NR
		}
		function fetch(profile,   url, timed) {
			if (!(profile in known))
				bad("not a profile: " profile " (" ENVIRON["profiles"] ")")
			once_only(profile)
			timed = profile ~ /^(profile|fgprof)$/
			if (timed && seconds > interval)
				bad("seconds=" seconds " is longer than interval=" interval)
			url = path
			if (profile == "fgprof") # is beside the others
				sub(/\/pprof$/, "", url)
			url = scheme host url "/" profile (timed ? "?seconds=" seconds : "")
			if (++n > 2000)
				bad("more than 2000 profiles: share them out among several files")
			line[n] = as_name(set["job"]) "/" as_name(host) "/" profile " " url " " set["job"] " " \
				host " " profile " " interval " " (timed ? seconds : 0) " " timeout " " \
				("bearer-file" in set ? set["bearer-file"] : "-") labels
		}
		BEGIN {
			for (i = 1; i < 256; i++)
				code[sprintf("%c", i)] = i
			i = split(ENVIRON["profiles"], list, " ")
			while (i > 0)
				known[list[i--]]
		}
		{ sub(/\r$/, "") }
		/^[ \t]*(#|$)/ { next }
		{
			shown = $0
			gsub(/\t/, " ", shown)
			if (shown ~ /[[:cntrl:]]/)
				bad("a control character")
			# it becomes one argument of a program
			if (length($0) > 65536)
				bad("a line of more than 64 kB")
			read_url($1)
			read_words()
			wanted = split(set["profiles"], list, ",")
			for (i = 1; i <= wanted; i++)
				fetch(list[i])
		}
		END {
			if (!failed && !n) {
				printf "%s: %s: no target\n", ENVIRON["program"], ENVIRON["file"] > "/dev/stderr"
				failed = 1
			}
			for (i = 1; i <= n && !failed; i++)
				print line[i]
			exit failed ? 2 : 0
		}' <"$1"
}
