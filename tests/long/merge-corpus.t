#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Merge at full size: manifests of 1,000 profiles each, and 100 random merge trees.
. "$top/tests/lib/tap.sh"
. "$top/tests/lib/corpus.sh"
build_generator
. "$top/tests/lib/merge-trees.sh"

check_manifest small small -n 1000
check_trees "$tmp/small" 100
rm -rf "$tmp/small"
check_manifest medium medium -n 1000
rm -rf "$tmp/medium"
check_manifest labels small -labels -n 1000
rm -rf "$tmp/labels"
check_manifest heap heap -n 200
done_testing
