package main

import (
	"strings"
	"testing"
	"time"

	"github.com/servebench/servebench/loadgen"
)

func TestDrainingSaysWhatTheRunWaitsFor(t *testing.T) {
	for _, c := range []struct {
		draining loadgen.Draining
		want     string
	}{
		{loadgen.Draining{InFlight: 0, Limit: time.Minute}, ""},
		{loadgen.Draining{InFlight: 0, Limit: time.Minute, Aborted: true}, ""},
		{loadgen.Draining{InFlight: 1, Limit: 30 * time.Second}, "interrupted: 1 request in flight may take 30s to end; interrupt again to quit at once\n"},
		{loadgen.Draining{InFlight: 2, Limit: 30 * time.Second, Aborted: true}, "too many requests failed: 2 requests in flight may take 30s to end\n"},
	} {
		var talk strings.Builder
		(&console{talk: &talk}).Draining(c.draining)
		if talk.String() != c.want {
			t.Errorf("%+v: %q, want %q", c.draining, talk.String(), c.want)
		}
	}
}
