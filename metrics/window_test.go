package metrics

import (
	"math"
	"testing"
	"time"

	"github.com/servebench/servebench/metrics/record"
)

// traced sums up a run of so many seconds, and keeps its Trace.
func traced(c Config, seconds float64, records ...*record.Record) *Summary {
	collector := NewCollector(&Header{Config: c})
	collector.Keep.Trace = true
	for _, r := range records {
		collector.Add(r)
	}
	return collector.Summary(seconds)
}

// refused is a request from when it is sent to when it fails, in milliseconds.
func refused(sent, end float64) *record.Record {
	at := func(ms float64) time.Duration { return time.Duration(ms * float64(msec)) }
	return &record.Record{Times: record.Times{Due: at(sent), Slot: at(sent), Sent: at(sent), End: at(end)}, Result: record.Result{Class: record.Status, Error: "no"}}
}

// sentAt is a request sent, due and given its slot at so many milliseconds, with
// one token a chunk.
func sentAt(sent float64, chunks ...float64) *record.Record {
	at := time.Duration(sent * float64(msec))
	return arrived(record.Record{Times: record.Times{Due: at, Slot: at, Sent: at}, Tokens: record.Tokens{In: 10, Out: len(chunks)}}, chunks...)
}

// edges are requests about a window from 1 to 2 s.
func edges() []*record.Record {
	warm := sentAt(1100, 1200, 1300)
	warm.Phase = record.WarmUp
	return []*record.Record{
		warm,
		sentAt(100, 500, 999),          // before
		sentAt(900, 1000, 1100),        // in at its start
		sentAt(1000, 1200, 1500),       // inside, from its very start
		sentAt(1400, 1600),             // inside, of one token
		sentAt(1600, 1700, 2000),       // inside, to its very end
		sentAt(1900, 1950, 2000, 2001), // out at its end
		sentAt(500, 1500, 2500),        // throughout
		sentAt(2001, 2100),             // after
		refused(950, 1010),             // fails inside
		refused(1990, 2010),            // fails after
		refused(1300, 1310),            // wholly inside
	}
}

func TestAWindowHasTheLatenciesOfWhatLiesWhollyInside(t *testing.T) {
	s := traced(Config{RequestRate: math.Inf(1)}, 3, edges()...).Within(Window{time.Second, 2 * time.Second})
	if want := (Part{Window: Window{time.Second, 2 * time.Second}, Requests: 11, Inside: 4, Crossing: 5}); *s.Parts.Of != want {
		t.Errorf("%+v, want %+v", *s.Parts.Of, want)
	}
	for name, pair := range map[string][2]float64{
		"TTFTs": {float64(s.TTFT.Len()), 4}, "TTFT": {s.TTFT.Mean(), (200 + 200 + 100 + 50) / 4.0},
		"TPOTs": {float64(s.TPOT.Len()), 2}, "TPOT": {s.TPOT.Mean(), 300},
		"ITLs": {float64(s.ITL.Len()), 2}, "E2EL": {s.E2EL.Mean(), (500 + 200 + 400) / 3.0},
		"queues": {float64(s.Client.Queue.Len()), 3},
	} {
		if !near(pair[0], pair[1]) {
			t.Errorf("%s: %v, want %v", name, pair[0], pair[1])
		}
	}
	if s.Whole() != s.Parts.Of.Window {
		t.Errorf("it is from %v", s.Whole())
	}
	if s.Trust != nil || s.Kept.Trace != nil {
		t.Errorf("trust %v, trace %v", s.Trust, s.Kept.Trace)
	}
}

func TestAWindowHasTheThroughputOfWhatCameInside(t *testing.T) {
	s := traced(Config{RequestRate: math.Inf(1), Goodput: []SLO{{"ttft", 150}}}, 3, edges()...).Within(Window{time.Second, 2 * time.Second})
	// Completed: those sent at 900, 1000, 1400 and 1600 ms. Tokens: 2, 2, 1, 2, then
	// 2 of 3 and 1 of 2.
	for name, pair := range map[string][2]float64{
		"seconds": {s.When.Seconds, 1}, "completed": {float64(s.Completed), 4}, "requests": {s.Rates.Requests, 4},
		"input": {s.Rates.Input, 40}, "output": {s.Rates.Output, 10}, "total": {s.Rates.Total, 50},
		"goodput": {s.Rates.Goodput, 2}, "failed": {float64(s.Failed), 2},
		"peak output": {s.Rates.PeakOutput, 8}, // two more come at 2.00 s, which begins another second

		// From 1.99 s those sent at 500, 1600, 1900 and 1990 ms are in flight.
		"peak concurrency": {float64(s.Truth.PeakConcurrency), 4},
		"mean concurrency": {s.Truth.MeanConcurrency, 0.1 + 0.5 + 0.2 + 0.4 + 0.1 + 1 + 0.01 + 0.01 + 0.01},
	} {
		if !near(pair[0], pair[1]) {
			t.Errorf("%s: %v, want %v", name, pair[0], pair[1])
		}
	}
	if s.Rates.PeakConcurrent != 6 || s.Printed.Errors["no"] != 2 || len(s.Printed.FirstErrors) != 2 {
		t.Errorf("peak concurrent %d, errors %v, %v", s.Rates.PeakConcurrent, s.Printed.Errors, s.Printed.FirstErrors)
	}
}

func TestTheWindowOfAllIsTheRun(t *testing.T) {
	records := requests(300)
	for _, r := range records {
		r.Tokens.In = 7
	}
	run := traced(Config{RequestRate: 5, Goodput: []SLO{{"ttft", 500}}}, 15, records...)
	part := run.Within(run.Whole())
	if part.Parts.Of.Inside != 300 || part.Parts.Of.Crossing != 0 {
		t.Errorf("%+v", part.Parts.Of)
	}
	for _, m := range Metrics {
		if a, b := m.Of(run), m.Of(part); a.Len() != b.Len() || a.Mean() != b.Mean() || a.Percentile(99) != b.Percentile(99) {
			t.Errorf("%s: %d of mean %v, in the run %d of %v", m.Name, b.Len(), b.Mean(), a.Len(), a.Mean())
		}
	}
	a, b := []float64{run.Rates.Requests, run.Rates.Output, run.Rates.Input, run.Rates.Goodput}, []float64{part.Rates.Requests, part.Rates.Output, part.Rates.Input, part.Rates.Goodput}
	for i := range a {
		if a[i] != b[i] {
			t.Errorf("throughput %d: %v, in the run %v", i, b[i], a[i])
		}
	}
	if run.Truth.MeanConcurrency != part.Truth.MeanConcurrency || run.Truth.PeakConcurrency != part.Truth.PeakConcurrency {
		t.Errorf("truth %+v, in the run %+v", part.Truth, run.Truth)
	}
}

func TestAnEmptyWindowIsEmpty(t *testing.T) {
	run := traced(Config{}, 3, edges()...)
	for _, w := range []Window{{5 * time.Second, 6 * time.Second}, {1010 * msec, 1010 * msec}} {
		s := run.Within(w)
		if s.Completed != 0 || s.Totals.Output != 0 || s.Rates.PeakOutput != 0 || s.TTFT.Len() != 0 || s.Parts.Of.Inside != 0 {
			t.Errorf("%v: %+v, completed %d, output %d", w, s.Parts.Of, s.Completed, s.Totals.Output)
		}
	}
}

func TestAWindowWithoutChunkTimesHasNoITL(t *testing.T) {
	r := sentAt(0, 100, 200, 300, 400)
	r.Answer.Chunks = r.Answer.Chunks.Ends()
	run := traced(Config{}, 1, r, sentAt(0, 100, 200))
	// Of the first, whose chunks are spread evenly, two came by then.
	if s := run.Within(Window{0, 250 * msec}); s.Rates.Output != 16 || s.ITL.Len() != 1 {
		t.Errorf("%v tokens a second, %d gaps", s.Rates.Output, s.ITL.Len())
	}
	if s := run.Within(run.Whole()); !math.IsNaN(s.ITL.Mean()) || s.Totals.Output != 6 || s.Rates.PeakOutput != 6 {
		t.Errorf("ITL %v, %d tokens, peak %v", s.ITL.Mean(), s.Totals.Output, s.Rates.PeakOutput)
	}
}

func TestLoadIsOnFromTheFirstSentToTheLast(t *testing.T) {
	inf := math.Inf(1)
	burst := func() []*record.Record {
		return []*record.Record{sentAt(10, 500, 900), refused(20, 700), sentAt(30, 100)}
	}
	waited := append(burst(), sentAt(100, 200, 950))
	waited[3].Times.Due, waited[3].Times.Slot = 0, 100*msec
	warm := sentAt(0, 5000)
	warm.Phase = record.WarmUp
	for name, c := range map[string]struct {
		config  Config
		records []*record.Record
		want    Window
		ok      bool
	}{
		"by rate":       {Config{RequestRate: 5}, burst(), Window{10 * msec, 30 * msec}, true},
		"all at once":   {Config{RequestRate: inf}, append(burst(), warm), Window{10 * msec, 900 * msec}, true},
		"by slots":      {Config{RequestRate: inf, MaxConcurrency: 3}, waited, Window{10 * msec, 100 * msec}, true},
		"of one alone":  {Config{RequestRate: 5}, burst()[:1], Window{10 * msec, 10 * msec}, false},
		"only warm-ups": {Config{RequestRate: inf}, []*record.Record{warm}, Window{}, false},
	} {
		if got, ok := traced(c.config, 1, c.records...).Loaded(); got != c.want || ok != c.ok {
			t.Errorf("%s: %v, %v; want %v, %v", name, got, ok, c.want, c.ok)
		}
	}
}

// Each answer that is not streamed has one chunk, whatever its length.
func TestThePeakOfAnswersInOnePieceIsOfTheirTokens(t *testing.T) {
	whole := func(end float64, out int) *record.Record {
		return arrived(record.Record{Times: record.Times{Sent: 100 * time.Millisecond}, Tokens: record.Tokens{Out: out}, Answer: record.Answer{Unstreamed: true}}, end)
	}
	run := traced(Config{Whole: true, RequestRate: math.Inf(1)}, 4, whole(1100, 20), whole(1300, 30), whole(3500, 5))
	if run.Rates.PeakOutput != 50 {
		t.Errorf("%v tokens in the busiest second, want 50", run.Rates.PeakOutput)
	}
	if part := run.Within(Window{0, 1200 * time.Millisecond}); part.Rates.PeakOutput != 20 {
		t.Errorf("%v tokens up to 1.2 s, want 20", part.Rates.PeakOutput)
	}
}
