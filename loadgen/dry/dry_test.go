package dry_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/tokenizer"
	"github.com/servebench/servebench/loadgen"
	"github.com/servebench/servebench/loadgen/dry"
	"github.com/servebench/servebench/loadgen/sim"
	"github.com/servebench/servebench/loadgen/sim/speed"
	"github.com/servebench/servebench/loadgen/spool"
	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/stream"
)

// plan is a load of 40 requests at 50 a second on a server at a port.
func plan(port int) *loadgen.Plan {
	slots := 8
	p := &loadgen.Plan{Workload: loadgen.Workload{NumPrompts: 40, Random: dataset.Random{InputLen: 300, OutputLen: 20}}}
	p.Server.BaseURL, p.Traffic.RequestRate, p.Traffic.MaxConcurrency = fmt.Sprintf("http://127.0.0.1:%d", port), 50, &slots
	p.Server.Model, p.Sampling.IgnoreEOS = "stub-32000", true
	return p
}

func config(t *testing.T, profile string) sim.Config {
	t.Helper()
	p, err := speed.Open(profile)
	if err != nil {
		t.Fatal(err)
	}
	return sim.Config{Profile: p, Model: "stub-32000", Tokenizer: tokenizer.Stub{Size: 32000}}
}

// An hour of load takes no time, and the numbers are the ones that a client sees of such a server.
func TestADryRunIsWhatAClientSees(t *testing.T) {
	dried, err := dry.Run(t.Context(), plan(1), dry.Of(config(t, "kvcached-off"), []int{1}, nil))
	if err != nil || len(dried) != 1 {
		t.Fatal(err, len(dried))
	}
	synctest.Test(t, func(t *testing.T) {
		server, err := sim.New(config(t, "kvcached-off"))
		if err != nil {
			t.Fatal(err)
		}
		defer server.Close()
		p := plan(1)
		p.Server.Handler = server
		seen, err := p.Run(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range metrics.Metrics[:4] {
			a, b := m.Of(dried[0]), m.Of(seen[0])
			for _, pair := range [][2]float64{{a.Mean(), b.Mean()}, {a.Percentile(99), b.Percentile(99)}} {
				if a.Len() != b.Len() || math.Abs(pair[0]-pair[1]) > 0.001*pair[1] {
					t.Errorf("%s: %d values, %.4f ms; a client sees %d, %.4f", m.Name, a.Len(), pair[0], b.Len(), pair[1])
				}
			}
		}
		if a, b := dried[0], seen[0]; a.Totals.Input != b.Totals.Input || a.Totals.Output != b.Totals.Output || math.Abs(a.When.Seconds-b.When.Seconds) > 0.001 {
			t.Errorf("%d and %d tokens in %.4f s; a client sees %d and %d in %.4f", a.Totals.Input, a.Totals.Output, a.When.Seconds, b.Totals.Input, b.Totals.Output, b.When.Seconds)
		}
	})
}

// Two servers of one GPU slow each other down, and not when they are alone.
func TestServersOfOneGPUSlowEachOther(t *testing.T) {
	p := &loadgen.Plan{SoloFirst: true, Backward: true}
	for i, name := range []string{"a", "b"} {
		target := plan(i + 1)
		target.Target = name
		p.Targets = append(p.Targets, target)
	}
	p.Targets[1].Traffic.Delay = 100 * time.Millisecond
	name := filepath.Join(t.TempDir(), "records.jsonl")
	file, err := spool.Open(name, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	p.Keep.Records = file
	sums, err := dry.Run(t.Context(), p, dry.Of(config(t, "mps-two"), []int{1, 2}, nil))
	if err := errors.Join(err, file.Close(spool.Waiting{})); err != nil {
		t.Fatal(err)
	}
	of := map[string]*metrics.Summary{}
	var names []string
	for _, s := range sums {
		of[s.Header.TargetName()] = s
		names = append(names, s.Header.TargetName())
	}
	if want := []string{"a", "b", "b alone", "a alone"}; !slices.Equal(names, want) {
		t.Fatalf("%v, want %v", names, want)
	}
	for _, name := range []string{"a", "b"} {
		if shared, alone := of[name].TPOT.Mean(), of[name+" alone"].TPOT.Mean(); shared < 1.05*alone {
			t.Errorf("%s has %.2f ms with the other, %.2f alone", name, shared, alone)
		}
	}
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	again, err := stream.Read(bytes.NewReader(text), metrics.Ask{})
	if err != nil || len(again) != 4 {
		t.Fatal(err, len(again))
	}
	for i, s := range again {
		if s.Completed != 40 || !s.Header.Simulated() || s.Trust != nil || s.TTFT.Mean() != sums[i].TTFT.Mean() {
			t.Errorf("read back: %d completed, simulated %v, %v, TTFT %v ms, was %v", s.Completed, s.Header.Simulated(), s.Trust, s.TTFT.Mean(), sums[i].TTFT.Mean())
		}
	}
}

// Load tests have the order, the names and the seeds of a run that sends.
func TestADryRunHasTheLoadTestsOfARun(t *testing.T) {
	p := &loadgen.Plan{SoloFirst: true, Pairs: true}
	for i, name := range []string{"a", "b", "c", "d"} {
		target := plan(i + 1)
		target.Target = name
		p.Targets = append(p.Targets, target)
	}
	sums, err := dry.Run(t.Context(), p, dry.Of(config(t, "mps-two"), []int{1, 2, 3, 4}, nil))
	if err != nil {
		t.Fatal(err)
	}
	var names, sent []string
	for _, s := range sums {
		names = append(names, s.Header.TargetName())
		sent = append(sent, fmt.Sprint(s.Header.Config.Seed, s.Header.Config.Metadata))
	}
	want := []string{"a alone", "b alone", "c alone", "d alone", "a with b", "b with a", "a with c", "c with a", "a with d", "d with a",
		"b with c", "c with b", "b with d", "d with b", "c with d", "d with c", "a", "b", "c", "d"}
	if !slices.Equal(names, want) {
		t.Errorf("%v, want %v", names, want)
	}
	var asked []string
	for _, members := range p.Sequence(0) {
		for _, m := range members {
			simulated := append(slices.Clone(m.Plan.Report.Metadata), metrics.KV{Key: metrics.SimulatedKey, Value: "true"})
			asked = append(asked, fmt.Sprint(m.Plan.Workload.Seed, simulated))
		}
	}
	if !slices.Equal(sent, asked) || sent[0] == sent[4] || sent[0] == sent[16] {
		t.Errorf("seeds and metadata %v, want %v", sent, asked)
	}
}

// Servers that may use half of the SMs leave each other what they need, and are slower alone.
func TestSharesOfSMsHoldInADryRun(t *testing.T) {
	mean := func(sms []float64, shared bool) float64 {
		p := &loadgen.Plan{}
		for i, name := range []string{"a", "b"} {
			if shared || i == 0 {
				target := plan(i + 1)
				target.Target = name
				p.Targets = append(p.Targets, target)
			}
		}
		sums, err := dry.Run(t.Context(), p, dry.Of(config(t, "mps-solo"), []int{1, 2}, sms))
		if err != nil {
			t.Fatal(err)
		}
		return sums[0].TPOT.Mean()
	}
	whole, half := []float64{1, 1}, []float64{.5, .5}
	if alone, apart, together := mean(whole, false), mean(half, false), mean(half, true); apart < 1.2*alone || together > 1.01*apart {
		t.Errorf("%.2f ms with all SMs, %.2f ms with a half, %.2f ms next to the other half", alone, apart, together)
	}
}

func TestWhatIsNotSimulatedIsRefused(t *testing.T) {
	elsewhere := plan(2)
	timed := plan(1)
	timed.Traffic.WarmUp = time.Second
	for want, p := range map[string]*loadgen.Plan{"no simulated server of the arm listens there": elsewhere, "has a warm-up": timed} {
		if _, err := dry.Run(t.Context(), p, dry.Of(config(t, "kvcached-off"), []int{1}, nil)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
