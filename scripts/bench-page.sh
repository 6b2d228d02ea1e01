# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh disable=SC2154
# bench's part for pages: sourced by it.

bench_page() {
	echo '## Page'
	echo
	if ! modules=$(scripts/node-modules 2>&1); then
		left_out "$modules"
		return
	fi
	if ! have chromium; then
		left_out 'no chromium'
		return
	fi
	need 400
	echo "A generated call tree of 24 intervals and four pods: \`prof-render -o x.html\` beyond what"
	echo "\`-f table\` takes ($runs interleaved runs, medians), and the page in Chromium, drawn by"
	echo 'software: CPU of its main thread in ms, memory of its process in MiB.'
	echo
	echo '| nodes | first picture | zoom, mean | zoom, most | search | choice | comparison | turned over | memory | at the end | page | written in |'
	echo '| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |'
	page_row 100000
	page_row 1000000
	echo
}

page_row() {
	tree=$work/tree-$1.txt
	[ -s "$tree" ] || node tests/browser/bigtree.mjs "$1" >"$tree"
	fresh page table
	i=0
	while [ "$i" -lt "$runs" ]; do
		take page prof-render -o "$work/tree.html" "$tree"
		take table prof-render -f table "$tree"
		i=$((i + 1))
	done
	take browser node tests/browser/scale.mjs "$modules" "$(command -v chromium)" "$work/tree.html"
	printf '| %s | %.2f MB | %.2f s |\n' "$(cat "$work/browser.log")" \
		"$(wc -c <"$work/tree.html" | awk '{ print $1 / 1e6 }')" \
		"$(awk -v a="$(cpu page)" -v b="$(cpu table)" 'BEGIN { print a - b }')"
}
