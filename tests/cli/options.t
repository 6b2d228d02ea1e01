#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Programs, their --help and their pages agree, and the check of that can say no.
. "$top/tests/lib/tap.sh"

run "$top/scripts/check-options" "$build/bin"
ok "$status" 'each option is in --help and in the page' || diag "$tmp/out"

for program in "$build"/bin/prof-*; do
	[ -x "$program" ] || continue
	name=$(basename "$program")
	run "$program" --help
	is "$status" 0 "$name --help: exit status"
	is "$(wc -c <"$tmp/err")" 0 "$name --help: nothing on standard error"
	like "$tmp/out" "$name\(1\)" "$name --help: names its page"
	run "$program" --version
	is "$status" 0 "$name --version: exit status"
	like "$tmp/out" "^$name .*[0-9]+\.[0-9]+\.[0-9]+" "$name --version: name and number"
	run "$program" --no-such-option
	is "$status" 2 "$name --no-such-option: exit status"
	is "$(wc -c <"$tmp/out")" 0 "$name --no-such-option: nothing on standard output"
done

# a tree of one program, whose help and page are ours to get wrong
mkdir -p "$tmp/tree/scripts" "$tmp/tree/tools/x" "$tmp/tree/bin"
cp "$top/scripts/check-options" "$tmp/tree/scripts"
cat >"$tmp/tree/bin/prof-x" <<'END'
#!/bin/sh
cat <<'HELP'
Usage: prof-x [OPTION...]

  -a, --all                  Everything; not with --some
      --best=N               The N best
  -?, --help                 Give this help list
HELP
END
chmod +x "$tmp/tree/bin/prof-x"
page() {
	printf '%s\n' '.It Fl \&? , Fl -help' "$@" >"$tmp/tree/tools/x/prof-x.1"
	run "$tmp/tree/scripts/check-options" bin
}
page '.It Fl a , Fl Fl all' '.It Fl -best Ns = Ns Ar N'
is "$status" 0 'both options in the page: fine'
page '.It Fl a , Fl Fl all'
is "$status" 1 'an option that the page lacks: refused'
like "$tmp/out" 'no item for --best' 'and named'
page '.It Fl a , Fl Fl all' '.It Fl -best Ns = Ns Ar N' '.It Fl Fl worst'
is "$status" 1 'an option that only the page has: refused'
like "$tmp/out" 'not in --help: --worst' 'and named'
done_testing
