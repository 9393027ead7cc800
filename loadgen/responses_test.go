package loadgen

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/tokenizer"
	"github.com/servebench/servebench/loadgen/settings"
	"github.com/servebench/servebench/loadgen/sim"
	"github.com/servebench/servebench/loadgen/sim/speed"
)

// A session has the same prompts, and so the same times, whether its requests have the history or the
// server keeps it.
func TestSessionsGoOnFromAnswersThatTheServerKeeps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		session := func(yield func(*dataset.Conversation, error) bool) {
			for k := range 4 {
				c := &dataset.Conversation{ID: fmt.Sprint("s", k), Turns: make([]dataset.Turn, 3)}
				for i := range c.Turns {
					c.Turns[i] = dataset.Turn{Messages: json.RawMessage(fmt.Sprintf(`[{"role":"user","content":"tok%d tok2 tok3"}]`, i)), OutputLen: 5}
				}
				if !yield(c, nil) {
					return
				}
			}
		}
		var inputs []int
		for _, c := range []struct {
			backend string
			answers settings.Answers
		}{{"openai-chat", Live}, {"openai-responses", Live}, {"openai-responses", Stored}, {"anthropic", Live}} {
			plan := onHandler(t)
			plan.Server.Backend, plan.Workload.Source, plan.Workload.Sessions.Answers = c.backend, session, c.answers
			plan.Sampling.IgnoreEOS = true
			sums, err := plan.Run(t.Context(), nil)
			if err != nil || sums[0].Completed != 12 || sums[0].TTFT.Percentile(100) != 10 {
				t.Fatalf("%s, %s: %v, %+v", c.backend, c.answers, err, sums[0])
			}
			inputs = append(inputs, sums[0].Totals.Input)
		}
		if alone := 4 * 3 * (6 + 3); inputs[0] <= alone || inputs[1] != inputs[0] || inputs[2] != inputs[0] || inputs[3] != inputs[0] {
			t.Errorf("prompts of %d tokens, want as many, and more than %d", inputs, alone)
		}
		plan := onHandler(t)
		plan.Server.Backend, plan.Workload.Sessions.Answers = "openai-chat", Stored
		if _, err := plan.Run(t.Context(), nil); err == nil {
			t.Error("a chat's server keeps no answers")
		}
	})
}

// A callChecker answers as its server, and says which tool messages answer no call before them.
type callChecker struct {
	http.Handler
	results, wrong atomic.Int64
}

func (c *callChecker) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var asked struct {
		Messages []struct {
			Role  string
			For   string                `json:"tool_call_id"`
			Calls []struct{ ID string } `json:"tool_calls"`
		}
	}
	_ = json.Unmarshal(body, &asked) // other calls have no messages
	open := map[string]bool{}
	for _, m := range asked.Messages {
		if m.Role == "tool" {
			c.results.Add(1)
			if !open[m.For] {
				c.wrong.Add(1)
			}
		}
		for _, call := range m.Calls {
			open[call.ID] = true
		}
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	c.Handler.ServeHTTP(w, r)
}

func TestResultsOfToolsAnswerTheCallsOfTheServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, err := sim.New(sim.Config{Tokenizer: tokenizer.Stub{Size: 32000}, Cost: speed.Cost{Base: 10 * time.Millisecond}, Answers: sim.Answers{Lead: sim.Lead{Field: "tool_calls", Tokens: 20}}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(server.Close)
		checker := &callChecker{Handler: server}
		plan := onHandler(t)
		plan.Server.Backend, plan.Server.Handler, plan.Sampling.IgnoreEOS = "openai-chat", checker, true
		plan.Workload.Source = func(yield func(*dataset.Conversation, error) bool) {
			for k := range 4 {
				c := &dataset.Conversation{ID: fmt.Sprint("s", k), Turns: []dataset.Turn{{Messages: json.RawMessage(`[{"role":"user","content":"tok1"}]`), OutputLen: 9}}}
				for range 3 {
					c.Turns = append(c.Turns, dataset.Turn{Messages: json.RawMessage(`[{"role":"tool","tool_call_id":"recorded","content":"tok2"},{"role":"tool","tool_call_id":"other","content":"tok3"}]`), OutputLen: 9})
				}
				if !yield(c, nil) {
					return
				}
			}
		}
		sums, err := plan.Run(t.Context(), nil)
		if err != nil || sums[0].Completed != 16 {
			t.Fatal(err, sums)
		}
		// The simulator makes one call each time: the second result is a user's message.
		if got, want := checker.results.Load(), int64(4*(1+2+3)); got != want || checker.wrong.Load() != 0 {
			t.Errorf("%d results of tools, %d of them of no call, want %d", got, checker.wrong.Load(), want)
		}
	})
}
