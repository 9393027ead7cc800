package main

import (
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/servebench/servebench/metrics/verdict"
)

// Newcombe, Statistics in Medicine 17 (1998), table I, method 3: the score method.
func TestIntervalsAreNewcombes(t *testing.T) {
	for _, c := range []struct {
		share
		low, high float64
	}{
		{share{81, 263}, 0.2553, 0.3662},
		{share{15, 148}, 0.0624, 0.1605},
		{share{0, 20}, 0, 0.1611},
		{share{1, 29}, 0.0061, 0.1718},
	} {
		low, high := c.interval()
		if math.Abs(low-c.low) > 5e-5 || math.Abs(high-c.high) > 5e-5 {
			t.Errorf("%d of %d: %.4f to %.4f, want %.4f to %.4f", c.some, c.all, low, high, c.low, c.high)
		}
	}
	if text := (share{0, 0}).String(); text != "–" {
		t.Errorf("none of none is %s", text)
	}
}

func TestANumberIsWrongByFivePercentAndAMillisecond(t *testing.T) {
	for _, c := range []struct {
		measured, truth float64
		wrong           bool
	}{
		{10.9, 10, false}, {11.1, 10, true}, {8.9, 10, true}, // 1 ms is more than 5 %
		{104, 100, false}, {106, 100, true}, {94, 100, true},
		{math.NaN(), 10, true},
	} {
		if n := (number{"p99_itl_ms", c.measured, c.truth}); n.wrong() != c.wrong {
			t.Errorf("%v: wrong is %v", n, n.wrong())
		}
	}
}

func TestTruthIsFromReceiptToWrites(t *testing.T) {
	ms := time.Millisecond
	notes := []note{
		{Received: 10 * ms, Writes: []time.Duration{40 * ms, 50 * ms, 80 * ms}},
		{Received: 20 * ms, Writes: []time.Duration{70 * ms}},
		{Received: 30 * ms}, // failed
	}
	want := map[string][]float64{"ttft": {30, 50}, "itl": {10, 30}, "tpot": {20}, "e2el": {70, 50}}
	if got := latencies(notes); !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	got := statistics([]float64{4, 1, 3, 2})
	if math.Abs(got[0]-2.5) > 1e-12 || got[1] != 2.5 || math.Abs(got[2]-3.97) > 1e-12 {
		t.Errorf("%v, want mean 2.5, median 2.5, P99 3.97", got)
	}
}

// made is a run with one number, whose truth is 10 ms.
func made(load, condition string, measured float64, v verdict.Verdict, failed ...string) *judged {
	j := &judged{name: load + "/" + condition + "/0", verdict: v, printed: true}
	j.Load, j.Condition, j.numbers = load, condition, []number{{"p99_itl_ms", measured, 10}}
	for _, name := range failed {
		j.failed = append(j.failed, verdict.Check{Name: name})
	}
	return j
}

func TestRunsAreCountedByTruthAndVerdict(t *testing.T) {
	none := &judged{name: "a/quiet/9"}
	got := count([]*judged{
		made("a", "quiet", 10.2, verdict.Valid), made("a", "quiet", 10.5, verdict.Valid),
		made("a", "busy1", 10.1, verdict.Suspect, "lag"), made("b", "busy1", 20, verdict.Suspect, "lag", "socket age"),
		made("b", "busy1", 10, verdict.Overloaded, verdict.BacklogCheck), made("b", "quiet", 12, verdict.Valid), none,
	})
	all := got.total
	if all.counts != [2][2]int{{2, 2}, {1, 1}} || all.overloaded != 1 || math.Abs(all.largest-0.2) > 1e-9 {
		t.Errorf("all: %+v, want 2, 2, 1, 1, one OVERLOADED and 0.2", all)
	}
	a, b := got.loads.of("a").counts, got.loads.of("b").counts
	if a != [2][2]int{{2, 1}, {0, 0}} || b != [2][2]int{{0, 1}, {1, 1}} {
		t.Errorf("load a %v, b %v", a, b)
	}
	if q := got.conditions.of("quiet").counts; q != [2][2]int{{2, 0}, {1, 0}} {
		t.Errorf("quiet %v", q)
	}
	lag, age := *got.checks.of("lag"), *got.checks.of("socket age")
	if lag != (checkTally{[2]int{1, 1}, [2]int{1, 0}}) || age != (checkTally{[2]int{0, 1}, [2]int{0, 0}}) {
		t.Errorf("lag %v, socket age %v", lag, age)
	}
	if len(got.unjudged) != 1 || len(got.missed) != 1 || got.missed[0].name != "b/quiet/0" {
		t.Errorf("not judged: %v; missed: %v", got.unjudged, got.missed)
	}
}

func TestTheTableIsAlignedAndNamesWhatWasMissed(t *testing.T) {
	var text, markdown strings.Builder
	counted := count([]*judged{
		made("a", "quiet", 10, verdict.Valid), made("a", "busy1", 10, verdict.Suspect, "lag"),
		made("b", "quiet", 12, verdict.Valid),
	})
	counted.write(&text, false)
	counted.write(&markdown, true)
	if !strings.Contains(text.String(), "wrong and VALID: b/quiet/0: p99_itl_ms 12.00, true 10.00\n") {
		t.Errorf("the text is\n%s", &text)
	}
	head := "     right, VALID  right, doubted  wrong, doubted  wrong, VALID" +
		"  right blocks doubted    wrong blocks VALID  largest error, VALID\n"
	all := "all             1               1               0             1" +
		"     50.0 % (9.5–90.5)  100.0 % (20.7–100.0)                20.0 %\n\nload"
	if !strings.HasPrefix(text.String(), head+all) {
		t.Errorf("the text is\n%s", &text)
	}
	if strings.Contains(text.String(), "OVERLOADED") {
		t.Errorf("OVERLOADED has a column and does not occur:\n%s", &text)
	}
	if want := "| lag | 1 | 1 | 0 | 0 |\n"; !strings.Contains(markdown.String(), want) {
		t.Errorf("the Markdown lacks %s:\n%s", want, &markdown)
	}
}
