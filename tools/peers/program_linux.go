package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/servebench/servebench/dataset/tokenizer/tokenizertest"
)

// stub is a small tokenizer.
const stub = "stub-32000"

// with is the bench with another tokenizer and another core for clients.
func (b bench) with(tokenizer string, cpu int) *bench {
	b.tokenizer, b.clientCPU = tokenizer, cpu
	return &b
}

// runs measures requests of one token in whole runs of the program on one CPU, with prompts of 100
// tokens, records in a file and stamps. A short run tells what a run costs besides its requests.
func (p *plan) runs() ([]line, error) {
	b, command := p.with(stub, p.clientCPU), vllmArgs(p.program, "run")
	whole := client{name: ours, read: readVLLM, args: func(l load, at place) []string {
		return append(command(l, at), "-o", filepath.Join(at.dir, streamFile))
	}}
	var lines []line
	for _, inFlight := range []int{64, 256, 1000} {
		few := load{Requests: inFlight, Input: 100, Output: 1, Concurrency: inFlight}
		many := few
		many.Requests += p.requests
		stop := observe()
		r := b.measure(measurement{load: many, less: &few}, whole)
		if r.Error != "" {
			return nil, errors.New(r.Error)
		}
		figure := fmt.Sprintf("%.0f request starts per second of one core (%.1f µs of CPU each)", 1e6/r.Unit, r.Unit)
		lines = append(lines, line{measure: fmt.Sprintf("%d in flight", inFlight), figure: figure}.despite(stop().Void))
	}
	return lines, nil
}

// firstRequests times the program itself: from its start to its first request, including 1000
// random prompts. The cost of a tokenizer itself shows with one prompt.
func (p *plan) firstRequests() ([]line, error) {
	scored := filepath.Join(p.dir, "xlmr.json")
	if err := os.WriteFile(scored, tokenizertest.XLMR(), 0o600); err != nil {
		return nil, err
	}
	var lines []line
	before := time.Duration(0) // of the line before
	for _, way := range []struct {
		name      string
		target    time.Duration // 0 if there is none
		more      bool          // than the line before
		prompts   int
		tokenizer string
		flags     []string
	}{
		{"with --prompt-token-ids", 200 * time.Millisecond, false, 1000, stub, []string{"--prompt-token-ids"}},
		{"with a small tokenizer", 200 * time.Millisecond, false, 1000, stub, nil},
		{"with one of Llama 3's size", 0, false, 1000, p.tokenizer, nil},
		{"the same, one prompt", 100 * time.Millisecond, false, 1, p.tokenizer, nil},
		{"with a Unigram of XLM-R's size, one prompt", 100 * time.Millisecond, true, 1, scored, nil},
	} {
		program := client{name: ours, read: readVLLM, args: vllmArgs(slices.Concat([]string{p.program, "run"}, way.flags)...)}
		best, stop := longest, observe()
		for range p.firsts {
			prompts := load{Requests: way.prompts, Input: 1024, Output: 1, Concurrency: 16}
			r, err := p.with(way.tokenizer, anyCPU).run(prompts, program)
			if err != nil {
				return nil, err
			}
			best = min(best, time.Duration(r.Wait*float64(time.Millisecond)))
		}
		l := line{measure: way.name, figure: fmt.Sprintf("%.3f s", best.Seconds())}
		switch {
		case way.more:
			l.target, l.verdict = fmt.Sprintf("≤ %.1f s more", way.target.Seconds()), verdictOf(best <= before+way.target)
		case way.target > 0:
			l.target, l.verdict = fmt.Sprintf("≤ %.1f s", way.target.Seconds()), verdictOf(best <= way.target)
		}
		before = best
		lines = append(lines, l.despite(stop().Void))
	}
	return lines, nil
}
