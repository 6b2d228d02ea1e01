#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Completion of options, in a bash as it would ask.
. "$top/tests/lib/tap.sh"

library=/usr/share/bash-completion/bash_completion
[ -f "$library" ] || skip_all 'bash-completion is not installed'
[ -x "$build/bin/prof-merge" ] || skip_all 'prof-merge is not built'

# answers PROGRAM WORD…: the answers for the last word, sorted
answers() {
	# shellcheck disable=SC2016
	bash --norc -c '
		. "$1"; . "$2"
		compopt() { :; }
		shift 2
		COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE="$*" COMP_POINT=${#COMP_LINE}
		_profpipe "$1" "${!#}" "${COMP_WORDS[COMP_CWORD - 1]}"
		printf "%s\n" "${COMPREPLY[@]}"
	' - "$library" "$top/scripts/completion.bash" "$@" 2>"$tmp/err" | sort
}

is "$(answers prof-merge --exp)" '--expect=' 'an option with an argument'
is "$(answers prof-merge --skip-b)" '--skip-bad' 'an option without'
is "$(answers prof-merge --no-such)" '' 'no option'
: >"$tmp/one.pb.gz"
is "$(answers prof-merge "$tmp/on")" "$tmp/one.pb.gz" 'a file'
is "$(answers prof-merge --list v)" 'values' 'what an option takes'
# what the program itself says there is when it is given something else
while read -r name option; do
	"$build/bin/$name" "$option=zz" 2>&1 >"$tmp/out" </dev/null | sed 's/^[^:]*: [^:]*: //' |
		tr -cs 'a-z-' '\n' | grep -vxE -e '|is|not|or|nor|neither|with|zz' | sort >"$tmp/want"
	answers "$name" "$option" '' >"$tmp/got"
	same "$tmp/got" "$tmp/want" "$name $option: all that it takes"
done <<'OPTIONS'
prof-diff --granularity
prof-diff --names
prof-diff --norm
prof-diff --report
prof-diff --sort
prof-merge --list
prof-render --sort
prof-symbolize --demangle
prof-symbolize --report
prof-symbolize --return-addresses
OPTIONS
is "$(answers prof-scrape r)" 'run' 'a command of a script'
printf '#!/bin/sh\n' >"$tmp/one-command"
chmod +x "$tmp/one-command"
is "$(PATH=$PATH:$tmp answers prof-capture -d 5 -- one-c)" one-command 'a command behind --'
is "$(answers prof-capture -- "$tmp/one-command" "$tmp/one.")" "$tmp/one.pb.gz" 'and its operand'
for program in "$build"/bin/prof-*; do
	name=$(basename "$program")
	"$program" --help | grep -oE -e '--[a-z][a-z-]*' | sort -u >"$tmp/help"
	answers "$name" -- | grep -oE -e '--[a-z][a-z-]*' | sort -u >"$tmp/got"
	is "$(comm -13 "$tmp/help" "$tmp/got")" '' "$name: offers only what --help has"
	is "$(answers "$name" -- | sed 's/=$//' | sort | uniq -d)" '' "$name: offers nothing twice"
	is "$(grep -cxE -e '--(help|output|version)' "$tmp/got")" 3 "$name: offers the common ones"
done
done_testing
