#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# -f lines: flat and cumulative value of each line, the source text beside them.
. "$top/tests/lib/tap.sh"

cp "$top/tests/lib/lines.txt" "$tmp/in.txt"
mkdir -p "$tmp/source/src" "$tmp/other/build/app/src"
seq 1 20 | sed 's/.*/\tmain & ends/' >"$tmp/source/src/main.c"
printf 'one\n\033[31mtwo\xff\n' >"$tmp/source/parse.c"
echo "secret" >"$tmp/secret.c"

run prof-render -f lines -n 0 --unit s "$tmp/in.txt"
is "$status" 0 "lines without sources"
sed '1,/^Showing/d' "$tmp/out" >"$tmp/got"
cat >"$tmp/want" <<'END'

bare
flat 32s, 50.79%
      flat        cum   line
       32s        32s      ?

parse in /build/app/src/parse.c
flat 22s, 34.92%
      flat        cum   line
        6s         6s      2
       16s        16s    900

climb in ../../../secret.c
flat 8s, 12.70%
      flat        cum   line
        8s         8s      1

main in /build/app/src/main.c
flat 1s, 1.59%
      flat        cum   line
        1s         3s      4
         0        28s     20
END
same "$tmp/got" "$tmp/want" "flat and cumulative value of each line, a stack once"

run prof-render -f lines --source="$tmp/source" --unit s --function='^(main|parse|climb)$' "$tmp/in.txt"
is "$status" 0 "with sources"
sed '1,/^Showing/d' "$tmp/out" >"$tmp/got"
cat >"$tmp/want" <<'END'

parse in /build/app/src/parse.c
flat 22s, 34.92%
      flat        cum   line
         .          .      1  one
        6s         6s      2  \x1b[31mtwo\xff
       16s        16s    900

climb in ../../../secret.c (no source)
flat 8s, 12.70%
      flat        cum   line
        8s         8s      1

main in /build/app/src/main.c
flat 1s, 1.59%
      flat        cum   line
         .          .      2          main 2 ends
         .          .      3          main 3 ends
        1s         3s      4          main 4 ends
         .          .      5          main 5 ends
         .          .      6          main 6 ends
       ...
         .          .     18          main 18 ends
         .          .     19          main 19 ends
         0        28s     20          main 20 ends
END
same "$tmp/got" "$tmp/want" "the text of lines and of those around; no control byte, no way out of the directory"

cp "$tmp/source/parse.c" "$tmp/other/build/app/src/parse.c"
mkfifo "$tmp/other/main.c"
prof-render -f lines --source="$tmp/other" --source="$tmp/source" --unit s --function='^(main|parse|climb)$' "$tmp/in.txt" |
	sed '1,/^Showing/d' >"$tmp/got"
same "$tmp/got" "$tmp/want" "several directories; what is no file is passed over"
prof-render -f lines --sort=cum -n 2 "$tmp/in.txt" >"$tmp/out"
is "$(grep -c '^flat' "$tmp/out")" 2 "-n: functions"
is "$(grep -m 1 -A1 '^$' "$tmp/out" | tail -n 1)" "bare" "--sort=cum: that with the largest line first"
like "$tmp/out" '^2 more functions' "how many are left out"
is "$(prof-render -f json -n 0 "$tmp/in.txt" | tr , '\n' | sed -n 's/.*"flat": *//p' | sort -n | tr '\n' ' ')" \
	"1000000000 8000000000 22000000000 32000000000 " "the same flat values as of functions"
refuses 'no function matches "nothing"' prof-render -f lines --function=nothing "$tmp/in.txt"
refuses "line by line" prof-render -f lines --granularity=files "$tmp/in.txt"
refuses "no directory" prof-render -f lines --source="$tmp/in.txt" "$tmp/in.txt"
refuses "No such file" prof-render -f lines --source="$tmp/nowhere" "$tmp/in.txt"
refuses "sources where no line is shown" prof-render -f table --source="$tmp/source" "$tmp/in.txt"
done_testing
