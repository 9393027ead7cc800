package vllm_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect"
	"github.com/servebench/servebench/metrics/aspect/sessions"
	"github.com/servebench/servebench/metrics/pyjson"
	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/vllm"
)

// chat is the summary of three sessions of two turns: one is completed in 900 ms, one is cut after
// 300 ms and one breaks.
func chat() *metrics.Summary {
	c := aspect.Collector(&metrics.Header{Config: metrics.Config{Goodput: []metrics.SLO{{Metric: metrics.JobSLO, Limit: 900}}}})
	for i := range 3 {
		for turn := range 2 {
			if i == 1 && turn == 1 {
				continue
			}
			due := time.Duration(turn) * 600 * time.Millisecond
			r := &record.Record{
				Index: i, Turn: turn,
				Session: &record.Turn{Turns: 2, Ready: due / 2, Gap: due / 2, At: &due, Took: time.Second, Reusable: 90 * turn}, Times: record.Times{Due: due, Slot: due, Sent: due, End: due + 300*time.Millisecond}, Tokens: record.Tokens{In: 100, InAsked: 100, Cached: 80 * turn, Out: 2, OutAsked: 2},
			}
			if turn > 0 {
				r.Session.Waits, r.Session.History = []int{0}, 100
			}
			if i == 2 && turn == 1 {
				r.Result.Class = record.Reset
			}
			r.Answer.Chunks.Append(due + 100*time.Millisecond)
			r.Answer.Chunks.Append(r.Times.End)
			r.Times.Last = r.Times.End
			c.Add(r)
		}
	}
	return c.Summary(2)
}

const chatSessions = `{"begun": 3, "completed": 1, "cut": 1, "earlier": 0, "turns_sent": 5, "turns_unsent": 1, "good": 1, "peak_in_flight": 3, ` +
	`"later_turns": 2, "late_turns": 0, "turns_with_gap": 2, "vanished_gaps": 0, "disordered_turns": 0, "broken": {"reset": 1}, ` +
	`"session_throughput": 0.5, "session_goodput": 0.5, "mean_in_flight": 1.05, ` +
	`"n_job_ms": 1, "mean_job_ms": 900.0, "median_job_ms": 900.0, "p90_job_ms": 900.0, "p95_job_ms": 900.0, "p99_job_ms": 900.0, ` +
	`"n_cut_after_ms": 1, "mean_cut_after_ms": 300.0, "median_cut_after_ms": 300.0, "p90_cut_after_ms": 300.0, "p95_cut_after_ms": 300.0, "p99_cut_after_ms": 300.0, `

func TestResultFilesHaveTheSessions(t *testing.T) {
	want := sessions.Of(chat())
	text := string(pyjson.Append(nil, vllm.Sessions(want)))
	if !strings.HasPrefix(text, chatSessions) || !strings.Contains(text, `"median_job_with_cut_ms": 900.0, `) || !strings.Contains(text,
		`"mean_think_ms": 300.0, "mean_tool_ms": 0.0, "mean_places_ms": 0.0, "mean_slots_ms": 0.0, "mean_job_lag_ms": 0.0, "mean_prefill_ms": 200.0, "mean_decode_ms": 400.0, `) {
		t.Error(text)
	}
	file := `{"duration": 2, "completed": 4, "total_input_tokens": 5, "sessions": ` + text + `}`
	sums, err := vllm.ReadResults(strings.NewReader(file), metrics.Ask{})
	if err != nil {
		t.Fatal(err)
	}
	got := sessions.Of(sums[0])
	var first, second map[string]any
	if err := json.Unmarshal([]byte(text), &first); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(pyjson.Append(nil, vllm.Sessions(got)), &second); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{"median", "p90", "p95", "p99"} {
		delete(first, p+"_job_with_cut_ms") // it needs the single sessions
	}
	if diff := cmp.Diff(first, second); diff != "" {
		t.Error(diff)
	}
	if got.Rows[1].Cache.CachedShare() != 0.8 || got.Cache.ReusedShare() != want.Cache.ReusedShare() || got.Parts != want.Parts {
		t.Errorf("%+v, want %+v", got, want)
	}
	asked, err := vllm.ReadResults(strings.NewReader(file), metrics.Ask{Goodput: []metrics.SLO{{Metric: metrics.JobSLO, Limit: 1}}})
	if err != nil || !math.IsNaN(sessions.Of(asked[0]).Goodput) {
		t.Errorf("goodput by other limits: %v, %v", sessions.Of(asked[0]).Goodput, err)
	}
	for _, odd := range []string{`null`, `7`, `{"turns": 3}`, `{"turns": [3]}`, `{"begun": "x", "broken": []}`} {
		if _, err := vllm.ReadResults(strings.NewReader(strings.Replace(file, text, odd, 1)), metrics.Ask{}); err != nil {
			t.Errorf("%s: %v", odd, err)
		}
	}
}
