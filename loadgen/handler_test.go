package loadgen

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/tokenizer"
	"github.com/servebench/servebench/loadgen/sim"
	"github.com/servebench/servebench/loadgen/sim/speed"
)

// onHandler is a plan of four requests of three tokens, two at a time, on a server in
// memory whose steps take 10 ms.
func onHandler(t *testing.T) *Plan {
	t.Helper()
	server, err := sim.New(sim.Config{Tokenizer: tokenizer.Stub{Size: 32000}, Cost: speed.Cost{Base: 10 * time.Millisecond}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	two := 2
	return &Plan{
		Server:   Server{Handler: server, Tokenizer: "stub-32000"},
		Workload: Workload{NumPrompts: 4, Random: dataset.Random{InputLen: 20, OutputLen: 3}},
		Traffic:  Traffic{MaxConcurrency: &two},
	}
}

func TestARunOnAHandlerTakesWhatTheHandlerDoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plan := onHandler(t)
		plan.Traffic.Warmups, plan.Traffic.ReadyCheck = 3, time.Minute
		plan.Targets = []*Plan{onHandler(t), onHandler(t)}
		plan.Targets[0].Target, plan.Targets[1].Target = "a", "b"
		sums, err := plan.Run(t.Context(), nil)
		if err != nil || len(sums) != 2 {
			t.Fatal(err, len(sums))
		}
		for _, s := range sums {
			if s.Completed != 4 || s.TTFT.Mean() != 10 || s.E2EL.Percentile(100) != 30 || s.Evidence != nil || s.Trust == nil {
				t.Errorf("%s: %d completed, TTFT %v ms, E2EL %v ms, evidence %v, trust %v",
					s.Header.Target, s.Completed, s.TTFT.Mean(), s.E2EL.Percentile(100), s.Evidence, s.Trust)
			}
		}
	})
}

func TestASourceOfTheCallersIsSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		read := 0
		give := func(n int, err error) dataset.Source {
			return func(yield func(*dataset.Conversation, error) bool) {
				for range n {
					read++
					if !yield(&dataset.Conversation{Turns: []dataset.Turn{{Prompt: "one two", OutputLen: 3}}}, nil) {
						return
					}
				}
				if err != nil {
					yield(nil, err)
				}
			}
		}
		plan := onHandler(t)
		plan.Workload.Source = give(4, nil)
		if sums, err := plan.Run(t.Context(), nil); err != nil || sums[0].Completed != 4 || sums[0].Ending.Incomplete != nil || read != 4 {
			t.Errorf("%+v, %v, read %d times", sums, err, read)
		}
		plan.Workload.Source = give(3, nil)
		sums, err := plan.Run(t.Context(), nil)
		if want := "4 requests were asked for, and the Source ended after 3"; err != nil || strings.Join(sums[0].Ending.Incomplete, "; ") != want {
			t.Errorf("%+v, %v, want %s", sums, err, want)
		}
		bad := errors.New("line 3 is bad")
		plan.Workload.Source = give(2, bad)
		if _, err := plan.Run(t.Context(), nil); !errors.Is(err, bad) {
			t.Errorf("%v, want %v", err, bad)
		}
		plan.Workload.NumPrompts = 0
		if _, err := plan.Run(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "a Source needs at least 1") {
			t.Errorf("without a number: %v", err)
		}
	})
}
