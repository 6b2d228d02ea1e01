#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The page of every profile of the corpus that is read, in a browser, against -f json.
. "$top/tests/lib/tap.sh"
. "$top/tests/lib/browser.sh"
. "$top/tests/lib/corpus.sh"
need_corpus
[ -z "$why" ] || skip_all "$why"

mkdir "$tmp/pages"
bad=0
for file in $(cut -f 18 "$corpus/INDEX.tsv" | sed 1d); do
	[ -f "$corpus/$file" ] || continue
	name=$(echo "$file" | tr / _)
	prof-render -f json -n 0 -o "$tmp/pages/$name.json" "$corpus/$file" 2>"$tmp/json.err"
	json=$?
	prof-render -f html -o "$tmp/pages/$name.html" "$corpus/$file" 2>"$tmp/html.err"
	html=$?
	[ $json = $html ] || {
		bad=$((bad + 1))
		echo "$file: $json, $html" | diag
	}
done
ok "$bad" "what is shown as JSON is shown as a page"
claims node "$top/tests/browser/corpus.mjs" "$modules" "$chromium" "$tmp/pages"
done_testing
