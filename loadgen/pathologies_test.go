package loadgen_test

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/servebench/servebench/loadgen/arrivals"
	"github.com/servebench/servebench/metrics/verdict"
)

// A reply is what a scripted server does with one request.
type reply struct {
	early      string        // text of a chunk after 2 ms; empty for none
	first, gap time.Duration // to the first token, and between tokens
	wait       time.Duration // more before the second token
	texts      []string      // one chunk each
	copies     int           // of each chunk
	in, out    int           // usage
	finish     string
}

// scripted is a server whose k-th request, from 0 on, gets that change of an ordinary reply.
func scripted(change func(k int, r *reply)) func(http.Handler) http.Handler {
	var count atomic.Int64
	return func(http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			var asked struct {
				Prompt    string `json:"prompt"`
				MaxTokens int    `json:"max_tokens"`
			}
			body, _ := io.ReadAll(req.Body)
			_ = json.Unmarshal(body, &asked) // the client writes JSON
			r := reply{first: 50 * time.Millisecond, gap: 10 * time.Millisecond, copies: 1, in: words(asked.Prompt), out: asked.MaxTokens, finish: "length"}
			for i := range asked.MaxTokens {
				r.texts = append(r.texts, fmt.Sprint(" t", i))
			}
			change(int(count.Add(1)-1), &r)
			r.send(w)
		})
	}
}

func (r *reply) send(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/event-stream")
	chunk := func(text, finish string) {
		fmt.Fprintf(w, `data: {"id":"x","object":"text_completion","choices":[{"index":0,"text":%q,"finish_reason":%s}]}`+"\n\n", text, finish)
		w.(http.Flusher).Flush()
	}
	if r.early != "" {
		time.Sleep(2 * time.Millisecond)
		chunk(r.early, "null")
	}
	time.Sleep(r.first)
	for i, text := range r.texts {
		if i > 0 {
			time.Sleep(r.gap)
		}
		if i == 1 {
			time.Sleep(r.wait)
		}
		finish := "null"
		if i == len(r.texts)-1 {
			finish = fmt.Sprintf("%q", r.finish)
		}
		for range r.copies {
			chunk(text, finish)
		}
	}
	fmt.Fprintf(w, `data: {"id":"x","object":"text_completion","choices":[],"usage":{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d}}`+"\n\ndata: [DONE]\n\n",
		r.in, r.out, r.in+r.out)
}

// times makes an answer that many times slower.
func (r *reply) times(n float64) {
	r.first, r.gap = time.Duration(n*float64(r.first)), time.Duration(n*float64(r.gap))
}

// Each of these runs printed numbers that mislead, without a word. Its twin has the same load, and a server that
// does nothing of the kind.
func TestEachPathologyHasItsWord(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second: in go test without -short")
	}
	closed := arrivals.Process{Rate: math.Inf(1), Burstiness: 1}
	const check, note = "check: ", "note: "
	for name, c := range map[string]struct {
		trial
		change func(k int, r *reply)
		says   string
	}{
		"prompts cut at a window": {trial{}, func(_ int, r *reply) { r.in = min(r.in, 40) },
			check + "the server read other prompts than asked for: of 200, 200 are shorter and 0 longer by its count, with 8000 tokens for 12800"},
		"prompts of another tokenizer": {trial{}, func(_ int, r *reply) { r.in *= 5 }, check + "the server read other prompts than asked for"},
		"answers cut below their length": {trial{}, func(k int, r *reply) {
			if k%3 == 0 {
				r.texts, r.out = r.texts[:5], 5
			}
		}, check + "short answers: 67 of 200 ended for their length, but have fewer tokens than asked for, 1005 tokens missing"},
		"a space before the first token": {trial{}, func(_ int, r *reply) { r.early = " " },
			check + "TTFT takes an empty chunk for a token: 2.00 ms, and 52.0 ms to the first content"},
		"a character without width": {trial{}, func(_ int, r *reply) { r.early = "\u200b" }, check + "TTFT takes an empty chunk for a token: 2.00 ms"},
		"chunks sent twice":         {trial{}, func(_ int, r *reply) { r.copies = 2 }, check + "200 answers have more chunks than tokens, 8000 for 4000"},
		"a stall behind slots": {trial{num: 600, limit: 16, arrivals: poisson(40, 3)}, func(k int, r *reply) {
			if k >= 90 && k < 106 { // all of them are in flight
				r.first += 2 * time.Second
			}
		}, check + "--max-concurrency held requests back, for "},
		"error texts with status 200": {trial{}, func(k int, r *reply) {
			if k%3 == 0 {
				r.first, r.texts, r.out, r.finish = time.Millisecond, []string{"Error: CUDA out of memory"}, 12, "stop"
			}
		}, note + "67 of 200 answers were complete within 1.00 ms (median), before a quarter of the median TTFT had passed"},
		"a slow start": {trial{limit: 16, arrivals: closed}, func(k int, r *reply) {
			if k < 40 {
				r.times(5)
			}
		}, note + "the run was not steady: latencies changed at "},
		"latencies that double": {trial{}, func(k int, r *reply) { r.times(1 + float64(k)/200) }, note + "the run was not steady"},
		"two replicas": {trial{}, func(k int, r *reply) { r.times(float64(1 + k%2*2)) },
			note + "the answers have two kinds: 50 % take 10.00 ms a chunk, and 50 % take 30.0 ms"},
		"70 prompts at 64 slots": {trial{num: 70, limit: 64, arrivals: closed}, nil, note + "35.0 of the 64 slots of --max-concurrency were in use on average, and 64 at most"},
		"10 prompts at 64 slots": {trial{num: 10, limit: 64, arrivals: closed}, nil, note + "10.0 of the 64 slots"},
		"50 prompts at 1,000 a second": {trial{num: 50, arrivals: poisson(1000, 5)}, nil,
			note + "all 50 requests were due within "},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tr := c.trial
				tr.in, tr.out = 64, 20
				if tr.num == 0 {
					tr.num = 200
				}
				if tr.arrivals == (arrivals.Process{}) {
					tr.arrivals = poisson(50, 1)
				}
				twin := tr
				if c.change == nil { // it is the load, so the twin has more of it
					twin.num, c.change = 2000, func(int, *reply) {}
				}
				tr.gateway, twin.gateway = scripted(c.change), scripted(func(int, *reply) {})
				if got := said(tr.judge(t)); len(got) != 1 || !strings.HasPrefix(got[0], c.says) {
					t.Errorf("%q, want %q", got, c.says)
				}
				if got := said(twin.judge(t)); len(got) != 0 {
					t.Errorf("without it: %q", got)
				}
			})
		})
	}
}

// said is what a verdict says: checks that failed, and notes.
func said(trust *verdict.Trust) (all []string) {
	for _, c := range trust.Failed() {
		all = append(all, "check: "+c.Text)
	}
	for _, n := range trust.Notes {
		if !strings.HasPrefix(n, "chunk ≠ token") {
			all = append(all, "note: "+n)
		}
	}
	return all
}

// A server that does all prefill before any decoding makes second tokens wait: its first chunks are tokens.
func TestPrefillFirstIsNoPathology(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := trial{num: 200, in: 64, out: 20, limit: 32, arrivals: arrivals.Process{Rate: math.Inf(1), Burstiness: 1}}
		tr.gateway = scripted(func(k int, r *reply) {
			place := time.Duration(k % 32)
			r.first = (place + 1) * 30 * time.Millisecond
			r.wait = (32 - place) * 30 * time.Millisecond
		})
		if got := said(tr.judge(t)); len(got) != 0 {
			t.Errorf("%q", got)
		}
	})
}
