// SPDX-License-Identifier: Apache-2.0

// The demo service in Go: GET /add?a=1&b=2 over HTTP on a port of 127.0.0.1 that it prints. It
// ends by itself after the number of seconds it is given. Nothing in this file is slow.
package main

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"time"

	"example.com/mathdep"
)

func handleAdd(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	a, errA := strconv.ParseInt(q.Get("a"), 10, 64)
	b, errB := strconv.ParseInt(q.Get("b"), 10, 64)
	if errA != nil || errB != nil {
		http.Error(w, "GET /add?a=1&b=2", http.StatusBadRequest)
		return
	}
	fmt.Fprintln(w, mathdep.Addition(a, b))
}

func main() {
	life := 0
	if len(os.Args) == 2 {
		life, _ = strconv.Atoi(os.Args[1])
	}
	if life < 1 || life > 3600 {
		fmt.Fprintln(os.Stderr, "usage: demo-server-go SECONDS")
		os.Exit(2)
	}
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, "server:", err)
		os.Exit(1)
	}
	time.AfterFunc(time.Duration(life)*time.Second, func() { os.Exit(0) })
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	http.HandleFunc("/add", handleAdd)
	fmt.Fprintln(os.Stderr, "server:", http.Serve(listener, nil))
	os.Exit(1)
}
