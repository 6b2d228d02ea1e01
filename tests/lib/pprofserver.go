// SPDX-License-Identifier: Apache-2.0

// A server with net/http/pprof on PORT of 127.0.0.1, which it prints, whose load can be told; and
// answers of all kinds that are no profile. usage: pprofserver PORT
package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"
	"os"
	"runtime"
	rpprof "runtime/pprof"
	"strconv"
	"strings"
	"sync"
	"time"
)

const token = "Bearer c2VjcmV0.t0ken~of-the_test=="

var (
	lock    sync.Mutex
	release chan bool
	holders sync.WaitGroup
	memory  [500][]byte
)

// hold keeps memory and a goroutine until the load is released.
func hold(i int, end chan bool, ready *sync.WaitGroup) {
	memory[i] = make([]byte, 64<<10)
	ready.Done()
	<-end
	memory[i] = nil
	holders.Done()
}

var garbage []byte

// churn makes garbage, and two of it wait for each other.
func churn(end chan bool) {
	defer holders.Done()
	for {
		select {
		case <-end:
			return
		default:
		}
		lock.Lock()
		garbage = make([]byte, 128<<10)
		time.Sleep(time.Millisecond)
		lock.Unlock()
	}
}

// handleLoad is /load: 500 goroutines with 32 MiB in all.
func handleLoad(w http.ResponseWriter, r *http.Request) {
	var ready sync.WaitGroup
	release = make(chan bool)
	for i := range memory {
		ready.Add(1)
		holders.Add(1)
		go hold(i, release, &ready)
	}
	ready.Wait()
	for i := 0; i < 2; i++ {
		holders.Add(1)
		go churn(release)
	}
	// heap profiles are of the last collection
	runtime.GC()
	runtime.GC()
}

// handleRelease is /release: all of the load ends.
func handleRelease(w http.ResponseWriter, r *http.Request) {
	close(release)
	holders.Wait()
	garbage = nil
	runtime.GC()
	runtime.GC()
}

// handleFgprof is /debug/fgprof?seconds=N: like the package of that name, beside the others and
// of an interval, but of its end alone.
func handleFgprof(w http.ResponseWriter, r *http.Request) {
	seconds, err := strconv.Atoi(r.FormValue("seconds"))
	if err != nil {
		http.Error(w, "no seconds", 400)
		return
	}
	time.Sleep(time.Duration(seconds) * time.Second)
	w.Write(lookup("goroutine", 0))
}

func compressed(content []byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write(content)
	z.Close()
	return b.Bytes()
}

// lookup is a profile of this program, as text if debug is 1.
func lookup(name string, debug int) []byte {
	var b bytes.Buffer
	rpprof.Lookup(name).WriteTo(&b, debug)
	return b.Bytes()
}

// answer gives /KIND/PROFILE.
func answer(w http.ResponseWriter, r *http.Request) {
	kind, name, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	switch kind {
	case "page":
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<!DOCTYPE html>\n<title>Sign in</title>\n")
	case "page502":
		w.WriteHeader(502)
		fmt.Fprint(w, "<html>Bad gateway</html>\n")
	case "words":
		fmt.Fprint(w, "main;hello 5\n")
	case "text":
		w.Write(lookup(name, 1))
	case "plain":
		z, _ := gzip.NewReader(bytes.NewReader(lookup(name, 0)))
		var b bytes.Buffer
		b.ReadFrom(z)
		w.Write(b.Bytes())
	case "cut":
		b := lookup(name, 0)
		w.Write(b[:len(b)/2])
	case "two":
		w.Write(append(lookup("goroutine", 0), lookup("heap", 0)...))
	case "empty":
	case "bomb":
		w.Write(compressed(make([]byte, 64<<20)))
	case "long":
		w.Header().Set("Content-Length", "1000000000")
		w.Write([]byte{0x1f})
	case "endless":
		for block := make([]byte, 64<<10); ; {
			if _, err := w.Write(block); err != nil {
				return
			}
		}
	case "busy":
		http.Error(w, "Could not enable CPU profiling:\x1b[31m in use", 500)
	case "moved":
		http.Redirect(w, r, "/debug/pprof/"+name, 302)
	case "hang":
		fmt.Println("hang")
		<-r.Context().Done()
	case "secret":
		if r.Header.Get("Authorization") != token {
			http.Error(w, "who is that?", 401)
			return
		}
		pprof.Handler(name).ServeHTTP(w, r)
	case "echo": // of what should stay between the two
		http.Error(w, "no such user: "+r.Header.Get("Authorization"), 403)
	default:
		http.NotFound(w, r)
	}
}

func main() {
	runtime.MemProfileRate = 4096
	runtime.SetBlockProfileRate(1)
	runtime.SetMutexProfileFraction(1)
	l, err := net.Listen("tcp4", "127.0.0.1:"+os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(l.Addr().(*net.TCPAddr).Port)
	http.HandleFunc("/load", handleLoad)
	http.HandleFunc("/release", handleRelease)
	http.HandleFunc("/debug/fgprof", handleFgprof)
	http.HandleFunc("/", answer)
	http.Serve(l, nil)
}
