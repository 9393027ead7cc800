package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/servebench/servebench/dataset/tokenizer/tokenizertest"
)

// firstRequests times the program itself: from its start to its first request, including 1000
// random prompts. The cost of a tokenizer itself shows with one prompt.
func (p *plan) firstRequests() ([]row, error) {
	large, scored := filepath.Join(p.dir, "llama.json"), filepath.Join(p.dir, "xlmr.json")
	err := errors.Join(os.WriteFile(large, tokenizertest.Llama(), 0o600), os.WriteFile(scored, tokenizertest.XLMR(), 0o600))
	if err != nil {
		return nil, err
	}
	var rows []row
	before := time.Duration(0) // of the row before
	for _, way := range []struct {
		name   string
		target time.Duration // 0 if there is none
		more   bool          // than the row before
		flags  []string
	}{
		{"with --prompt-token-ids", 200 * time.Millisecond, false, []string{"--prompt-token-ids", "--vocab-size", "32000"}},
		{"with a small tokenizer", 200 * time.Millisecond, false, []string{"--tokenizer", "stub-32000"}},
		{"with one of Llama 3's size", 0, false, []string{"--tokenizer", large}},
		{"the same, one prompt", 100 * time.Millisecond, false, []string{"--tokenizer", large, "--num-prompts", "1"}},
		{"with a Unigram of XLM-R's size, one prompt", 100 * time.Millisecond, true, []string{"--tokenizer", scored, "--num-prompts", "1"}},
	} {
		best, stop := longest, watch()
		for range p.firsts {
			first, err := firstRequest(p.program, way.flags)
			if err != nil {
				return nil, err
			}
			best = min(best, first)
		}
		r := row{measure: way.name, figure: fmt.Sprintf("%.3f s", best.Seconds())}
		switch {
		case way.more:
			r.target, r.verdict = fmt.Sprintf("≤ %.1f s more", way.target.Seconds()), verdictOf(best <= before+way.target)
		case way.target > 0:
			r.target, r.verdict = fmt.Sprintf("≤ %.1f s", way.target.Seconds()), verdictOf(best <= way.target)
		}
		before = best
		rows = append(rows, r.despite(stop().Void))
	}
	return rows, nil
}

// firstRequest runs the program until its first request.
func firstRequest(program string, flags []string) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(context.Background(), longest)
	defer cancel()
	came := make(chan time.Time, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == endpoint {
			select {
			case came <- time.Now():
			default:
			}
			cancel()
		}
		http.NotFound(w, r)
	}))
	defer server.Close()

	args := []string{"run", "--base-url", server.URL, "--model", "metronome", "--num-prompts", "1000", "--random-output-len", "1"}
	cmd := exec.CommandContext(ctx, program, append(args, flags...)...)
	began := time.Now()
	out, err := cmd.CombinedOutput()
	select {
	case first := <-came:
		return first.Sub(began), nil
	default:
		return 0, errors.Join(fmt.Errorf("no request came: %s", out), err)
	}
}
