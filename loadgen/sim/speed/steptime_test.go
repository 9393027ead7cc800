package speed

import (
	"testing"
	"time"
)

func TestStepTimeIsItsFormula(t *testing.T) {
	ms := time.Millisecond
	s := StepTime{
		Cost:    Cost{Base: 10 * ms, PerSequence: ms, PerPromptToken: 10 * time.Microsecond},
		Knots:   []Knot{{4, 8 * ms}, {8, 24 * ms}},
		Overlap: 0.5, Attention: 2, Context: time.Microsecond, Far: 5 * ms,
	}
	shared := Sharing{Base: 2, Prompt: 3}
	for _, row := range []struct {
		batch   Batch
		sharing Sharing
		want    time.Duration
	}{
		{Batch{}, Sharing{1, 1}, 10 * ms},
		{Batch{Decoding: 2}, Sharing{1, 1}, 10*ms + 2*ms + 4*ms},
		{Batch{Decoding: 6}, Sharing{1, 1}, 10*ms + 6*ms + 16*ms},
		{Batch{Decoding: 10}, Sharing{1, 1}, 10*ms + 10*ms + 32*ms}, // as the line came
		{Batch{Decoding: 2, Prompt: 100}, Sharing{1, 1}, 10*ms + 6*ms + ms - ms/2},
		{Batch{Decoding: 2, Prompt: 1000}, Sharing{1, 1}, 10*ms + 6*ms + 10*ms - 3*ms},
		{Batch{Decoding: 2, Prompt: 100}, shared, 20*ms + 12*ms + 3*ms - 3*ms/2},
		{Batch{Decoding: 1, Context: 300, Attended: 1000, Far: 1}, Sharing{1, 1}, 10*ms + 3*ms + 300*time.Microsecond + 2000 + 5*ms},
	} {
		if got := s.of(row.batch, row.sharing); got != float64(row.want) {
			t.Errorf("%+v with %v: %v, want %v", row.batch, row.sharing, time.Duration(got), row.want)
		}
	}
}
