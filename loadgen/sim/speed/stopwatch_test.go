package speed

import (
	"math"
	"testing"
	"time"
)

func TestStallsAndSpellsAreAsOftenAndAsLongAsSaid(t *testing.T) {
	p := &Profile{
		Step:   StepTime{Cost: Cost{Base: 10 * time.Millisecond}},
		Stalls: Stalls{Probability: .1, Mean: 20 * time.Millisecond},
		Spells: Spells{PerSecond: .02, Last: 2 * time.Second, Factor: 3},
	}
	w, at := NewStopwatch(p, nil, 5), time.Unix(0, 0)
	var work, slow float64
	const steps = 400_000
	for range steps {
		took := w.Step(Batch{Decoding: 1}, at)
		if work += took.Seconds(); at.Before(w.spells.until) {
			slow += took.Seconds()
		}
		at = at.Add(took)
	}
	if share := slow / work; math.Abs(share-.04) > .01 { // .02 a second, of 2 s each
		t.Errorf("spells last for %.3f of the time, want .04", share)
	}
	mean := (work - slow*2/3) / steps
	if want := .010 + .1*.020; math.Abs(mean-want) > .0001 {
		t.Errorf("a step takes %.5f s without spells, want %.5f", mean, want)
	}
}
