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
	"github.com/servebench/servebench/loadgen/sim"
	"github.com/servebench/servebench/loadgen/sim/speed"
)

// A blockChecker answers as its server, and counts the results of tools in requests of the Messages API,
// and the results of no call before them.
type blockChecker struct {
	http.Handler
	results, wrong atomic.Int64
}

func (c *blockChecker) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var asked struct {
		Messages []struct{ Content json.RawMessage }
	}
	_ = json.Unmarshal(body, &asked) // a probe may have no body
	open := map[string]bool{}
	for _, m := range asked.Messages {
		var blocks []struct {
			Type, ID string
			For      string `json:"tool_use_id"`
		}
		_ = json.Unmarshal(m.Content, &blocks) // a text has no blocks
		for _, b := range blocks {
			switch b.Type {
			case "tool_use":
				open[b.ID] = true
			case "tool_result":
				c.results.Add(1)
				if !open[b.For] {
					c.wrong.Add(1)
				}
			}
		}
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	c.Handler.ServeHTTP(w, r)
}

// Live calls come in pieces, and go back to the server as blocks with the recorded results.
func TestSessionsOfMessagesAnswerTheCallsOfTheServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, err := sim.New(sim.Config{Tokenizer: tokenizer.Stub{Size: 32000}, Cost: speed.Cost{Base: 10 * time.Millisecond}, Answers: sim.Answers{Lead: sim.Lead{Field: "tool_calls", Tokens: 4}}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(server.Close)
		checker := &blockChecker{Handler: server}
		plan := onHandler(t)
		plan.Server.Backend, plan.Server.Handler, plan.Sampling.IgnoreEOS = "anthropic", checker, true
		plan.Workload.Source = func(yield func(*dataset.Conversation, error) bool) {
			for k := range 4 {
				c := &dataset.Conversation{ID: fmt.Sprint("s", k), Turns: []dataset.Turn{{Messages: json.RawMessage(`[{"role":"system","content":"tok9"},{"role":"user","content":"tok1"}]`), OutputLen: 9}}}
				for range 3 {
					c.Turns = append(c.Turns, dataset.Turn{Messages: json.RawMessage(`[{"role":"tool","tool_call_id":"recorded","content":"tok2"}]`), OutputLen: 9})
				}
				if !yield(c, nil) {
					return
				}
			}
		}
		sums, err := plan.Run(t.Context(), nil)
		if err != nil || sums[0].Completed != 16 || sums[0].TTFT.Percentile(100) != 10 {
			t.Fatal(err, sums)
		}
		if got, want := checker.results.Load(), int64(4*(1+2+3)); got != want || checker.wrong.Load() != 0 {
			t.Errorf("%d results of tools, %d of them of no call, want %d", got, checker.wrong.Load(), want)
		}
	})
}
