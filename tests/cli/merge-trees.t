#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Sums against the generator's manifest, and one result for any tree of merges. Small here;
# tests/long/merge-corpus.t does the same at full size.
. "$top/tests/lib/tap.sh"
. "$top/tests/lib/corpus.sh"
build_generator
. "$top/tests/lib/merge-trees.sh"

check_manifest small small -n 40
check_manifest labels small -labels -n 20
check_manifest heap heap -n 5
check_trees "$tmp/small" 12
done_testing
