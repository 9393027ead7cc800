package main

import (
	"context"
	"fmt"
	"net/netip"
	"strconv"
	"time"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/loadgen"
	"github.com/servebench/servebench/metrics"
)

// A startsJob sends many short requests.
type startsJob struct {
	Addr        netip.AddrPort
	Requests    int
	Connections int
	Profile     string // file for a CPU profile; empty for none
}

// A starts is what they took.
type starts struct {
	CPU  float64 // nanoseconds a request
	Rate float64 // requests a second
}

func (j startsJob) run() (any, error) {
	stop, err := profile(j.Profile)
	if err != nil {
		return nil, err
	}
	defer stop()
	load := loadOn(j.Addr, j.Requests, 1)
	load.Concurrency = j.Connections
	var began time.Time
	var before time.Duration
	run := loadgen.Run{Loads: []loadgen.Load{load}, Started: func(epoch time.Time) { began, before = epoch, processTime() }}
	for rec, err := range run.Records(context.Background()) {
		if err == nil && rec.Class != metrics.OK {
			err = fmt.Errorf("request %d: %s: %s", rec.Index, rec.Class, rec.Error)
		}
		if err != nil {
			return nil, err
		}
	}
	took := time.Since(began)
	return starts{
		CPU:  float64(processTime()-before) / float64(j.Requests),
		Rate: float64(j.Requests) / took.Seconds(),
	}, nil
}

// loadOn is n requests for so many tokens each, as soon as there is a slot.
func loadOn(addr netip.AddrPort, n, tokens int) loadgen.Load {
	send := sender("http://" + addr.String()).Send
	body := []byte(requestBody(tokens))
	encode := func(c *dataset.Conversation, _ int) (*loadgen.Request, error) {
		return &loadgen.Request{ID: c.ID, Body: body}, nil
	}
	return loadgen.Load{Source: conversations(n), Target: loadgen.Target{Encode: encode, Send: send}}
}

// conversations is a dataset of n requests that say nothing.
func conversations(n int) dataset.Source {
	return func(yield func(*dataset.Conversation, error) bool) {
		for i := range n {
			c := &dataset.Conversation{ID: "bench-" + strconv.Itoa(i), Turns: []dataset.Turn{{PromptLen: 1, OutputLen: 1}}}
			if !yield(c, nil) {
				return
			}
		}
	}
}
