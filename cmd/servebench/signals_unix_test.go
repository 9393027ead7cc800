//go:build unix

package main

import (
	"io"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
)

const (
	stopSignal     = syscall.SIGSTOP
	continueSignal = syscall.SIGCONT
)

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
