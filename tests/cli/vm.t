#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# prof-capture on other kernels and another architecture, in virtual machines.
. "$top/tests/lib/tap.sh"

case $build in
*/san-* | */cov*) skip_all 'a build for finding mistakes: its runtime is not in the machines' ;;
esac
for c in cpio dpkg-deb readelf; do
	command -v "$c" >/dev/null || skip_all "no $c"
done
"$top/scripts/vmtest" ${PROFPIPE_LONG:+-l} >"$tmp/lines" 2>"$tmp/err"
status=$?
[ "$status" -ne 77 ] || skip_all "$(sed 's/^\(.*\): skip /\1: /' "$tmp/lines" | paste -sd ';')"
show='' # what follows a failure
while read -r line; do
	case $line in
	*': ok '*) show='' && ok 0 "${line%%: ok *}: ${line#* - }" ;;
	*': not ok '*) show=1 && ok 1 "${line%%: not ok *}: ${line#* - }" ;;
	*': skip '*) skip "${line#*: skip }" "${line%%: skip *}" ;;
	*': # hung'*) echo "$line" | diag ;;
	*': # '*) [ -z "$show" ] || echo "$line" | diag ;;
	esac
done <"$tmp/lines"
[ "$status" -eq "$((tap_failed > 0))" ]
ok $? 'scripts/vmtest: its status is that of the tests' || diag "$tmp/err"
done_testing
