package loadgen

import (
	"encoding/json"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/servebench/servebench/dataset"
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
			answers Answers
		}{{"openai-chat", Live}, {"openai-responses", Live}, {"openai-responses", Stored}} {
			plan := onHandler(t)
			plan.Server.Backend, plan.Workload.Source, plan.Workload.Sessions.Answers = c.backend, session, c.answers
			plan.Sampling.IgnoreEOS = true
			sums, err := plan.Run(t.Context(), nil)
			if err != nil || sums[0].Completed != 12 || sums[0].TTFT.Percentile(100) != 10 {
				t.Fatalf("%s, %s: %v, %+v", c.backend, c.answers, err, sums[0])
			}
			inputs = append(inputs, sums[0].TotalInput)
		}
		if alone := 4 * 3 * (6 + 3); inputs[0] <= alone || inputs[1] != inputs[0] || inputs[2] != inputs[0] {
			t.Errorf("prompts of %d tokens, want as many, and more than %d", inputs, alone)
		}
		plan := onHandler(t)
		plan.Server.Backend, plan.Workload.Sessions.Answers = "openai-chat", Stored
		if _, err := plan.Run(t.Context(), nil); err == nil {
			t.Error("a chat's server keeps no answers")
		}
	})
}
