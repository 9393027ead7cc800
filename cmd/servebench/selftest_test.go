package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/servebench/servebench/cmd/servebench/internal/version"
	"github.com/servebench/servebench/loadgen/selftest"
)

func TestSelftestMeasuresARealServer(t *testing.T) {
	var out bytes.Buffer
	s := selftestCommand{streams: []int{8, 3, 8}, duration: 100 * time.Millisecond, chosen: true, json: true, noStore: true, out: &out, talk: io.Discard}
	if err := s.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	var r selftest.Result
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Rows) != 2 || len(r.Left) != 0 || r.Verdict == "" || r.Cores < 1 {
		t.Fatalf("got %s", out.Bytes())
	}
	for i, n := range []int{3, 8} {
		row := r.Rows[i]
		const tokens = 6 // in 125 ms, every 20 ms
		if row.Streams != n || row.StepMS != 20 || row.Events != int64(n*tokens) || row.TTFT.Samples != n || row.Failed != 0 || row.Beyond != 0 {
			t.Errorf("got %+v", row)
		}
		if row.Stamp.Samples == 0 || row.Stamp.Samples != row.ITL.Samples || row.Stamp.P50 > row.Stamp.Max {
			t.Errorf("stamp error %+v, ITL error %+v", row.Stamp, row.ITL)
		}
	}
}

func TestSelftestLeavesOutWhatTheMachineCannotHold(t *testing.T) {
	const many = 1 << 30
	if selftest.Steps(many, time.Second).Check() == nil {
		t.Skip("this system does not tell")
	}
	var out bytes.Buffer
	s := selftestCommand{streams: []int{3, many}, duration: 40 * time.Millisecond, chosen: true, noStore: true, out: &out, talk: io.Discard}
	if err := s.run(t.Context()); err != nil || !strings.Contains(out.String(), "\nLeft out: 1073741824 per ") || !strings.Contains(out.String(), "\n3 per 20 ms") {
		t.Errorf("%v:\n%s", err, out.String())
	}
	s.streams = []int{many}
	exit, ok := errors.AsType[exitError](s.run(t.Context()))
	if !ok || exit.code != exitNo || !strings.HasPrefix(exit.Error(), "nothing can be measured: 1073741824 per ") {
		t.Errorf("ended with %v, code %d", exit.error, exit.code)
	}
}

func TestSelftestEndsWhenInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := selftestCommand{streams: []int{4}, duration: time.Hour, chosen: true, noStore: true, out: io.Discard, talk: cancelling{cancel}}
	exit, ok := errors.AsType[exitError](s.run(ctx))
	if !ok || exit.code != exitInterrupted {
		t.Errorf("ended with %v, code %d", exit.error, exit.code)
	}
}

// A cancelling writer cancels at the first word.
type cancelling struct{ cancel context.CancelFunc }

func (c cancelling) Write(p []byte) (int, error) {
	c.cancel()
	return len(p), nil
}

func TestSelftestRefusesBadFlags(t *testing.T) {
	for _, row := range []struct{ args, says string }{
		{"--streams 0", "--streams"},
		{"--streams 64,-1", "--streams"},
		{"--stream some", "argument --streams: invalid int value: 'some'"},
		{"--strams 64", "unknown flag --strams: did you mean --streams?"},
		{"--duration 0s", "--duration"},
		{"--quick=yes", "argument --quick: ignored explicit argument 'yes'"},
		{"argument", "unrecognized arguments: argument: this command takes flags alone"},
	} {
		cmd := newSelftestCommand()
		cmd.SetArgs(strings.Fields(row.args))
		cmd.SetOut(io.Discard)
		cmd.SetErr(io.Discard)
		if err := cmd.ExecuteContext(t.Context()); err == nil || !strings.Contains(err.Error(), row.says) {
			t.Errorf("%s: %v", row.args, err)
		}
	}
}

func TestQuickSelftestHasFewerAndShorterRows(t *testing.T) {
	s := selftestCommand{streams: []int{64, 256, 1024, 2048, 4096}, duration: 4 * time.Second, quick: true}
	if err := s.settle(); err != nil {
		t.Fatal(err)
	}
	loads, err := s.loads()
	if err != nil {
		t.Fatal(err)
	}
	together := time.Duration(0)
	var names []string
	for _, l := range loads {
		names = append(names, l.Name)
		together += l.Lasts()
	}
	want := []string{"64 per 20 ms", "256 per 20 ms", "1024 per 25 ms", "1024 at once", "1024 Poisson"}
	if !slices.Equal(names, want) || together > 25*time.Second {
		t.Errorf("%q in %v", names, together)
	}
}

func TestEachKeyOfSelftestIsInItsHelp(t *testing.T) {
	text, err := json.Marshal(selftest.Result{Rows: []selftest.Row{{Failure: "said when there is one"}}})
	if err != nil {
		t.Fatal(err)
	}
	var object any
	if err := json.Unmarshal(text, &object); err != nil {
		t.Fatal(err)
	}
	// Those of void_above repeat those of a row.
	var look func(v any)
	look = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for key, under := range v {
				if !strings.Contains(selftest.Explanation, key) {
					t.Errorf("%s is not in the help", key)
				}
				look(under)
			}
		case []any:
			for _, under := range v {
				look(under)
			}
		}
	}
	look(object)
}

func TestAnInterruptedSelftestShowsWhatItHas(t *testing.T) {
	var out bytes.Buffer
	s := selftestCommand{out: &out, talk: io.Discard}
	result := selftest.NewResult(version.Number())
	result.Rows = []selftest.Row{{Name: "64 per 20 ms", Load: "steps", Streams: 64}}
	err := s.end(result, context.Canceled, true)
	if exit, ok := errors.AsType[exitError](err); !ok || exit.code != exitInterrupted || !strings.Contains(out.String(), "64 per 20 ms") {
		t.Errorf("%v after\n%s", err, out.String())
	}
}
