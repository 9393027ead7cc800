package delivery

import (
	"testing"
	"time"

	"github.com/servebench/servebench/metrics/record"
)

const msec = time.Millisecond

// replied is a request of 500 ms with so many tokens, of which the first came after
// so long and the others evenly up to the end.
func replied(tokens int, first time.Duration) *record.Record {
	r := &record.Record{Times: record.Times{Sent: time.Second}, Tokens: record.Tokens{Out: tokens}}
	for i := range tokens {
		r.Answer.Chunks.Append(r.Times.Sent + first + (500*msec-first)*time.Duration(i)/time.Duration(max(tokens-1, 1)))
	}
	r.Times.FirstContent, r.Times.Last, r.Times.End = r.Answer.Chunks.First(), r.Times.Sent+500*msec, r.Times.Sent+500*msec
	return r
}

func TestAnswersAllAtOnce(t *testing.T) {
	bundled := replied(1, 500*msec)
	bundled.Tokens.Out = 40
	role := replied(40, 500*msec)
	role.Answer.Chunks = record.Stamps{}
	role.Answer.Chunks.Append(role.Times.Sent + msec)
	for range 40 {
		role.Answer.Chunks.Append(role.Times.Last)
	}
	hidden := replied(20, 420*msec) // after a thousand tokens of which nothing came
	hidden.Tokens.Out = 1020
	hidden.Times.Last, hidden.Times.End = hidden.Times.Last+time.Second, hidden.Times.End+time.Second
	uncounted := replied(40, 499*msec)
	uncounted.Tokens.Out, uncounted.Tokens.Uncounted = 1, true
	for name, c := range map[string]struct {
		r          *record.Record
		of, atOnce int
	}{
		"a stream":                     {replied(40, 50*msec), 1, 0},
		"a long prompt, a quick model": {replied(40, 450*msec), 1, 0},
		"within 3 ms at the end":       {replied(40, 497*msec), 1, 1},
		"within 5 ms at the end":       {replied(40, 495*msec), 1, 0},
		"one chunk":                    {bundled, 1, 1},
		"a hidden reasoning":           {hidden, 1, 0},
		"a role at once":               {role, 1, 1},
		"chunks that nobody counted":   {uncounted, 1, 1},
		"four tokens":                  {replied(4, 500*msec), 0, 0},
		"more than 500 in 500 ms":      {replied(502, 500*msec), 1, 0},
	} {
		var d Delivery
		if d.Add(c.r); d.Of != c.of || d.AtOnce != c.atOnce {
			t.Errorf("%s: %+v, want %d at once of %d", name, d, c.atOnce, c.of)
		}
	}
}

func TestCountsThatFallAreFound(t *testing.T) {
	r := replied(3, 50*msec)
	r.Tokens.PerChunk = []int{20, -4, 1}
	var d Delivery
	if d.Add(r); d.Falling != 1 {
		t.Errorf("%d counts fall, want 1", d.Falling)
	}
}

func TestAnAnswerInOnePieceIsNotDelivered(t *testing.T) {
	r := replied(40, 500*msec)
	r.Answer.Unstreamed = true
	var d Delivery
	if d.Add(r); d != (Delivery{}) {
		t.Errorf("%+v", d)
	}
}
