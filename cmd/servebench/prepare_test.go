package main

import (
	"errors"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/servebench/servebench/loadgen"
	"github.com/servebench/servebench/metrics"
)

// A deadServer fails every request with its class, and counts them.
type deadServer struct {
	class metrics.Class
	calls int
}

func (s *deadServer) RoundTrip(*http.Request) (*http.Response, error) {
	s.calls++
	return nil, &loadgen.Failure{Class: s.class, Err: errors.New("no")}
}

func TestAServerThatIsNotUpYetIsWaitedFor(t *testing.T) {
	const waited = 11 // calls in ten seconds
	for class, want := range map[metrics.Class]int{
		metrics.DNS: waited, metrics.Refused: waited, metrics.Connect: waited, metrics.ConnectTimeout: waited,
		metrics.Timeout: waited, metrics.Reset: waited, metrics.Truncated: waited,
		metrics.TLS: 1, // it does not get better
	} {
		synctest.Test(t, func(t *testing.T) {
			server := &deadServer{class: class}
			b := &bench{options: &options{}, out: io.Discard, talk: io.Discard, server: &loadgen.Server{URL: "http://server.test", Transport: server}}
			b.Server.Model, b.Traffic.ReadyCheck = "m", 10*time.Second
			err := b.findModel(t.Context())
			if exit, ok := errors.AsType[exitError](err); !ok || exit.code != exitNo || server.calls != want {
				t.Errorf("%s: %v after %d calls, want %d", class, err, server.calls, want)
			}
		})
	}
}
