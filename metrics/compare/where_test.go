package compare

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/servebench/servebench/metrics/aspect/spans"
	"github.com/servebench/servebench/metrics/compare/brief"
	"github.com/servebench/servebench/metrics/compare/gating"
)

// spanned makes runs of one side, each on a new start. Numbers of a repeat are off by its jitter,
// which both sides share.
func spanned(from time.Duration, spans map[string]float64, jitter ...float64) (runs []*brief.Run) {
	for i, off := range jitter {
		own := map[string]float64{}
		ttft := 0.0
		for name, ms := range spans {
			own[name] = ms
			ttft += ms
		}
		own["prefill"] += off
		ttft += off - spans["generation"]
		began := time.Unix(0, 0).Add(time.Duration(i)*time.Hour + from)
		runs = append(runs, &brief.Run{
			Start: fmt.Sprint(from, i), Repeat: i + 1, Began: began, Ended: began.Add(time.Minute), Spans: own, Completed: 1000, Output: 1000,
			Asked:   map[string]string{"model": "m"},
			Numbers: map[string]float64{"output_throughput": 1000, "median_ttft": ttft, "median_tpot": spans["generation"] / 10},
		})
	}
	return runs
}

func TestARegressionSaysWhere(t *testing.T) {
	was := map[string]float64{"slot": 400, "connect": 0.2, "write": 0.1, "server_queue": 1, "prefill": 30, "network": 2, "generation": 100}
	is := map[string]float64{"slot": 900, "connect": 0.2, "write": 0.1, "server_queue": 20, "prefill": 31, "network": 5, "generation": 100}
	jitter := []float64{0, 3, -2, 1}
	c := Compare(spanned(0, was, jitter...), spanned(time.Minute, is, 1, 2, -1, 0), gating.Default())
	if c.Verdict != Regressed || len(c.Reasons) != 2 {
		t.Fatalf("%s: %q", c.Verdict, c.Reasons)
	}
	// Differences of pairs 24, 22, 24 and 22: t(3) at 0.975 is 3.1824, times √(4/3)/2.
	if want := "where: mean TTFT +23 ms (+21 … +25): server queue +19, prefill +1, network and front end +3"; c.Reasons[1] != want {
		t.Errorf("%q, want %q", c.Reasons[1], want)
	}
	w := c.Points[0].Where[0]
	if half := 3.18244630528 * math.Sqrt(4.0/3) / 2; math.Abs(w.Whole.High-23-half) > 1e-6 || math.Abs(w.Whole.Low-23+half) > 1e-6 {
		t.Errorf("from %v to %v", w.Whole.Low, w.Whole.High)
	}
	addUp(t, c)
	// At the first of 18 looks, t(2) is at the level of the look: one-sided 0.05·3/20, so 0.00375 on each side.
	old, new := spanned(0, was, jitter[:3]...), spanned(time.Minute, is, 1, 2, -1)
	for _, r := range slices.Concat(old, new) {
		r.MaxPairs = 20
	}
	w = Compare(old, new, gating.Default()).Points[0].Where[0]
	if half := 11.482 * math.Sqrt(4.0/3) / math.Sqrt(3); math.Abs(w.Whole.High-w.Whole.Value-half) > 0.01 || math.Abs(w.Whole.Value-w.Whole.Low-half) > 0.01 {
		t.Errorf("sequential: from %v to %v", w.Whole.Low, w.Whole.High)
	}
}

// addUp checks that spans add up to the latencies.
func addUp(t *testing.T, c *Comparison) {
	t.Helper()
	for _, w := range c.Points[0].Where {
		old, new, value := 0.0, 0.0, 0.0
		for _, s := range w.Spans {
			old, new, value = old+s.Old, new+s.New, value+s.Value
		}
		if math.Abs(old-w.Whole.Old)+math.Abs(new-w.Whole.New)+math.Abs(value-w.Whole.Value) > 1e-9 {
			t.Errorf("%+v", w)
		}
	}
}

// Nobody divides what one side does not know.
func TestUnknownSpansStayTogether(t *testing.T) {
	was := map[string]float64{"connect": 0.2, "first_output": 33, "generation": 100}
	is := map[string]float64{"connect": 0.2, "server_queue": 20, "prefill": 31, "network": 5, "generation": 100}
	for _, later := range []time.Duration{time.Minute, 30 * time.Minute} {
		old, new := spanned(0, was, 0, 0, 0, 0, 0, 0), spanned(later, is, 0, 0, 0, 0, 0, 0)
		for _, r := range old {
			delete(r.Spans, "prefill")
		}
		c := Compare(old, new, gating.Default())
		addUp(t, c)
		w := c.Points[0].Where[0]
		if len(w.Spans) != 2 || w.Spans[1].Name != spans.FirstOutput.Label() || w.Spans[1].Value != 23 || w.Divided() {
			t.Errorf("%+v", w)
		}
		if text := strings.Join(c.Reasons, " "); c.Verdict != Regressed || strings.Contains(text, "where") {
			t.Errorf("%s: %s", c.Verdict, text)
		}
	}
	old := spanned(0, was, 0, 0, 0, 0)
	old[2].Spans = nil
	if c := Compare(old, spanned(time.Minute, is, 0, 0, 0, 0), gating.Default()); c.Points[0].Where != nil {
		t.Errorf("a run without spans is divided: %+v", c.Points[0].Where)
	}
}

// The time until an undivided answer that came whole has its generation, too.
func TestWholeAnswersStayTogether(t *testing.T) {
	was := map[string]float64{"connect": 0.2, "first_output": 130, "generation": 0}
	is := map[string]float64{"connect": 0.2, "server_queue": 10, "prefill": 31, "network": 5, "generation": 124}
	old, new := spanned(0, was, 0, 0, 0, 0), spanned(time.Minute, is, 0, 0, 0, 0)
	for i, r := range slices.Concat(old, new) {
		delete(r.Numbers, "median_ttft")
		delete(r.Numbers, "median_tpot")
		r.Numbers["median_e2el"] = float64(130 + 40*(i/4))
	}
	c := Compare(old, new, gating.Default())
	addUp(t, c)
	if len(c.Points[0].Where) != 1 || c.Points[0].Where[0].Whole.Value != 40 {
		t.Errorf("%+v", c.Points[0].Where)
	}
	if text := strings.Join(c.Reasons, " "); c.Verdict != Regressed || strings.Contains(text, "where") {
		t.Errorf("%s: %s", c.Verdict, text)
	}
}

func TestSpansInTurnsAddUp(t *testing.T) {
	was := map[string]float64{"server_queue": 1, "prefill": 30, "network": 2, "generation": 100}
	is := map[string]float64{"server_queue": 2, "prefill": 30, "network": 2, "generation": 150}
	old, new := spanned(0, was, 1, 2, 4, 8, 16), spanned(time.Minute, is, 3, 1, 0, 7, 2)
	for i := range old {
		old[i].Asked["seed"], new[i].Asked["seed"] = fmt.Sprint(i), fmt.Sprint(10+i)
		old[i].SpansCounted = true
	}
	c := Compare(old, new, gating.Default())
	addUp(t, c)
	if c.Points[0].Design != InTurns {
		t.Fatalf("the design is %s", c.Points[0].Design)
	}
	if w := c.Points[0].Where[1]; !strings.HasPrefix(w.String(), "mean E2EL +47 ms (") || !strings.HasSuffix(w.String(), "server queue +1, prefill −4, generation +50; server queue and prefill are means of the server's histograms") {
		t.Errorf("%s", &w)
	}
}

func TestSmallChangesKeepTheirDigits(t *testing.T) {
	for value, want := range map[float64]string{0.0123: "+0.01", 0.5: "+0.50", -3.21: "−3.2", 12.34: "+12"} {
		w := Where{Whole: Change{Name: "TTFT", Value: value, Low: math.Inf(-1), High: math.Inf(1)}}
		if got := w.String(); got != "mean TTFT "+want+" ms" {
			t.Errorf("%v: %s", value, got)
		}
	}
}
