#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The DaemonSet: what its text tells of it, and that faults in it would be seen.
. "$top/tests/lib/tap.sh"

python3 -c 'import yaml' 2>/dev/null || skip_all 'no python3-yaml'
unset MAKEFLAGS MFLAGS MAKELEVEL BUILD
caps=$(make -s -C "$top" print-CAPTURE_CAPS)
version=$(make -s -C "$top" print-VERSION)
manifest=$top/deploy/kubernetes/daemonset.yaml
check_manifest() { python3 "$top/tests/lib/manifest.py" "$1"; }
run check_manifest "$manifest"
is "$status$(cat "$tmp/err")" 0 'the DaemonSet is well-formed' || diag "$tmp/out" "$tmp/err"
cp "$tmp/out" "$tmp/seen"
is "$(awk -F'\t' '$2 == "capture" { print $4 }' "$tmp/seen")" "$caps" 'capture has what prof-capture needs'
is "$(awk -F'\t' '$1 == "container" && $2 != "capture" { print $4 }' "$tmp/seen" | sort -u)" none \
	'the others no capability'
is "$(awk -F'\t' '$1 == "container" { print $3 }' "$tmp/seen" | sort -u)" "profpipe:$version" \
	'the image is of this version'
is "$(grep -ohE 'profpipe:[0-9.]+[0-9]' "$top/docs/howto-deploy.md" | sort -u)" "profpipe:$version" 'and the how-to says so'
# that a fault is found
while IFS='	' read -r change finding; do
	sed "$change" "$manifest" >"$tmp/bad.yaml"
	run check_manifest "$tmp/bad.yaml"
	is "$status" 1 "refused: $finding"
	like "$tmp/out" "$finding" 'by name'
done <<'END'
s/name: store, mountPath/name: sore, mountPath/	no volume sore
s/^      hostPID:/      hostPid:/	unknown key hostPid
s/mountPath: .host, readOnly: true/mountPath: \/host/	may write to the node's
s/drop: \[ALL\]/drop: [NET_RAW]/	keeps capabilities
s/NODE$/HOST/	no variable NODE
s/memory: 1Gi/memory: 1GB/	not a quantity
0,/kubernetes.io.name: profpipe/!{0,/kubernetes.io.name: profpipe/s//kubernetes.io\/name: other/}	the selector is not the labels
END
done_testing
