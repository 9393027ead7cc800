package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/servebench/servebench/tools/peers/truth"
)

// A load is what a client is to send, and when the server answers it.
type load struct {
	truth.Script
	Requests, Input, Output int
	Concurrency             int     // 0 for no limit
	Rate                    float64 // of requests, a second; 0 for all at once
	Even                    bool    // gaps are equal, instead of random
}

// A measurement is one load for the clients. Its name is the key of its results.
type measurement struct {
	name    string
	load    load
	less    *load    // a smaller load; the difference is what the additional units cost
	clients []string // nil for all
}

// short is the prompt length where prompts do not matter.
const short = 16

// tail is about what vLLM's server needs from the last chunk to the usage that it writes after it.
const tail = 100 * time.Microsecond

// accuracy are the loads whose figures are compared with the truth.
func accuracy(quick bool) (all []measurement) {
	chunks, poisson := 60, 2500
	if quick {
		chunks, poisson = 30, 800
	}
	at := truth.Script{First: 50 * time.Millisecond, ITL: 20 * time.Millisecond, Tail: tail, Answers: true}
	for _, streams := range []int{64, 256, 512, 1024} {
		all = append(all, measurement{name: fmt.Sprintf("%d at once", streams),
			load: load{Script: at, Requests: streams, Input: short, Output: chunks}})
	}
	step := truth.Script{First: 50 * time.Millisecond, ITL: 25 * time.Millisecond, Tail: tail, LockStep: true,
		Answers: true}
	return append(all,
		measurement{name: "1024 in lock-step", load: load{Script: step, Requests: 1024, Input: short, Output: chunks}},
		measurement{name: "Poisson, 500/s", load: load{Script: at, Requests: poisson, Input: short, Output: 97, Rate: 500}})
}

// costs are the loads whose CPU time is compared.
func costs(quick bool) (all []measurement) {
	few, many, fewChunks, manyChunks := 2000, 20_000, 60, 260
	if quick {
		many, manyChunks = 10_000, 140
	}
	at := truth.Script{First: 50 * time.Millisecond, ITL: 20 * time.Millisecond, Tail: tail}
	chunks := load{Script: at, Requests: 512, Input: short, Output: manyChunks}
	lessChunks := chunks
	lessChunks.Output = fewChunks
	all = append(all, measurement{name: "512 streams", load: chunks, less: &lessChunks})
	fast := []string{ours, rust}
	for _, streams := range []int{64, 256, 1000} {
		clients := fast
		if streams == 256 {
			clients = nil
		}
		starts := load{Requests: many, Input: short, Output: 1, Concurrency: streams}
		lessStarts := starts
		lessStarts.Requests = few
		all = append(all, measurement{name: fmt.Sprintf("starts, %d in flight", streams), load: starts, less: &lessStarts,
			clients: clients})
	}
	all = append(all, measurement{name: "1000 prompts of 1024 tokens",
		load: load{Requests: 1000, Input: 1024, Output: 1, Concurrency: 16}})
	if quick {
		return all
	}
	return append(all,
		measurement{name: "100,000 requests", load: load{Requests: 100_000, Input: short, Output: 1, Concurrency: 256},
			clients: fast},
		measurement{name: "50 prompts of 100,000 tokens",
			load: load{Requests: 50, Input: 100_000, Output: 1, Concurrency: 50}, clients: fast})
}

// schedules are the loads whose requests are due at even gaps.
func schedules(quick bool) (all []measurement) {
	seconds := 3.0
	if quick {
		seconds = 1
	}
	for _, rate := range []float64{100, 1000, 5000} {
		m := measurement{name: fmt.Sprintf("%g a second", rate), load: load{
			Script: truth.Script{Gap: time.Duration(1e9 / rate)}, Requests: int(seconds * rate), Input: short, Output: 1,
			Rate: rate, Even: true,
		}}
		if rate > 1000 {
			m.clients = []string{ours, rust}
		}
		all = append(all, m)
	}
	return all
}

// measurements are all whose names contain only.
func measurements(quick bool, only string) (chosen []measurement) {
	for _, group := range [][]measurement{accuracy(quick), costs(quick), schedules(quick)} {
		for _, m := range group {
			if strings.Contains(m.name, only) {
				chosen = append(chosen, m)
			}
		}
	}
	return chosen
}
