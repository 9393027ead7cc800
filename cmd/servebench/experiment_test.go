package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/servebench/servebench/dataset/tokenizer"
	"github.com/servebench/servebench/loadgen"
	"github.com/servebench/servebench/loadgen/sim"
	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect"
	"github.com/servebench/servebench/metrics/record"
)

// watchedSim is a simulated server, whose requests see gets to see first.
func watchedSim(t *testing.T, see func(*http.Request)) (url string) {
	t.Helper()
	engine, err := sim.New(sim.Config{Tokenizer: tokenizer.Stub{Size: 32000}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(engine.Close)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		see(r)
		engine.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// An interrupt that comes when the load is over leaves that run whole. What should
// have followed was not done.
func TestInterruptBetweenRunsIsNoSuccess(t *testing.T) {
	for _, row := range []struct {
		repeats string
		code    int
	}{{"1", 0}, {"3", exitInterrupted}} {
		ctx, cancel := context.WithCancel(t.Context())
		answered := false
		url := watchedSim(t, func(r *http.Request) {
			answered = answered || r.URL.Path == "/v1/completions"
			if answered && r.URL.Path == "/metrics" { // they are looked at when the load is over
				cancel()
			}
		})
		o := mustParse(t, "--num-prompts 1 --random-input-len 4 --random-output-len 2 --repeat", row.repeats, "--base-url", url)
		e := newExperiment(o, io.Discard, io.Discard)
		err := e.run(ctx)
		exit, _ := errors.AsType[exitError](err)
		if exit.code != row.code || len(e.done) != 1 || e.done[0].Summary.Ending.Interrupted {
			t.Errorf("%s repeats: %d done, %v", row.repeats, len(e.done), err)
		}
	}
}

// The last request of a rate is due at the very end of its time.
func TestRunThatSentNothingIsNoSuccess(t *testing.T) {
	url := watchedSim(t, func(*http.Request) {})
	o := mustParse(t, "--request-rate 1 --duration 10ms --random-input-len 4 --random-output-len 2 --base-url", url)
	err := newExperiment(o, io.Discard, io.Discard).run(t.Context())
	if exit, ok := errors.AsType[exitError](err); !ok || exit.code != exitNo || !strings.Contains(err.Error(), "no request was sent") {
		t.Errorf("%v", err)
	}
}

func TestRepeatsKeepNothingThatTheyNeedNoMore(t *testing.T) {
	url := watchedSim(t, func(*http.Request) {})
	o := mustParse(t, "--num-prompts 3 --random-input-len 4 --random-output-len 2 --repeat 2 --save-detailed --slice 1m --result-dir", t.TempDir(),
		"--target", "a="+url, "b="+url)
	var out bytes.Buffer
	e := newExperiment(o, &out, io.Discard)
	if err := e.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, m := range e.done {
		if m.Summary.Kept.Trace != nil || m.Summary.Kept.Outcomes != nil || m.Summary.Parts.Slices != nil || m.Requests != 3 {
			t.Errorf("%s keeps what its %d requests did", m.Plan.Target, m.Requests)
		}
	}
	if strings.Count(out.String(), "All targets: ") != 2 {
		t.Errorf("printed:\n%s", out.String())
	}
}

func TestTargetsKnowWhatTheOthersHadInFlight(t *testing.T) {
	url := watchedSim(t, func(*http.Request) {})
	o := mustParse(t, "--num-prompts 9 --random-input-len 4 --random-output-len 2",
		"--target", "a="+url+",max-concurrency=1", "b="+url+",max-concurrency=2", "c="+url+",max-concurrency=3")
	e := newExperiment(o, io.Discard, io.Discard)
	if err := e.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	all := 0
	for _, m := range e.done {
		all += m.Summary.Truth.PeakConcurrency
	}
	for _, m := range e.done {
		if own, beside := m.Summary.Truth.PeakConcurrency, m.Summary.Evidence.OtherInFlight; own == 0 || own+beside != all {
			t.Errorf("%s: %d in flight, %d beside, %d together", m.Plan.Target, own, beside, all)
		}
	}
}

// Under the rule of v0.9.2 a run is not over before the gap after its last request is.
func TestDelayedTargetLastsAsLongAsItsRuleSays(t *testing.T) {
	url := watchedSim(t, func(*http.Request) {})
	o := mustParse(t, "--num-prompts 1 --random-input-len 4 --random-output-len 2 --arrival-rule 0.9.2 --request-rate 10 --burstiness inf",
		"--target", "a="+url+",delay=0.1")
	e := newExperiment(o, io.Discard, io.Discard)
	if err := e.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s := e.done[0]; s.Summary.When.Seconds < 0.1 {
		t.Errorf("it lasted %v s, want 0.1", s.Summary.When.Seconds)
	}
}

func TestStrictIsOfEachTarget(t *testing.T) {
	url := watchedSim(t, func(*http.Request) {})
	o := mustParse(t, "--num-prompts 20 --random-input-len 4 --random-output-len 2 --strict --request-rate 1000 --max-concurrency 1 --target a="+url)
	err := newExperiment(o, io.Discard, io.Discard).run(t.Context())
	if exit, ok := errors.AsType[exitError](err); !ok || exit.code != exitNoVerdict || !strings.HasPrefix(err.Error(), "target a: ") {
		t.Errorf("%v", err)
	}
}

// What targets did together is not known without their requests: then each has its block.
func TestTargetsWhoseRequestsWereDroppedAreNotCompared(t *testing.T) {
	for _, kept := range []bool{true, false} {
		var out bytes.Buffer
		e := newExperiment(mustParse(t, "--target a=http://h:1 b=http://h:2"), &out, io.Discard)
		for _, name := range []string{"a", "b"} {
			c := aspect.Collector(&metrics.Header{Group: "g", Target: name, Config: metrics.Config{Metrics: []string{"ttft"}}})
			c.Keep.Trace, c.Keep.Most = true, 1<<20
			if !kept {
				c.Keep.Most = 1
			}
			c.Add(&record.Record{Tokens: record.Tokens{Out: 1}, Times: record.Times{Sent: time.Second, Last: 2 * time.Second, End: 2 * time.Second}})
			e.done = append(e.done, &loadgen.Result{Summary: c.Summary(3)})
		}
		e.Event(loadgen.Event{Kind: loadgen.RepeatDone, Count: len(e.done)})
		blocks := strings.Count(out.String(), "Serving Benchmark Result")
		if e.unwritten != nil || strings.Contains(out.String(), "All targets") != kept || blocks != map[bool]int{true: 0, false: 2}[kept] {
			t.Errorf("kept: %v; %v, %s", kept, e.unwritten, &out)
		}
	}
}

// The files of targets that are alone have names of their own, which may be taken.
func TestFilesOfTargetsThatAreAloneAreCheckedBeforeTheLoad(t *testing.T) {
	asked := 0
	url := watchedSim(t, func(*http.Request) { asked++ })
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "x-a-alone.json"), 0o777); err != nil {
		t.Fatal(err)
	}
	o := mustParse(t, "--solo-first --repeat 1 --save-result --result-filename x.json --result-dir", dir, "--target", "a="+url, "b="+url)
	err := newExperiment(o, io.Discard, io.Discard).run(t.Context())
	if err == nil || !strings.HasSuffix(err.Error(), "x-a-alone.json is a folder") || asked > 0 {
		t.Errorf("%v after %d calls", err, asked)
	}
}

// A name that the file system does not take is named before the load, for each file of the run.
func TestNamesThatAreTooLongAreRefusedBeforeTheLoad(t *testing.T) {
	asked := 0
	url := watchedSim(t, func(*http.Request) { asked++ })
	for _, flags := range []string{
		"--save-result --label " + strings.Repeat("x", 240),
		"--plot-timeline --label " + strings.Repeat("x", 230),
		"--append-result --result-filename " + strings.Repeat("x", 260),
		"--save-result --plot-dataset-stats --result-filename " + strings.Repeat("x", 245) + ".json",
	} {
		o := mustParse(t, flags+" --result-dir", t.TempDir(), "--base-url", url)
		err := newExperiment(o, io.Discard, io.Discard).run(t.Context())
		if err == nil || !strings.Contains(err.Error(), "too long: give a shorter --label or --result-filename") || asked > 0 {
			t.Errorf("%s: %v after %d calls", flags, err, asked)
		}
	}
}

// A model's name that only the server knows makes the name of a file too long, and costs no result.
func TestANameThatGrowsTooLongLosesNoResult(t *testing.T) {
	url := watchedSim(t, func(*http.Request) {})
	dir := t.TempDir()
	o := mustParse(t, "--num-prompts 2 --random-input-len 2 --random-output-len 2 --disable-tqdm --save-result --plot-timeline --label", strings.Repeat("é", 108), "--result-dir", dir, "--base-url", url)
	if err := newExperiment(o, io.Discard, io.Discard).run(t.Context()); err != nil {
		t.Fatal(err)
	}
	found, err := filepath.Glob(filepath.Join(dir, strings.Repeat("é", 50)+"…*"))
	if err != nil || len(found) != 2 {
		t.Errorf("%q, %v", found, err)
	}
}
