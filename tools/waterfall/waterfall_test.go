package main

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/tokenizer"
	"github.com/servebench/servebench/loadgen"
	"github.com/servebench/servebench/loadgen/sim"
	"github.com/servebench/servebench/loadgen/sim/spans"
	"github.com/servebench/servebench/loadgen/spool"
)

// sent sends 40 requests in fake time, and returns the records and the simulator's log as files.
func sent(t *testing.T) (records, log bytes.Buffer) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		truths := spans.NewLog(&log)
		server, err := sim.New(sim.Config{Tokenizer: tokenizer.Stub{Size: 32000}, FrontEnd: 2 * time.Millisecond, Log: truths.Add,
			Answers: sim.Answers{Timings: true}, Limits: sim.Limits{NumSeqs: 2}})
		if err != nil {
			t.Fatal(err)
		}
		defer server.Close()
		keep := spool.To(&records)
		slots := 4
		plan := loadgen.Plan{
			Server:   loadgen.Server{Handler: server, Tokenizer: "stub-32000"},
			Workload: loadgen.Workload{NumPrompts: 40, Random: dataset.Random{Options: dataset.Options{IDPrefix: "r-"}, InputLen: 20, OutputLen: 3}},
			Traffic:  loadgen.Traffic{MaxConcurrency: &slots},
			Keep:     loadgen.Keep{Records: keep},
		}
		if _, err := plan.Run(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		if err := keep.Close(spool.Waiting{}); err != nil {
			t.Fatal(err)
		}
	})
	return records, log
}

func TestSpansAreExactInFakeTime(t *testing.T) {
	records, log := sent(t)
	all, err := errorsOf(&records, &log)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		if e.requests != 40 || e.at(50) != 0 || e.at(100) > 1e-6 || e.mean <= 0 {
			t.Errorf("%v of %d requests: off by up to %v ms, mean %v ms", e.span, e.requests, e.at(100), e.mean)
		}
	}
}

func TestErrorsAreOfTheSpanThatIsOff(t *testing.T) {
	records, log := sent(t)
	lines := strings.SplitAfter(log.String(), "\n")
	lines[7] = strings.Replace(lines[7], `"front_end":2,`, `"front_end":1.5,`, 1)
	all, err := errorsOf(&records, strings.NewReader(strings.Join(lines, "")))
	if err != nil {
		t.Fatal(err)
	}
	e := worst(all, 100)
	if e.span.String() != "network" || e.at(100) != 0.5 || e.at(97.5) > 1e-6 || worst(all, 97).at(97) > 1e-6 {
		t.Errorf("the worst span is %v, off by %v ms", e.span, e.off)
	}
}

func TestEachRequestMustBeInTheLog(t *testing.T) {
	records, log := sent(t)
	_, rest, _ := strings.Cut(log.String(), "\n")
	if _, err := errorsOf(&records, strings.NewReader(rest)); err == nil || !strings.Contains(err.Error(), "in the log false") {
		t.Errorf("%v, want a request that is not in the log", err)
	}
	if _, err := errorsOf(strings.NewReader(""), &log); err == nil {
		t.Error("a stream without requests is compared")
	}
}
