#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# --debuginfod: what Debian's server has names what is not found here; what servers do wrong is in
# the report; a time limit holds; and nobody is asked unless the user says so.
. "$top/tests/lib/tap.sh"
. "$top/tests/lib/inmain.sh"

command -v gcc >/dev/null || skip_all 'no gcc'
command -v jq >/dev/null || skip_all 'no jq'
command -v python3 >/dev/null || skip_all 'no python3'
ldconfig -p 2>/dev/null | grep -q 'libdebuginfod\.so\.1' || skip_all 'no libdebuginfod'
src=$top/tests/symbolize
unset http_proxy HTTP_PROXY all_proxy ALL_PROXY DEBUGINFOD_URLS DEBUGINFOD_TIMEOUT
export no_proxy='*' HOME="$tmp/home" DEBUGINFOD_CACHE_PATH="$tmp/fetched"
mkdir "$tmp/home" "$tmp/served"
pids="" p=""
trap 'for p in $pids; do kill "$p" 2>/dev/null; done; wait 2>/dev/null; rm -rf "$tmp"' EXIT

gcc -g -O0 "$src/plain.c" -o "$tmp/full" -lm
id=$(readelf -n "$tmp/full" | sed -n 's/.*Build ID: //p')
in_main "$tmp/full" "$tmp/gone" "$id" >"$tmp/raw"
# symbolize OPTION…: text in $tmp/text, report in $tmp/report, status
symbolize() {
	timeout 120 prof-symbolize --debug-dir="$tmp/none" --report=json:"$tmp/report" \
		-o "$tmp/named.pb.gz" "$@" "${raw:-$tmp/raw}" 2>"$tmp/err"
	status=$?
	prof-render -f text "$tmp/named.pb.gz" >"$tmp/text"
}
named() { # named DESCRIPTION: main, with its line
	[ "$status" = 0 ] && grep -q '^function .*"main" "main" ".*plain.c"' "$tmp/text"
	ok $? "$1" || diag "$tmp/err" "$tmp/report" "$tmp/text"
}
unnamed() { # unnamed DESCRIPTION REASON
	is "$status $(grep -c '^function' "$tmp/text")" '0 0' "$1: no name"
	is "$(jq -r '.objects[0].reasons | keys | join(" ")' "$tmp/report")" "$2" "$1: $2"
}
looked() { # looked WHAT RESULT DESCRIPTION: what became of a look at debuginfod
	is "$(jq -r ".objects[0].looked_at[] | select(.path | startswith(\"debuginfod: $1 \")) | .result" \
		"$tmp/report")" "$2" "$3" || diag "$tmp/report"
}
cat >"$tmp/serve.py" <<'EOP'
# serve.py MODE DIR LOG: listens on a port of the system's choice, which goes to LOG first
import http.server, os, socket, sys, time
mode, root, log = sys.argv[1:]
if mode == "hang":
    s = socket.socket()
    s.bind(("127.0.0.1", 0))
    s.listen(16)
    print(s.getsockname()[1], file=open(log, "w"), flush=True)
    held = []
    while True:
        held.append(s.accept())
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        print(self.path, file=open(log, "a"), flush=True)
        try:
            data = open(root + self.path.replace("/", "_"), "rb").read()
        except OSError:
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(data) + (mode == "stall")))
        self.end_headers()
        self.wfile.write(data)
        while mode == "stall":
            time.sleep(1)
    def log_message(self, *args):
        pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_address[1], file=open(log, "w"), flush=True)
server.serve_forever()
EOP
serve() { # serve MODE DIR: $url, $log, $pid
	log=$tmp/log.$1
	python3 "$tmp/serve.py" "$1" "$2" "$log" &
	pid=$!
	pids="$pids $pid"
	n=0
	until [ -s "$log" ] || [ $((n += 1)) -gt 600 ]; do sleep 0.1; done
	url=http://127.0.0.1:$(head -n 1 "$log")
}
asked() { # lines of the server's log, less the port
	tail -n +2 "$log" | wc -l
}

# Debian's server.
if command -v debuginfod >/dev/null && command -v curl >/dev/null; then
	cp "$tmp/full" "$tmp/served/program"
	port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
	debuginfod -d "$tmp/served.sqlite" -p "$port" -F "$tmp/served" >"$tmp/server" 2>&1 &
	pids="$pids $!"
	url=http://127.0.0.1:$port
	n=0
	until curl -sf -o /dev/null "$url/buildid/$id/executable" || [ $((n += 1)) -gt 300 ]; do
		sleep 0.2
	done
	symbolize
	unnamed 'not asked for' no-file
	DEBUGINFOD_URLS=$url symbolize
	unnamed 'not asked for, but there are URLs' no-file
	[ ! -e "$tmp/fetched" ]
	ok $? 'nothing was fetched'
	symbolize --debuginfod="$url"
	named 'from the server'
	is "$(jq -r '.objects[0] | .binary, .verified' "$tmp/report" | tr '\n' ' ')" \
		"$tmp/fetched/$id/executable true " 'by its executable, verified'
	DEBUGINFOD_URLS=$url symbolize --debuginfod
	named 'URLs of the environment'
	# the binary is here, its debug information is not
	strip -o "$tmp/gone" "$tmp/full"
	rm -rf "$tmp/fetched"
	symbolize --debuginfod="http://127.0.0.1:1 $url"
	named 'debug file alone, one of two servers down'
	is "$(jq -r '.objects[0].debug' "$tmp/report")" "$tmp/fetched/$id/debuginfo" \
		'by its debug file'
	# better data found later takes the place of worse
	symbolize --cache="$tmp/cache"
	unnamed 'stripped, with an index' no-function
	symbolize --cache="$tmp/cache" --debuginfod="$url"
	named 'the index of the stripped file does not stand in the way'
	rm -r "$tmp/fetched"
	symbolize --cache="$tmp/cache"
	named 'the better index serves when the server is not asked'
	symbolize --cache="$tmp/cache" --debuginfod="$url"
	named 'and instead of the server'
	[ ! -e "$tmp/fetched/$id" ]
	ok $? 'which is not asked then'
	rm "$tmp/gone"
	symbolize --cache="$tmp/cache"
	named 'and when there is no file at all'
	rm -r "$tmp/cache"
else
	skip 'no debuginfod server, or no curl' "Debian's server"
fi

# A server has not got it: asked once, and for a while not again.
mkdir "$tmp/dir"
rm -rf "$tmp/fetched"
serve plain "$tmp/dir/"
symbolize --debuginfod="$url"
unnamed 'no such file there' no-file
looked executable 'not there' 'and that is in the report'
looked debuginfo 'not there' 'of both files'
is "$(asked)" 2 'asked for both once'
symbolize --debuginfod="$url"
unnamed 'the next time' no-file
is "$(asked)" 2 'that nobody has it is known for a while'
find "$tmp/fetched" -type f -exec touch -d '2001-01-01' {} +
symbolize --debuginfod="$url"
is "$(asked)" 4 'but not for ever'
is "$(wc -c <"$tmp/err")" 0 'no word of it on standard error'

# What comes is checked.
cp "$tmp/full" "$tmp/dir/_buildid_${id}_executable"
cp "$tmp/full" "$tmp/dir/_buildid_00${id}_executable"
echo 'no program' >"$tmp/dir/_buildid_11${id}_executable"
for x in 00 11; do
	in_main "$tmp/full" "$tmp/gone" "$x$id" >"$tmp/raw.$x"
done
raw=$tmp/raw.00 symbolize --debuginfod="$url"
unnamed 'another build under this id' build-id-mismatch
like "$tmp/report" "$tmp/fetched/00$id/executable\"" 'which is in the report'
like "$tmp/report" '"build id differs"' 'with what is wrong'
raw=$tmp/raw.11 symbolize --debuginfod="$url"
unnamed 'no program under this id' unusable-file
like "$tmp/report" 'not an ELF' 'with what is wrong'
rm -rf "$tmp/fetched"
symbolize --debuginfod="$url"
named 'and the right one'
mkdir "$tmp/halves"
head -c 3000 "$tmp/full" >"$tmp/halves/_buildid_${id}_executable"
serve half "$tmp/halves/"
rm -rf "$tmp/fetched"
symbolize --debuginfod="$url"
unnamed 'half a file' damaged
like "$tmp/report" 'executable: cut short' 'and that it is'

# Many profiles of one program: one request.
serve plain2 "$tmp/dir/"
rm -rf "$tmp/fetched"
cat "$tmp/named.pb.gz" >"$tmp/first"
prof-merge -o "$tmp/one.pb.gz" "$tmp/raw"
cat "$tmp/one.pb.gz" "$tmp/one.pb.gz" "$tmp/one.pb.gz" >"$tmp/many"
raw=$tmp/many symbolize --debuginfod="$url" -j2
is "$(asked)" 1 'a stream of three profiles is one request'
symbolize --cache="$tmp/cache2" --debuginfod="$url"
named 'with an index made of what was fetched'

# The kernel and its modules: their debug files, after those of programs.
case $(uname -m) in
x86_64) model=-mcmodel=kernel ;;
*) model= ;;
esac
flags="-g -O1 -ffreestanding -fno-pic -fno-pie -fno-asynchronous-unwind-tables $model"
cat >"$tmp/core.c" <<'END'
int do_read(int x) { return x + 1; }
__asm__(".section .at_start,\"ax\"\n.globl _stext\n_stext:\n.zero 64\n.previous");
END
echo 'int mod_read(int x) { return x + 2; }' >"$tmp/mod.c"
# shellcheck disable=SC2086
if gcc $flags -c "$tmp/core.c" -o "$tmp/core.o" && gcc $flags -c "$tmp/mod.c" -o "$tmp/mod.o" &&
	ld -o "$tmp/vmlinux" --build-id=0xabcd01 -e 0 --section-start=.at_start=0xffffffff81000040 \
		-Ttext=0xffffffff81001000 "$tmp/core.o" && ld -r --build-id=0xabcd02 "$tmp/mod.o" -o "$tmp/mod.ko"; then
	mkdir "$tmp/kernel"
	objcopy --only-keep-debug "$tmp/vmlinux" "$tmp/kernel/_buildid_abcd01_debuginfo"
	objcopy --only-keep-debug "$tmp/mod.ko" "$tmp/kernel/_buildid_abcd02_debuginfo"
	{
		sed -n '/mapping/,$!p' "$tmp/raw"
		cat <<-END
		mapping 1 0xffffffff84000040 0xffffffff84002100 0x0 "[kernel.kallsyms]_stext" "abcd01" F
		mapping 2 0xffffffffc0100000 0xffffffffc0101000 0x0 "[mod]" "abcd02" F
		mapping 3 0x550000001000 0x550000100000 0x1000 "/no/such/program" "abcd03" -
		function 1 "do_read" "do_read" "" 0
		function 2 "mod_read" "mod_read" "" 0
		location 1 m1 0xffffffff84001000 f1:0:0
		location 2 m2 0xffffffffc0100000 f2:0:0
		location 3 m3 0x550000001010
		sample 1 : 1 2 3
		end
		END
	} >"$tmp/raw.kernel"
	serve kernel "$tmp/kernel/"
	rm -rf "$tmp/fetched"
	raw=$tmp/raw.kernel symbolize --debuginfod="$url"
	is "$(awk '$1 == "function" { sub(".*/", "", $5); print $3, $5 }' "$tmp/text" | tr -d '"' | xargs)" \
		'do_read core.c mod_read mod.c' 'lines of the kernel and of a module'
	is "$(tail -n +2 "$log" | xargs)" "/buildid/abcd03/executable /buildid/abcd03/debuginfo \
/buildid/abcd01/debuginfo /buildid/abcd02/debuginfo" 'programs are asked for first'
	strip -g "$tmp/vmlinux" "$tmp/mod.ko"
	raw=$tmp/raw.kernel symbolize --debuginfod="$url" --binary="$tmp/vmlinux" --binary="$tmp/mod.ko"
	is "$(grep -c '^function .*/\(core\|mod\)\.c"' "$tmp/text")" 2 'in place of files without lines'
	rm "$tmp/kernel"/*
	rm -rf "$tmp/fetched"
	raw=$tmp/raw.kernel symbolize --debuginfod="$url"
	is "$(jq -c '.objects[] | select(.build_id == "abcd02") | .reasons' "$tmp/report")" '{"no-file":1}' \
		'a module that no server has: the reason'
	like "$tmp/report" 'debuginfod: debuginfo of abcd01' 'and where it was looked for'
else
	skip 'no kernel can be linked' 'lines of the kernel and of a module'
fi

# Nobody there.
rm -rf "$tmp/fetched"
symbolize --debuginfod=http://127.0.0.1:1
unnamed 'nobody listens' no-file
like "$tmp/err" '^prof-symbolize: debuginfod: .*nothing more was asked$' 'said once'
is "$(wc -l <"$tmp/err")" 1 'in one line'
looked debuginfo "not asked: Connection refused" 'and not tried again'
symbolize -q --debuginfod=http://127.0.0.1:1
is "$(wc -c <"$tmp/err")" 0 'with -q not even that'

# Servers that hang: before a word, and in the middle of a file. What came is not used.
serve hang "$tmp/dir/"
symbolize --debuginfod-limit=1s --debuginfod="$url"
unnamed 'a server that says nothing' no-file
looked executable 'time limit reached' 'and that is in the report'
like "$tmp/err" 'time limit of 1 s reached' 'and is said'
serve stall "$tmp/dir/"
symbolize --debuginfod-limit=1500ms --debuginfod="$url"
unnamed 'a server that stops in the middle' no-file
looked executable 'time limit reached' 'in the report too'
is "$(find "$tmp/fetched" -type f -name '*executable*' -size +0 | wc -l)" 0 \
	'half a file is not left'
run timeout 100 prof-symbolize --debuginfod-limit=1s --debuginfod="$url" "$tmp/raw"
is "$status" 0 'that is no failure'

refuses 'no URLs' prof-symbolize --debuginfod "$tmp/raw"
refuses 'an empty list of URLs' prof-symbolize --debuginfod= "$tmp/raw"
refuses 'no time' prof-symbolize --debuginfod="$url" --debuginfod-limit=soon "$tmp/raw"
mkdir "$tmp/lib"
echo junk >"$tmp/lib/libdebuginfod.so.1"
LD_LIBRARY_PATH=$tmp/lib refuses 'a library that cannot be loaded' \
	prof-symbolize --debuginfod="$url" "$tmp/raw"
like "$tmp/err" 'debuginfod: .*libdebuginfod.so.1' 'which is named'
done_testing
