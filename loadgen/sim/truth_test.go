package sim

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/servebench/servebench/loadgen/sim/faults"
	"github.com/servebench/servebench/loadgen/sim/spans"
	"github.com/servebench/servebench/loadgen/sim/speed"
)

const ms = time.Millisecond

// slow adds another time to each span.
var slow = spans.Added{Queue: 1 * ms, Prefill: 20 * ms, FrontEnd: 300 * ms, Network: 4 * ms, Generation: 60 * ms}

// A notebook takes what servers log.
type notebook struct {
	mu       sync.Mutex
	requests map[string]spans.Request // by id
}

func (n *notebook) add(r spans.Request) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.requests == nil {
		n.requests = make(map[string]spans.Request)
	}
	n.requests[r.ID] = r
}

// of are a request's instants, as times since another.
func (n *notebook) of(id string, start time.Time) (instants []time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	r := n.requests[id]
	for _, at := range []time.Time{r.Received, r.Queued, r.Scheduled, r.FirstToken, r.Wrote, r.LastToken, r.LastWrote, r.Ended} {
		instants = append(instants, at.Sub(start))
	}
	return instants
}

func TestLogHasTheInstantsOfARequest(t *testing.T) {
	var log notebook
	bubble(t, Config{Cost: testCost, FrontEnd: 2 * ms, Log: log.add}, func(h *harness) {
		start := time.Now()
		h.stream("/v1/completions", "a-1", completion(100, 4))
		first := 2*ms + stepOf(testCost, 0, 100)
		last := first + span(3, stepOf(testCost, 1, 0))
		got := log.of("a-1", start)
		if want := []time.Duration{0, 2 * ms, 2*ms + speed.Gather, first, first, last, last, last}; !slices.Equal(got, want) {
			t.Errorf("the log says %v, want %v", got, want)
		}
	})
}

func TestSlowAddsToEachSpanAlone(t *testing.T) {
	var log notebook
	bubble(t, Config{Cost: testCost, FrontEnd: 2 * ms, Slow: slow, Log: log.add}, func(h *harness) {
		start := time.Now()
		tokens := tokenTimes(start, h.stream("/v1/completions", "a-1", completion(100, 4)))
		queued := 302 * ms
		scheduled := queued + speed.Gather + 1*ms
		first := queued + stepOf(testCost, 0, 100) + 21*ms
		last := first + span(3, stepOf(testCost, 1, 0)) + 60*ms
		got := log.of("a-1", start)
		if want := []time.Duration{0, queued, scheduled, first, first, last, last, last}; !slices.Equal(got, want) {
			t.Errorf("the log says %v, want %v", got, want)
		}
		if network := log.requests["a-1"].Network; network != 4*ms {
			t.Errorf("the network took %v, want 4ms", network)
		}
		var want []time.Duration
		for i := range 4 {
			want = append(want, first+4*ms+span(i, stepOf(testCost, 1, 0)+20*ms))
		}
		if !slices.Equal(tokens, want) {
			t.Errorf("tokens at %v, want %v", tokens, want)
		}
	})
}

func TestSlowLeavesTheStepsAlone(t *testing.T) {
	bodies := map[string]string{"a-1": completion(10, 4), "a-2": completion(2000, 3), "a-3": completion(500, 9)}
	run := func(added spans.Added) (times map[string][]time.Duration) {
		bubble(t, Config{Cost: testCost, Slow: added, Limits: Limits{NumSeqs: 2}}, func(h *harness) { times = h.together(bodies) })
		return times
	}
	plain, slowed := run(spans.Added{}), run(slow)
	for id, times := range plain {
		for i := range times {
			times[i] += slow.FrontEnd + slow.Network + slow.Token(i, len(times))
		}
		if !slices.Equal(slowed[id], times) {
			t.Errorf("%s: tokens at %v, want %v", id, slowed[id], times)
		}
	}
}

func TestAnswersSayTheEnginesTimes(t *testing.T) {
	for _, stream := range []bool{true, false} {
		for _, chat := range []bool{true, false} {
			t.Run(fmt.Sprintf("stream %v chat %v", stream, chat), func(t *testing.T) {
				var log notebook
				bubble(t, Config{Cost: testCost, Slow: slow, Log: log.add, Answers: Answers{Timings: true}}, func(h *harness) {
					path, prompt := "/v1/completions", `"prompt":"tok1"`
					if chat {
						path, prompt = "/v1/chat/completions", `"messages":[{"role":"user","content":"tok1"}]`
					}
					got := h.metrics(path, fmt.Sprintf(`{%s,"max_tokens":5,"ignore_eos":true,"stream":%v,"stream_options":{"include_usage":true}}`, prompt, stream))
					r := log.requests["a-1"]
					prefill, generation := r.FirstToken.Sub(r.Scheduled), r.LastToken.Sub(r.FirstToken)
					want := map[string]float64{
						"queue_time_ms":          spans.Milliseconds(r.Scheduled.Sub(r.Queued)),
						"time_to_first_token_ms": spans.Milliseconds(prefill),
						"generation_time_ms":     spans.Milliseconds(generation),
						"mean_itl_ms":            spans.Milliseconds(generation) / 4,
						"tokens_per_second":      5 / (prefill + generation).Seconds(),
					}
					if !maps.Equal(got, want) || want["queue_time_ms"] != 1.001 {
						t.Errorf("the answer says %v, want %v", got, want)
					}
				})
			})
		}
	}
}

// metrics sends a request and returns the member "metrics" of its answer, of the last chunk in a stream.
func (h *harness) metrics(path, body string) map[string]float64 {
	h.t.Helper()
	var answer struct{ Metrics map[string]float64 }
	if err := json.Unmarshal([]byte(h.last(path, "a-1", body)), &answer); err != nil {
		h.t.Error(err)
	}
	return answer.Metrics
}

// last sends a request and returns its answer, or the last chunk of a stream.
func (h *harness) last(path, id, body string) string {
	h.t.Helper()
	resp, err := h.client.Do(h.request(h.t.Context(), path, id, body))
	if err != nil {
		h.t.Fatal(err)
	}
	defer resp.Body.Close()
	var text strings.Builder
	if err := resp.Write(&text); err != nil || resp.StatusCode != http.StatusOK {
		h.t.Fatalf("status %d: %v", resp.StatusCode, err)
	}
	open := strings.LastIndex(text.String(), `{"id":`)
	return text.String()[open : strings.LastIndex(text.String(), "}")+1]
}

func TestAnswersSayNothingOfTimesUnlessAsked(t *testing.T) {
	for _, c := range []struct {
		metrics bool
		body    string
	}{
		{false, `{"prompt":"tok1","max_tokens":5,"stream":true,"stream_options":{"include_usage":true}}`},
		{false, `{"prompt":"tok1","max_tokens":5}`},
		{true, `{"prompt":"tok1","max_tokens":5,"stream":true}`}, // like vLLM, only with usage
	} {
		bubble(t, Config{Cost: testCost, Answers: Answers{Timings: c.metrics}}, func(h *harness) {
			if got := h.last("/v1/completions", "a-1", c.body); strings.Contains(got, "metrics") {
				t.Errorf("%s: the answer ends with %s", c.body, got)
			}
		})
	}
}

func TestAnswersOfOneTokenHaveNoMeanITL(t *testing.T) {
	bubble(t, Config{Cost: testCost, Answers: Answers{Timings: true}}, func(h *harness) {
		got := h.metrics("/v1/completions", `{"prompt":"tok1","max_tokens":1}`)
		if _, there := got["mean_itl_ms"]; there || len(got) != 4 || got["generation_time_ms"] != 0 {
			t.Errorf("the answer says %v", got)
		}
	})
}

func TestHistogramsIncludeTheTimeAdded(t *testing.T) {
	bubble(t, Config{Cost: testCost, Slow: slow}, func(h *harness) {
		h.stream("/v1/completions", "a-1", completion(100, 4))
		prefill, decode := stepOf(testCost, 0, 100)-speed.Gather+20*ms, span(3, stepOf(testCost, 1, 0))+60*ms
		for name, want := range map[string]time.Duration{
			"request_queue_time":            speed.Gather + 1*ms,
			"request_prefill_time":          prefill,
			"request_decode_time":           decode,
			"request_inference_time":        prefill + decode,
			"e2e_request_latency":           speed.Gather + 1*ms + prefill + decode,
			"time_to_first_token":           speed.Gather + 1*ms + prefill,
			"inter_token_latency":           decode,
			"request_time_per_output_token": decode / 3,
		} {
			got := h.value("vllm:" + name + `_seconds_sum{engine="0",model_name="stub-32000"}`)
			if fmt.Sprintf("%.9f", got) != fmt.Sprintf("%.9f", want.Seconds()) {
				t.Errorf("%s is %v, want %v", name, got, want.Seconds())
			}
		}
	})
}

func TestLogHasCompleteAnswersAlone(t *testing.T) {
	for fault, logged := range map[string]bool{"crlf": true, "cut": false, "status": false, "empty": false, "truncate": false} {
		var log notebook
		bubble(t, Config{Cost: testCost, Log: log.add}, func(h *harness) {
			r := h.request(h.t.Context(), "/v1/completions", "a-1", completion(10, 4))
			r.Header.Set(faults.Header, fault)
			if resp, err := h.client.Do(r); err == nil {
				var text strings.Builder
				_ = resp.Write(&text) // some faults cut it
				resp.Body.Close()
			}
		})
		if got := len(log.requests) == 1; got != logged {
			t.Errorf("%s: logged %v, want %v", fault, got, logged)
		}
	}
}

func TestWholeAnswersWaitForTheTimeAdded(t *testing.T) {
	var log notebook
	bubble(t, Config{Cost: testCost, FrontEnd: 2 * ms, Slow: slow, Log: log.add}, func(h *harness) {
		start := time.Now()
		h.last("/v1/completions", "a-1", strings.Replace(completion(100, 4), `"stream":true`, `"stream":false`, 1))
		last := 302*ms + stepOf(testCost, 0, 100) + 21*ms + span(3, stepOf(testCost, 1, 0)) + 60*ms
		if got := time.Since(start); got != last+4*ms {
			t.Errorf("the answer came after %v, want %v", got, last+4*ms)
		}
		got := log.of("a-1", start)
		if got[4] != last || got[6] != last || !log.requests["a-1"].Whole {
			t.Errorf("written at %v and ended at %v, want %v: %+v", got[4], got[6], last, log.requests["a-1"])
		}
	})
}
