package loadgen_test

import (
	"context"
	"fmt"
	"io"
	"math"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/loadgen/arrivals"
	"github.com/servebench/servebench/loadgen/sim"
	"github.com/servebench/servebench/loadgen/sim/faults"
	"github.com/servebench/servebench/loadgen/sim/steps"
	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect"
	"github.com/servebench/servebench/metrics/evidence"
	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/trust"
	"github.com/servebench/servebench/metrics/verdict"
)

// judge sums a trial up and gives the verdict on it.
func (tr trial) judge(t *testing.T) *verdict.Trust {
	t.Helper()
	records, _, _, took := tr.run(t)
	var curve string
	if tr.arrivals.Curve != nil {
		curve, tr.arrivals.Rate = tr.arrivals.Curve.String(), math.Inf(1)
	}
	c := aspect.Collector(&metrics.Header{WarmUp: tr.warmUp, Config: metrics.Config{
		RateCurve: curve, Tokenizer: map[bool]string{true: "ours"}[tr.count != nil],
		Dataset: "random", NumPrompts: tr.num, RequestRate: tr.arrivals.Rate, Burstiness: tr.arrivals.Burstiness,
		MaxConcurrency: tr.limit, Metrics: []string{"ttft", "tpot", "itl"}, Percentiles: []float64{99},
	}})
	if tr.warmUp > 0 {
		took = 0
	}
	for _, rec := range records {
		if rec.Result.Class != record.OK {
			t.Fatalf("%s: %s", rec.ID, rec.Result.Error)
		}
		if rec.Phase == record.Main {
			took = max(took, rec.Times.End-tr.warmUp)
		}
		c.Add(rec)
	}
	s := c.Summary(took.Seconds())
	if s.Completed != tr.num {
		t.Errorf("%d requests were measured, want %d", s.Completed, tr.num)
	}
	s.Evidence = &evidence.Evidence{}
	trust.Judge(s)
	return s.Trust
}

// reasons are the names of the checks that a run did not pass.
func reasons(trust *verdict.Trust) (names []string) {
	for _, c := range trust.Checks {
		if !c.OK {
			names = append(names, fmt.Sprintf("%s (%s)", c.Name, c.Text))
		}
	}
	return names
}

func poisson(rate float64, seed int64) arrivals.Process {
	return arrivals.Process{Rate: rate, Burstiness: 1, Seed: seed}
}

func TestTwentyCleanRunsAreValid(t *testing.T) {
	if testing.Short() {
		t.Skip("twenty whole runs: in go test without -short")
	}
	atOnce := arrivals.Process{Rate: math.Inf(1), Burstiness: 1}
	varied := dataset.RangeRatio{Input: 0.5, Output: 0.5}
	speculative := sim.Config{Speculative: steps.Speculative{Tokens: 3, Acceptance: 0.7}}
	var clean []trial
	for seed := range int64(8) {
		clean = append(clean, trial{num: 120, in: 64, out: 16, ratio: varied, arrivals: poisson(float64(5*(seed+1)), seed)})
	}
	for _, limit := range []int{1, 4, 32} {
		clean = append(clean, trial{num: 100, in: 64, out: 16, ratio: varied, arrivals: atOnce, limit: limit})
		clean = append(clean, trial{num: 100, in: 64, out: 16, arrivals: atOnce, limit: limit, chat: true})
	}
	clean = append(clean,
		trial{num: 200, in: 64, out: 16, arrivals: atOnce},
		trial{num: 100, in: 200, out: 1, arrivals: poisson(20, 1)},
		trial{num: 100, in: 20, out: 1, chat: true, arrivals: poisson(20, 1)},
		trial{num: 100, in: 20, out: 2, chat: true, arrivals: poisson(20, 1)},
		trial{num: 100, in: 64, out: 32, arrivals: poisson(10, 1), server: sim.Config{Jitter: 0.3}},
		trial{num: 100, in: 64, out: 32, arrivals: poisson(10, 1), server: speculative},
	)
	if len(clean) != 20 {
		t.Fatalf("%d runs", len(clean))
	}
	for i, tr := range clean {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if trust := tr.judge(t); trust == nil || trust.Verdict != verdict.Valid {
					t.Errorf("%+v is %s: %q", tr, trust.Verdict, reasons(trust))
				}
			})
		})
	}
}

func TestRunBehindAWarmUpIsValid(t *testing.T) {
	curve, err := arrivals.ParseCurve("up-down:0,15,5")
	if err != nil {
		t.Fatal(err)
	}
	atOnce := arrivals.Process{Rate: math.Inf(1), Burstiness: 1}
	for name, tr := range map[string]trial{
		"closed loop": {num: 100, in: 64, out: 16, arrivals: atOnce, limit: 8, warmUp: 3 * time.Second},
		"chat":        {num: 100, in: 64, out: 16, arrivals: atOnce, limit: 3, chat: true, warmUp: time.Second},
		"Poisson":     {num: 100, in: 64, out: 64, arrivals: poisson(20, 1), warmUp: 3 * time.Second},
		"curve":       {num: 150, in: 64, out: 64, arrivals: arrivals.Process{Curve: curve, Burstiness: 1}, warmUp: 2 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if trust := tr.judge(t); trust == nil || trust.Verdict != verdict.Valid {
					t.Errorf("%+v is %s: %q", tr, trust.Verdict, reasons(trust))
				}
			})
		})
	}
}

func TestWhatSpoilsARunIsNamed(t *testing.T) {
	fault := func(misdeed string) faults.Plan {
		list, err := faults.Parse(misdeed)
		if err != nil {
			t.Fatal(err)
		}
		return faults.Plan{List: list}
	}
	for _, test := range []struct {
		name string
		want string // the name of the check that fails; empty for none
		trial
	}{
		{"a proxy that batches", "lumpy",
			trial{num: 100, in: 64, out: 100, arrivals: poisson(10, 1), through: batched(200 * time.Millisecond)}},
		{"a server that holds eight events back", "lumpy",
			trial{num: 100, in: 64, out: 64, arrivals: poisson(10, 1), server: sim.Config{Faults: fault("merge=16")}}},
		{"events cut anywhere", "",
			trial{num: 100, in: 64, out: 64, arrivals: poisson(10, 1), server: sim.Config{Faults: fault("split=3")}}},
		{"a rate that the concurrency limit does not let through", "rate",
			trial{num: 100, in: 64, out: 16, arrivals: poisson(100, 1), limit: 2}},
		{"a percentile of few requests", "",
			trial{num: 30, in: 64, out: 16, arrivals: poisson(10, 1)}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				trust := test.judge(t)
				failed := reasons(trust)
				switch {
				case test.want == "" && trust.Verdict != verdict.Valid:
					t.Errorf("%s: %q", trust.Verdict, failed)
				case test.want != "" && (trust.Verdict != verdict.Suspect || !strings.Contains(strings.Join(failed, "\n"), test.want)):
					t.Errorf("%s: %q does not name %s", trust.Verdict, failed, test.want)
				}
			})
		})
	}
}

// batched puts a proxy between that passes on what the server sends at fixed
// intervals only, as one does that waits for its buffer or for a delayed
// acknowledgement.
func batched(interval time.Duration) func(dialer) dialer {
	return func(dial dialer) dialer {
		return func(ctx context.Context, network, addr string) (net.Conn, error) {
			server, err := dial(ctx, network, addr)
			if err != nil {
				return nil, err
			}
			near, far := net.Pipe()
			go func() {
				io.Copy(server, far)
				server.Close()
			}()
			go func() {
				defer far.Close()
				passOn(far, server, interval)
			}()
			return near, nil
		}
	}
}

// passOn copies from r to w, all that has come by each tick.
func passOn(w io.Writer, r io.Reader, interval time.Duration) {
	var mu sync.Mutex
	var held []byte
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		buf := make([]byte, 64<<10)
		for {
			n, err := r.Read(buf)
			mu.Lock()
			held = append(held, buf[:n]...)
			mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ended:
			return
		case <-ticker.C:
		}
		mu.Lock()
		due := held
		held = nil
		mu.Unlock()
		if len(due) > 0 {
			if _, err := w.Write(due); err != nil {
				return
			}
		}
	}
}
