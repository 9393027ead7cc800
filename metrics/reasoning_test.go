package metrics

import (
	"math"
	"testing"
	"time"

	"github.com/servebench/servebench/metrics/record"
)

// thoughtful is an answer whose reasoning begins after 100 ms, and its output after so many; 0 for an
// answer of reasoning alone.
func thoughtful(i int, output time.Duration) *record.Record {
	r := arrived(record.Record{Run: "r", Index: i, Tokens: record.Tokens{In: 5, Out: 10, OutReasoned: 7}, Answer: record.Answer{Reasoned: true}}, 100, 1000)
	if output > 0 {
		r.Times.FirstOutput = output * msec
	}
	return r
}

// plainly is an answer without reasoning, whose text begins after so many milliseconds.
func plainly(i int, output float64) *record.Record {
	return arrived(record.Record{Run: "r", Index: i, Tokens: record.Tokens{In: 5, Out: 10}}, output, 1000)
}

func TestTTFOEndsAtTheFirstOutputAfterTheReasoning(t *testing.T) {
	for name, c := range map[string]struct {
		record *record.Record
		want   time.Duration
		there  bool
	}{
		"reasoning, then text": {thoughtful(0, 400), 400 * msec, true},
		"reasoning alone":      {thoughtful(0, 0), 0, false},
		"text":                 {plainly(0, 60), 60 * msec, true},
		"nothing":              {&record.Record{}, 0, false},
	} {
		if got, there := c.record.TTFO(); got != c.want || there != c.there {
			t.Errorf("%s: %v, %t, want %v, %t", name, got, there, c.want, c.there)
		}
	}
}

// Shards with and without reasoning, in any order, are known as exactly as one run.
func TestTTFOIsOfAllAnswersOnceOneReasons(t *testing.T) {
	records := []*record.Record{plainly(0, 60), thoughtful(1, 400), plainly(2, 80), thoughtful(3, 0), plainly(4, 100), plainly(5, 120)}
	for parts := 1; parts <= len(records); parts++ {
		s := bounded(records, parts, 1000).Summary(1)
		d := s.TTFO()
		if d == nil || d.Len() != 5 || d.Median() != 100 || d.Percentile(100) != 400 || d.Percentile(0) != 60 {
			t.Fatalf("%d parts: %+v", parts, d)
		}
		if s.Truth.ContentTTFT.Len() != 6 || s.Truth.Reasoning != (Reasoning{Answers: 2, Only: 1, Counted: 2, Tokens: 14, Output: 20}) {
			t.Errorf("%d parts: %d with content, %+v", parts, s.Truth.ContentTTFT.Len(), s.Truth.Reasoning)
		}
	}
	text := bounded([]*record.Record{records[0], records[2]}, 1, 1000).Summary(1)
	if text.TTFO() != nil || text.Truth.TTFO.Len() != 0 || text.Truth.Reasoning != (Reasoning{}) {
		t.Errorf("without reasoning: %+v", text.Truth.TTFO)
	}
	if empty := new(Summary).TTFO(); empty != nil {
		t.Errorf("without records: %+v", empty)
	}
}

func TestGoodputLimitsTTFO(t *testing.T) {
	h := &Header{Config: Config{Goodput: []SLO{{Metric: "ttfo", Limit: 100}}}}
	c := NewCollector(h)
	for i, r := range []*record.Record{plainly(0, 60), plainly(1, 100), plainly(2, 101), thoughtful(3, 100), thoughtful(4, 400), thoughtful(5, 0)} {
		r.Index = i
		c.Add(r)
	}
	if s := c.Summary(1); s.Goodput != 3 {
		t.Errorf("%v good requests a second, want 3", s.Goodput)
	}
	if o := OutcomeOf(thoughtful(0, 0)); !math.IsInf(o.TTFO, 1) {
		t.Errorf("an answer without output has a TTFO of %v s", o.TTFO)
	}
}
