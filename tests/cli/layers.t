#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check-layers accepts this tree and fails on each kind of edge it is there to stop.
. "$top/tests/lib/tap.sh"

run "$top/scripts/check-layers" "$top"
ok "$status" 'this tree keeps its layers' || diag "$tmp/out"

# edge STATUS FILE INCLUDE: a tree of one file with one include line
edge() {
	rm -rf "$tmp/tree"
	mkdir -p "$tmp/tree/$(dirname "$2")"
	printf '#include %s\n' "$3" >"$tmp/tree/$2"
	run "$top/scripts/check-layers" "$tmp/tree"
	is "$status" "$1" "$2 includes $3: $([ "$1" = 0 ] && echo allowed || echo refused)"
}

edge 0 lib/io/a.c '"lib/base/err.h"'
edge 0 lib/query/a.c '"lib/pprof/model.h"'
edge 0 lib/ui/a.c '"lib/sym/elf.h"'
edge 0 tools/merge/a.c '"lib/ui/cli.h"'
edge 0 tools/merge/a.c '"tools/merge/b.h"'
edge 0 tests/unit/a_test.c '"tools/merge/b.h"'
edge 1 lib/base/a.c '"lib/io/gz.h"'
edge 1 lib/pprof/a.c '"lib/query/query.h"'
edge 1 lib/query/a.c '"lib/sym/elf.h"'
edge 1 lib/sym/a.c '"lib/ui/cli.h"'
edge 1 lib/ui/a.c '"tools/merge/b.h"'
edge 1 tools/merge/a.c '"tools/render/b.h"'
edge 1 tools/merge/a.c '"b.h"'
edge 1 lib/new/a.c '"lib/base/err.h"'

edge 0 lib/io/a.c '<zlib.h>'
edge 0 lib/sym/a.c '<libdeflate.h>'
edge 0 tests/lib/a.c '<protobuf-c/protobuf-c.h>'
edge 0 lib/sym/a.c '<elfutils/libdw.h>'
edge 0 lib/sym/a.c '<elf.h>'
edge 0 tools/capture/a.c '<bpf/libbpf.h>'
edge 0 tools/capture/a.c '"sample.skel.h"'
edge 0 tools/capture/a.c '"bpf/event.h"'
edge 0 lib/sym/a.h '"bpf/row.h"'
edge 0 bpf/a.bpf.c '<bpf/bpf_helpers.h>'
edge 0 tests/unit/a_test.c '<libelf.h>'
edge 1 lib/pprof/a.c '<zlib.h>'
edge 1 tools/merge/a.c '<libdeflate.h>'
edge 1 lib/pprof/a.c '<protobuf-c/protobuf-c.h>'
edge 1 tools/symbolize/a.c '<elfutils/libdw.h>'
edge 1 tools/symbolize/a.c '<gelf.h>'
edge 1 tools/render/a.c '<bpf/libbpf.h>'
edge 1 lib/sym/a.c '"sample.skel.h"'
edge 1 tools/render/a.c '"bpf/event.h"'
edge 1 lib/sym/a.c '"bpf/event.h"'
edge 1 lib/ui/a.c '"bpf/row.h"'
edge 1 bpf/a.bpf.c '"lib/base/err.h"'
done_testing
