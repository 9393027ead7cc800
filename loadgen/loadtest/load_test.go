package loadtest

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/tokenizer"
	"github.com/servebench/servebench/loadgen/sim"
	"github.com/servebench/servebench/loadgen/sim/faults"
	"github.com/servebench/servebench/loadgen/sim/speed"
	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect"
	"github.com/servebench/servebench/metrics/aspect/pace"
	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/trust"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// A recorder is a test that takes down how it went.
type recorder struct {
	testing.TB
	ctx                 context.Context
	errors, logs, fatal string
}

func (r *recorder) Helper()                           {}
func (r *recorder) Context() context.Context          { return r.ctx }
func (r *recorder) Errorf(format string, args ...any) { r.errors += fmt.Sprintf(format, args...) }
func (r *recorder) Logf(format string, args ...any)   { r.logs += fmt.Sprintf(format, args...) }
func (r *recorder) Fatalf(format string, args ...any) {
	r.fatal += fmt.Sprintf(format, args...)
	panic(r)
}

// steady is a server whose steps take 10 ms, whatever is in them.
func steady(t *testing.T, misdeeds string) *sim.Server {
	t.Helper()
	f, err := faults.Parse(misdeeds)
	if err != nil {
		t.Fatal(err)
	}
	server, err := sim.New(sim.Config{Tokenizer: tokenizer.Stub{Size: vocabulary}, Cost: speed.Cost{Base: 10 * time.Millisecond}, Faults: faults.Plan{List: f}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	return server
}

// four requests of three tokens, two at a time.
func four(h http.Handler) *Load {
	return &Load{Handler: h, Requests: 4, Concurrency: 2, InputLen: 20, OutputLen: 3, IgnoreEOS: true}
}

// twenty has as many requests as a gate on a median takes.
func twenty(h http.Handler) *Load {
	load := four(h)
	load.Requests = 20
	return load
}

func TestALoadOnAHandlerTakesWhatTheHandlerDoes(t *testing.T) {
	for _, chat := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			load := four(steady(t, ""))
			load.Chat = chat
			exactly := Latency{Mean: 10 * time.Millisecond, Max: 10 * time.Millisecond}
			s := load.Test(t, SLO{TTFT: exactly, TTFO: exactly, TPOT: exactly, E2EL: Latency{Max: 30 * time.Millisecond}, Requests: 4 / 0.06, Throughput: 12 / 0.06})
			if s.Completed != 4 || s.When.Seconds != 0.06 || s.TTFT.Mean() != 10 || s.E2EL.Median() != 30 || s.Header.Config.Model != "stub-32000" {
				t.Errorf("chat %t: %d completed in %v s, TTFT %v, E2EL %v, model %s", chat, s.Completed, s.When.Seconds, s.TTFT.Mean(), s.E2EL.Median(), s.Header.Config.Model)
			}
		})
	}
}

func TestALoadOnAHandlerIsPacedInFakeTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		load := four(steady(t, ""))
		load.Rate, load.Concurrency = 0.01, 0
		s := load.Test(t, SLO{TTFT: Latency{Max: 10 * time.Millisecond}})
		if pace := pace.Of(s); pace.Requests != 4 || pace.Due < 10*time.Second || pace.Sent != pace.Due || s.Client.Lag.Percentile(100) != 0 {
			t.Errorf("%+v, lag %v ms", pace, s.Client.Lag.Percentile(100))
		}
	})
}

func TestABrokenSLOFailsTheTestWithReasonsAndBlock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &recorder{ctx: t.Context()}
		four(steady(t, "")).Test(r, SLO{
			TTFT: Latency{Mean: 9 * time.Millisecond, Median: 10 * time.Millisecond}, TPOT: Latency{P99: 2500 * time.Microsecond},
			E2EL: Latency{P90: 30 * time.Millisecond, Max: 25 * time.Millisecond}, Requests: 66.7, Throughput: 200.1,
		})
		golden(t, "testdata/broken.txt", r.errors)
	})
}

// golden compares with a file, or rewrites it.
func golden(t *testing.T, name, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s:\n%s", name, diff)
	}
}

func TestARunWithoutAnswersHoldsNoSLO(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, row := range []struct {
			faults string
			slo    SLO
			want   string
		}{
			{"status=500", SLO{}, "4 of 4 requests failed, 0 may: "},
			{"status=500", SLO{Failed: 4}, "no request completed"},
			{"", SLO{}, ""},
		} {
			r := &recorder{ctx: t.Context()}
			four(steady(t, row.faults)).Test(r, row.slo)
			if !strings.Contains(r.errors, row.want) || (r.errors == "") != (row.want == "") {
				t.Errorf("%s, %+v: %q", row.faults, row.slo, r.errors)
			}
		}
	})
}

func TestWhatIsNotKnownHoldsNoLimit(t *testing.T) {
	one := &record.Record{Tokens: record.Tokens{Out: 1}, Times: record.Times{Last: time.Second, End: time.Second}}
	one.Answer.Chunks.Append(time.Second)
	c := aspect.Collector(&metrics.Header{})
	c.Add(one)
	for name, row := range map[string]struct {
		slo  SLO
		s    func(*metrics.Summary)
		want string
	}{
		"no TTFO":       {SLO{TTFO: Latency{Mean: time.Hour}}, func(s *metrics.Summary) { s.Truth = nil }, "the mean TTFO is not known: no request has one"},
		"no TPOT":       {SLO{TPOT: Latency{Mean: time.Hour}}, nil, "the mean TPOT is not known: no request has one"},
		"no tokens":     {SLO{}, func(s *metrics.Summary) { s.Totals.Output = 0 }, "no answer had a token"},
		"cut short":     {SLO{}, func(s *metrics.Summary) { s.Ending.Interrupted = true }, "the run was cut short"},
		"failed":        {SLO{}, func(s *metrics.Summary) { s.Failed = 1 }, "1 of 2 requests failed, 0 may: how is not known"},
		"may fail":      {SLO{Failed: 1}, func(s *metrics.Summary) { s.Failed = 1 }, ""},
		"no throughput": {SLO{Requests: 1}, func(s *metrics.Summary) { s.Rates.Requests = 0.5 }, "0.50 requests a second, below 1.00"},
		"not a number":  {SLO{Throughput: math.NaN()}, nil, "1.00 output tokens a second, below NaN"},
		"all is well":   {SLO{TTFT: Latency{Max: time.Second}}, nil, ""},
	} {
		s := c.Summary(1)
		if row.s != nil {
			row.s(s)
		}
		if got := strings.Join(row.slo.Broken(s), "; "); got != row.want {
			t.Errorf("%s: %q, want %q", name, got, row.want)
		}
	}
}

// A percentile that few values keep within its limit says nothing of more.
func TestAPercentileOfTooFewValuesHoldsNoLimit(t *testing.T) {
	for _, row := range []struct {
		values int
		limit  Latency
		want   string
	}{
		{999, Latency{P99: time.Second}, "the P99 TTFT is of 999 values and needs 1000: send more requests, or ask for Mean or Max"},
		{999, Latency{P99: time.Microsecond}, "the P99 TTFT is 1.00 ms, above 0.00 ms"},
		{1000, Latency{P99: time.Second}, ""},
		{99, Latency{P90: time.Second}, "the P90 TTFT is of 99 values and needs 100: send more requests, or ask for Mean or Max"},
		{100, Latency{P90: time.Second, Median: time.Second}, ""},
		{19, Latency{Median: time.Second}, "the median TTFT is of 19 values and needs 20: send more requests, or ask for Mean or Max"},
		{1, Latency{Mean: time.Second, Max: time.Second}, ""},
	} {
		s := &metrics.Summary{Completed: row.values, Totals: metrics.Totals{Output: 1}}
		for range row.values {
			s.TTFT.Add(0.001)
		}
		if got := strings.Join(SLO{TTFT: row.limit}.Broken(s), "; "); got != row.want {
			t.Errorf("%d values, %+v: %q, want %q", row.values, row.limit, got, row.want)
		}
	}
}

// Latencies of a server that does not keep up are longer, the longer the load goes on;
// its throughput is what it can do.
func TestAServerThatDoesNotKeepUpHoldsNoLatency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		load := four(oneByOne(steady(t, "")))
		load.Requests, load.Rate, load.Concurrency = 200, 66, 0 // it does 33
		s, err := load.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		slow := SLO{TTFT: Latency{Mean: time.Hour}, Requests: 1}.Broken(s)
		if len(slow) != 1 || !strings.HasPrefix(slow[0], "the backlog grew by ") {
			t.Errorf("%q", slow)
		}
		if fine := (SLO{Requests: 30}).Broken(s); fine != nil {
			t.Errorf("%q", fine)
		}
	})
}

// oneByOne has a server answer one request after the other.
func oneByOne(h http.Handler) http.HandlerFunc {
	slot := make(chan struct{}, 1)
	return func(w http.ResponseWriter, r *http.Request) {
		slot <- struct{}{}
		defer func() { <-slot }()
		h.ServeHTTP(w, r)
	}
}

func TestASourceThatEndsEarlyHoldsNoSLO(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		load := four(steady(t, ""))
		load.Source = func(yield func(*dataset.Conversation, error) bool) {
			yield(&dataset.Conversation{Turns: make([]dataset.Turn, 2)}, nil)
		}
		r := &recorder{ctx: t.Context()}
		load.Test(r, SLO{})
		if want := "- 4 requests were asked for, and the Source ended after 1\n"; !strings.Contains(r.errors, want) {
			t.Errorf("%q, want %q", r.errors, want)
		}
		if runs, err := load.Repeat(t.Context(), 1); err != nil || !strings.Contains(strings.Join(runs[0].Gaps, "; "), "the Source ended after 1") {
			t.Errorf("%+v, %v", runs, err)
		}
	})
}

func TestNumbersThatCannotBeBelievedAreLogged(t *testing.T) {
	c := aspect.Collector(&metrics.Header{})
	for range 10 {
		late := &record.Record{Times: record.Times{Sent: time.Hour, Last: time.Hour + time.Second, End: time.Hour + time.Second}, Tokens: record.Tokens{Out: 1}}
		late.Answer.Chunks.Append(late.Times.Last)
		c.Add(late)
	}
	s := c.Summary(1)
	trust.Judge(s)
	r := &recorder{}
	SLO{}.Assert(r, s)
	if !strings.HasPrefix(r.logs, "the SLO holds, but SUSPECT: ") || r.errors != "" {
		t.Errorf("logged %q, failed with %q", r.logs, r.errors)
	}
}

func TestAServerIsReachedByItsURL(t *testing.T) {
	web := httptest.NewServer(steady(t, ""))
	defer web.Close()
	load := &Load{URL: web.URL + "/", Requests: 6, Rate: 1000, InputLen: 20, OutputLen: 3, IgnoreEOS: true, Header: http.Header{"X-Key": {"k"}}}
	s, err := load.Run(t.Context())
	if err != nil || s.Completed != 6 || s.Totals.Output != 18 || s.Evidence == nil || s.Trust == nil || s.Header.Config.RequestRate != 1000 {
		t.Fatalf("%v, %+v", err, s)
	}
}

func TestALoadThatCannotBeIsAnError(t *testing.T) {
	server := steady(t, "")
	none := http.NotFoundHandler()
	bad := errors.New("line 3 is bad")
	broken := func(yield func(*dataset.Conversation, error) bool) { yield(nil, bad) }
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, row := range []struct {
		ctx  context.Context
		load Load
		want string
	}{
		{t.Context(), Load{Requests: 1, InputLen: 1, OutputLen: 1}, "a load needs a URL or a Handler, and not both"},
		{t.Context(), Load{URL: "http://x", Handler: server, Requests: 1, InputLen: 1, OutputLen: 1}, "and not both"},
		{t.Context(), Load{Handler: server, InputLen: 1, OutputLen: 1}, "requests 0: there must be at least 1"},
		{t.Context(), Load{Handler: server, Requests: 1}, "without a Source both must be at least 1"},
		{t.Context(), Load{Handler: server, Requests: 1, InputLen: 1, OutputLen: 1, Rate: -1}, "rate -1, concurrency 0: neither may be below 0"},
		{t.Context(), Load{Handler: none, Requests: 1, InputLen: 1, OutputLen: 1}, "no Model was given and the server does not say which it has: "},
		{t.Context(), Load{Handler: server, Requests: 1, Source: broken}, "dataset: line 3 is bad"},
		{ended, Load{Handler: server, Model: "m", Requests: 1, InputLen: 1, OutputLen: 1}, "context canceled"},
	} {
		if s, err := row.load.Run(row.ctx); err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%+v: %v, %v", row.load, s, err)
		}
	}
	r := &recorder{ctx: t.Context()}
	defer func() {
		if recover() != r || !strings.HasPrefix(r.fatal, "the load did not run: requests 0") {
			t.Errorf("Test ended with %q", r.fatal)
		}
	}()
	(&Load{Handler: server}).Test(r, SLO{})
}
