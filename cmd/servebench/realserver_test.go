//go:build e2e || servers

package main_test

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// listening starts a real server and gives the address that it says after "Listening on ". It is
// interrupted with the end of the test, which waits for it; its log is shown if the
// test failed.
func listening(t *testing.T, serve *exec.Cmd) (addr string) {
	t.Helper()
	log := &serverLog{listening: make(chan string, 1)}
	serve.Stdout, serve.Stderr = log, log
	serve.Cancel = func() error { return serve.Process.Signal(os.Interrupt) }
	serve.WaitDelay = 10 * time.Second
	if err := serve.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { serve.Wait(); close(ended) }()
	t.Cleanup(func() {
		<-ended
		if t.Failed() {
			t.Logf("the end of the server's log:\n%s", log.tail())
		}
	})
	select {
	case addr = <-log.listening:
	case <-ended:
		t.Fatal("the server ended before it listened")
	case <-time.After(time.Minute):
		t.Fatal("the server does not listen after a minute")
	}
	return addr
}

// notHad skips a test whose server cannot be had, except under CI, where it fails.
func notHad(t *testing.T, format string, args ...any) {
	t.Helper()
	message := fmt.Sprintf(format, args...)
	if os.Getenv("CI") == "true" {
		t.Fatal(message)
	}
	t.Skip(message)
}

// A serverLog keeps what a server says and tells once where it listens.
type serverLog struct {
	listening chan string

	mu   sync.Mutex
	text strings.Builder
	told bool
}

func (l *serverLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text.Write(p)
	if !l.told {
		_, after, _ := strings.Cut(l.text.String(), "Listening on ")
		if found := address.FindStringSubmatch(after); found != nil {
			l.told = true
			l.listening <- found[1]
		}
	}
	return len(p), nil
}

// address is where a server listens. Its threads write at the same time, so another line may stand
// before it.
var address = regexp.MustCompile(`((?:http://)?127\.0\.0\.1:\d+)\s`)

// tail is the last part of the log.
func (l *serverLog) tail() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	text := l.text.String()
	return text[max(0, len(text)-8000):]
}
