//go:build vllm

package vllm_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// An allowance is a difference between the requests of the clients that is on purpose.
// docs/vllm.md has them all.
type allowance struct {
	words []string // of the command lines that it is for, any of them
	what  string   // for the table there
	edit  func(r *seen) (keep bool)
}

var allowances = []allowance{
	{[]string{"--lora-modules"}, "one `GET /v1/models` before the load", func(r *seen) bool { return r.Path != "/v1/models" }},
	{[]string{"timed_trace"}, "token ids, as vLLM's change from process to process", func(r *seen) bool {
		r.Body = tokenIDs.ReplaceAllStringFunc(r.Body, func(ids string) string { return fmt.Sprintf("%d ids", strings.Count(ids, ",")+1) })
		return true
	}},
	{[]string{"yale-nlp/MMVU"}, "videos of a local folder come from there, and vLLM's from the hub's cache", func(r *seen) bool {
		r.Body = videoFolder.ReplaceAllString(r.Body, "videos/")
		return true
	}},
	{[]string{"--header"}, "`/tokenize` has the headers, too", func(r *seen) bool {
		if r.Path == "/tokenize" {
			r.Header.Del("X-A")
		}
		return true
	}},
}

var videoFolder = regexp.MustCompile(`file:///[^"]*/videos/`)

var tokenIDs = regexp.MustCompile(`\[[0-9, ]+\]`)

func (a *allowance) applies(argv []string) bool {
	return slices.ContainsFunc(a.words, func(word string) bool { return slices.Contains(argv, word) })
}

// allow takes the difference from what a client sent. It also gives whether there was one.
func (a *allowance) allow(requests []seen, calls []string) (kept []seen, order []string, some bool) {
	for _, r := range requests {
		body, headers := r.Body, len(r.Header)
		keep := a.edit(&r)
		if keep {
			kept = append(kept, r)
		}
		some = some || !keep || r.Body != body || len(r.Header) != headers
	}
	return kept, slices.DeleteFunc(calls, func(call string) bool {
		method, path, _ := strings.Cut(call, " ")
		return !a.edit(&seen{Method: method, Path: path})
	}), some
}
