package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/servebench/servebench/cmd/servebench/internal/version"
	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect"
	"github.com/servebench/servebench/metrics/evidence"
	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/stream"
)

// A queued is a recorded run on a server that answers one request after the other, in
// order and each in 40 ms, of requests that are due at equal distances for 10 s.
type queued struct {
	rate    int // requests a second
	slots   int // of --max-concurrency; 0 for no limit
	shards  int // among which they are dealt out; 0 for one
	failing int // each so many-th fails; 0 for none
	config  metrics.Config
}

// write writes the run's stream, and gives its summary.
func (q queued) write(t *testing.T, w io.Writer, run string) {
	t.Helper()
	q.config.Model, q.config.Backend, q.config.Dataset = "m", "openai", "random"
	q.config.RequestRate, q.config.Burstiness, q.config.MaxConcurrency = float64(q.rate), 1, q.slots
	q.config.NumPrompts, q.config.Metrics, q.config.Percentiles = 10*q.rate, []string{"ttft", "tpot", "itl"}, []float64{99}
	shards := max(q.shards, 1)
	records := q.records()
	for shard := range shards {
		h := &metrics.Header{
			Run: run, Shard: shard, Shards: q.shards, Epoch: time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC),
			Version: version.Number(), Config: q.config,
		}
		sw, c := stream.NewWriter(w), aspect.Collector(h)
		err := sw.Begin(h)
		took := time.Duration(0)
		for i, r := range records {
			if i%shards != shard {
				continue
			}
			r.Run = run
			err = errors.Join(err, sw.Write(r))
			c.Add(r)
			took = max(took, r.Times.End)
		}
		s := c.Summary(took.Seconds())
		s.Evidence = &evidence.Evidence{}
		if err = errors.Join(err, sw.End(s)); err != nil {
			t.Fatal(err)
		}
	}
}

func (q queued) records() (records []*record.Record) {
	const takes = 40 * time.Millisecond
	var ends []time.Duration
	free := time.Duration(0)
	for i := range 10 * q.rate {
		r := &record.Record{Index: i, Times: record.Times{Due: time.Duration(i) * time.Second / time.Duration(q.rate)}, Tokens: record.Tokens{In: 8, Out: 2}, Result: record.Result{Status: 200}}
		r.Times.Slot = r.Times.Due
		if q.slots > 0 && i >= q.slots {
			r.Times.Slot = max(r.Times.Due, ends[i-q.slots])
		}
		r.Times.Sent, r.Times.Wrote = r.Times.Slot, r.Times.Slot
		free = max(free, r.Times.Sent) + takes
		r.Answer.Chunks.Append(free - takes/2)
		r.Answer.Chunks.Append(free)
		r.Times.FirstByte, r.Times.FirstContent, r.Times.Last, r.Times.End = free-takes/2, free-takes/2, free, free
		if q.failing > 0 && i%q.failing == 0 {
			r.Result.Class, r.Result.Error, r.Result.Status = record.Status, "busy", 503
		}
		ends = append(ends, r.Times.End)
		records = append(records, r)
	}
	return records
}

// file is a file with the stream of a run.
func (q queued) file(t *testing.T, run string) string {
	t.Helper()
	var text bytes.Buffer
	q.write(t, &text, run)
	name := filepath.Join(t.TempDir(), run+".jsonl")
	if err := os.WriteFile(name, text.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	return name
}

// carryOut runs a command and gives all that it says, and its exit code.
func carryOut(cmd *cobra.Command, args ...string) (said string, code int) {
	var text strings.Builder
	cmd.SetArgs(args)
	cmd.SetOut(&text)
	cmd.SetErr(&text)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	if err := cmd.Execute(); err != nil {
		code = exitMisuse
		if exit, ok := errors.AsType[exitError](err); ok {
			code = exit.code
		}
		fmt.Fprintln(&text, err)
	}
	return text.String(), code
}

const overloadedLine = "\nOVERLOADED: the backlog grew by 15 requests a second; these latencies depend on how long the run was → lower the rate, or use a faster server\n"

const slotsFullLine = "\nOVERLOADED: --max-concurrency 3 held requests back: the backlog grew by 15 requests a second; latencies from when a request was due depend on how long the run was → raise --max-concurrency, or lower the rate\n"

// A server that does 25 requests a second is asked for 40.
func TestRecordedRunIsOverloaded(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second: in go test without -short")
	}
	for name, q := range map[string]queued{
		"alone": {rate: 40}, "behind slots": {rate: 40, slots: 3}, "four shards": {rate: 40, shards: 4},
		"four shards behind slots": {rate: 40, shards: 4, slots: 3},
	} {
		t.Run(name, func(t *testing.T) {
			file, line := q.file(t, "one"), overloadedLine
			if q.slots > 0 {
				line = slotsFullLine
			}
			if said, code := carryOut(newReportCommand(), file); code != 0 || !strings.Contains(said, line) {
				t.Errorf("exit code %d\n%s", code, said)
			}
			if said, code := carryOut(newReportCommand(), "--strict", file); code != exitNoVerdict || !strings.Contains(said, "--strict: the server is OVERLOADED") {
				t.Errorf("--strict: exit code %d\n%s", code, said)
			}
			result, code := carryOut(newReportCommand(), "--format", "json", file)
			if code != 0 || !strings.Contains(result, `"verdict": "OVERLOADED"`) {
				t.Errorf("exit code %d\n%s", code, result)
			}
			// The result file keeps the verdict.
			name := filepath.Join(t.TempDir(), "result.json")
			object, _, _ := strings.Cut(result[strings.Index(result, "{"):], "\n")
			if err := os.WriteFile(name, []byte(object), 0o666); err != nil {
				t.Fatal(err)
			}
			if said, code := carryOut(newReportCommand(), "--strict", name); code != exitNoVerdict || !strings.Contains(said, "is OVERLOADED") {
				t.Errorf("of the result file: exit code %d\n%s", code, said)
			}
		})
	}
}

// At 20 requests a second it keeps up; at 40 with failures the run is SUSPECT, and says
// both; and of a closed loop, a ramp, a curve and a trace nothing is said.
func TestRecordedRunIsNotOverloaded(t *testing.T) {
	for name, test := range map[string]struct {
		queued
		want string
	}{
		"keeps up":     {queued{rate: 20}, "\nVALID: "},
		"and failures": {queued{rate: 40, failing: 5}, "\nSUSPECT:    80 of 400 requests failed: the latencies leave these out (limit 5.00 %) → read the errors\nOVERLOADED: the backlog grew by 15 requests a second"},
		"ramp":         {queued{rate: 40, config: metrics.Config{RampUp: &metrics.RampUp{Strategy: "linear", Start: 1, End: 79}}}, "\nVALID: "},
		"curve":        {queued{rate: 40, config: metrics.Config{RateCurve: "up-down:0,80,10"}}, "\nVALID: "},
		"trace":        {queued{rate: 40, config: metrics.Config{SelfTimed: true}}, "\nVALID: "},
	} {
		if said, code := carryOut(newReportCommand(), test.file(t, "one")); code != 0 || !strings.Contains(said, test.want) {
			t.Errorf("%s: exit code %d\n%s", name, code, said)
		}
	}
}

// A page and a table mark the run, and a comparison takes it for worse.
func TestOverloadedRunBesideAnother(t *testing.T) {
	sound, over := queued{rate: 20}.file(t, "sound"), queued{rate: 40}.file(t, "over")
	page := filepath.Join(t.TempDir(), "page.html")
	if said, code := carryOut(newReportCommand(), "--html", page, sound, over); code != 0 {
		t.Fatal(code, said)
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`<strong class="badge open">OVERLOADED</strong>`, "1 of 2 runs, for: backlog (1)"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	said, code := carryOut(newCompareCommand(), "--despite", "request-rate", "--despite", "num-prompts", sound, "--", over)
	if code != exitNo || !strings.Contains(said, "REGRESSED\n- the new runs cannot hold the load any more: the backlog grew by 15 requests a second (1 of 1 of them)") {
		t.Errorf("exit code %d\n%s", code, said)
	}
	for format, want := range map[string]string{
		"github": "::error title=servebench REGRESSED::the new runs cannot hold the load any more", "junit": `<skipped message="no verdict on it">`,
		"json": `"unjudged": true`, "markdown": "## REGRESSED",
	} {
		if said, _ := carryOut(newCompareCommand(), "--format", format, "--despite", "request-rate", "--despite", "num-prompts", sound, "--", over); !strings.Contains(said, want) {
			t.Errorf("%s: no %s in\n%s", format, want, said)
		}
	}
}
