//go:build unix

package main

import (
	"io"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

const (
	stopSignal     = syscall.SIGSTOP
	continueSignal = syscall.SIGCONT
)

// limitFiles has the files of this process grow to a number of bytes at most, as
// on a disk that fills; empty for any size.
func limitFiles(bytes string) {
	n, err := strconv.ParseInt(bytes, 10, 64)
	if err != nil {
		return
	}
	signal.Ignore(syscall.SIGXFSZ) // else it would end the process
	var limit syscall.Rlimit
	put(&limit.Cur, n)
	put(&limit.Max, n)
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		panic(err)
	}
}

// put is for a field whose type is another one on other systems.
func put[T int64 | uint64](to *T, n int64) { *to = T(n) }

func TestSimEndsOnSIGTERM(t *testing.T) {
	url, wait := startSim(t, t.Context(), "--step-base", "1h")
	resp, err := http.Post(url+"/v1/completions", "application/json", strings.NewReader(`{"prompt":"tok1","stream":true}`))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if err := syscall.Kill(os.Getpid(), syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := wait(); err != nil {
		t.Errorf("ended with %v", err)
	}
	if _, err := io.Copy(io.Discard, resp.Body); err == nil {
		t.Error("a stream in flight ended as if it were complete")
	}
}
