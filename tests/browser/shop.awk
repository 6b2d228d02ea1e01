# SPDX-License-Identifier: Apache-2.0
# A stream of 60 profiles of 10 s of a web shop in three pods, in the text twin. In the second half
# pod shop-1 has a release that is slower at parsing prices. Always the same bytes.
function rnd(k) { seed = (seed * 16807) % 2147483647; return seed % k }
function fn(name, file, line, mapping) {
	printf "function %d \"%s\" \"\" \"%s\" %d\n", ++nfn, name, file, line
	where[nfn] = mapping; at_line[nfn] = line; id[name] = nfn
}
# stack SHARE NAME…, root first
function stack(share, names) { shares[++nstacks] = share; stacks[nstacks] = names }
function put_functions(   i) {
	nfn = 0
	fn("main.main", "/src/shop/main.go", 21, 1)
	fn("net/http.(*conn).serve", "/usr/lib/go/src/net/http/server.go", 1859, 1)
	fn("net/http.serverHandler.ServeHTTP", "/usr/lib/go/src/net/http/server.go", 2930, 1)
	fn("net/http.(*conn).readRequest", "/usr/lib/go/src/net/http/server.go", 966, 1)
	fn("shop/cart.(*Handler).Checkout", "/src/shop/cart/handler.go", 48, 1)
	fn("shop/cart.(*Handler).List", "/src/shop/cart/handler.go", 92, 1)
	fn("shop/price.Parse", "/src/shop/price/price.go", 33, 1)
	fn("shop/price.round", "/src/shop/price/price.go", 71, 1)
	fn("shop/stock.(*Store).Reserve", "/src/shop/stock/store.go", 110, 1)
	fn("encoding/json.Marshal", "/usr/lib/go/src/encoding/json/encode.go", 158, 1)
	fn("encoding/json.(*encodeState).reflectValue", "/usr/lib/go/src/encoding/json/encode.go", 357, 1)
	fn("encoding/json.(*decodeState).object", "/usr/lib/go/src/encoding/json/decode.go", 591, 1)
	fn("regexp.(*Regexp).FindStringSubmatch", "/usr/lib/go/src/regexp/regexp.go", 1041, 1)
	fn("regexp.(*machine).backtrack", "/usr/lib/go/src/regexp/backtrack.go", 139, 1)
	fn("strconv.ParseFloat", "/usr/lib/go/src/strconv/atof.go", 699, 1)
	fn("database/sql.(*DB).QueryContext", "/usr/lib/go/src/database/sql/sql.go", 1728, 1)
	fn("crypto/sha256.block", "/usr/lib/go/src/crypto/sha256/sha256block.go", 80, 1)
	fn("runtime.gcBgMarkWorker", "/usr/lib/go/src/runtime/mgc.go", 1230, 1)
	fn("runtime.gcDrain", "/usr/lib/go/src/runtime/mgcmark.go", 1010, 1)
	fn("runtime.scanobject", "/usr/lib/go/src/runtime/mgcmark.go", 1254, 1)
	fn("runtime.mallocgc", "/usr/lib/go/src/runtime/malloc.go", 905, 1)
	fn("syscall.Syscall6", "/usr/lib/go/src/syscall/syscall_linux.go", 90, 1)
	fn("memcpy", "", 0, 2)
	fn("deflate_fast", "", 0, 3)
	fn("longest_match", "", 0, 3)
	fn("entry_SYSCALL_64", "", 0, 4)
	fn("do_syscall_64", "", 0, 4)
	fn("__x64_sys_epoll_wait", "", 0, 4)
	fn("tcp_sendmsg", "", 0, 4)
	fn("tcp_write_xmit", "", 0, 4)
	fn("__schedule", "", 0, 4)
	for (i = 1; i <= nfn; i++)
		printf "location %d m%d 0x%x f%d:%d:0\n", i, where[i], base[where[i]] + i * 64, i, at_line[i] ? at_line[i] + 4 : 0
}
BEGIN {
	seed = 20261
	base[1] = 4194304; base[2] = 1048576; base[3] = 2097152; base[4] = 16777216
	serve = "main.main|net/http.(*conn).serve|net/http.serverHandler.ServeHTTP|"
	checkout = serve "shop/cart.(*Handler).Checkout|"; list = serve "shop/cart.(*Handler).List|"
	sys = "syscall.Syscall6|entry_SYSCALL_64|do_syscall_64|"
	slow = "shop/price.Parse|regexp.(*Regexp).FindStringSubmatch|regexp.(*machine).backtrack"
	stack(70, checkout slow); stack(35, list slow)
	stack(20, checkout "shop/price.Parse|strconv.ParseFloat"); stack(12, checkout "shop/price.round")
	stack(18, list "shop/price.Parse"); stack(44, checkout "shop/stock.(*Store).Reserve|database/sql.(*DB).QueryContext|" sys "tcp_sendmsg|tcp_write_xmit")
	stack(24, checkout "shop/stock.(*Store).Reserve|database/sql.(*DB).QueryContext"); stack(9, checkout "shop/stock.(*Store).Reserve|crypto/sha256.block")
	stack(52, checkout "crypto/sha256.block"); stack(61, list "encoding/json.Marshal|encoding/json.(*encodeState).reflectValue|encoding/json.(*encodeState).reflectValue")
	stack(38, list "encoding/json.Marshal|encoding/json.(*encodeState).reflectValue|runtime.mallocgc"); stack(22, list "encoding/json.Marshal|memcpy")
	stack(31, checkout "encoding/json.(*decodeState).object|encoding/json.(*decodeState).object"); stack(17, checkout "encoding/json.(*decodeState).object|runtime.mallocgc")
	stack(46, serve "deflate_fast|longest_match"); stack(19, serve "deflate_fast"); stack(26, "main.main|net/http.(*conn).serve|net/http.(*conn).readRequest|" sys "__x64_sys_epoll_wait|__schedule")
	stack(14, "main.main|net/http.(*conn).serve|net/http.(*conn).readRequest|memcpy")
	stack(58, "runtime.gcBgMarkWorker|runtime.gcDrain|runtime.scanobject"); stack(11, "runtime.gcBgMarkWorker|runtime.gcDrain")
	for (t = 0; t < 60; t++) {
		print "# profpipe text 1\nprofile"
		printf "time %d000000000\nduration 10000000000\nperiod \"cpu\" \"nanoseconds\" 10101010\n", 1764576000 + t * 10
		print "type \"samples\" \"count\"\ntype \"cpu\" \"nanoseconds\" default"
		print "mapping 1 0x400000 0x900000 0x0 \"/srv/shop/bin/shop\" \"5d7c1f\" FNL"
		print "mapping 2 0x100000 0x1ff000 0x0 \"/usr/lib/x86_64-linux-gnu/libc.so.6\" \"93ac61\" F"
		print "mapping 3 0x200000 0x2ff000 0x0 \"/usr/lib/x86_64-linux-gnu/libz.so.1\" \"0a77be\" F"
		print "mapping 4 0x1000000 0x1ff0000 0x0 \"[kernel.kallsyms]_stext\" \"a3e4cd\" F"
		put_functions()
		for (pod = 0; pod < 3; pod++) {
			fresh = pod == 1 && t >= 30
			load = (1.2 + 0.25 * sin(t / 7 + pod * 2)) * (fresh ? 1.25 : 1)
			for (k = 1; k <= nstacks; k++) {
				v = shares[k] * load * (0.8 + rnd(400) / 1000)
				if (fresh && stacks[k] ~ /backtrack/)
					v *= 3.1
				n = split(stacks[k], name, "|"); line = ""
				for (i = 1; i <= n; i++)
					line = id[name[i]] " " line
				v = int(v + 0.5)
				printf "sample %d %d : %s: \"pod\"=\"shop-%d\" \"release\"=\"%s\"\n", v, v * 10101010, line, pod, fresh ? "v2" : "v1"
			}
		}
		print "end"
	}
}
