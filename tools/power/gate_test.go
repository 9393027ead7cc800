package main

import (
	"testing"

	"github.com/servebench/servebench/metrics/compare"
)

// few is the number of trials here, a fraction of make power's.
func few() int {
	if testing.Short() {
		return 60
	}
	return 200
}

// These are cells of make power, which has more trials.
func TestGateIsSeldomWrong(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second: in go test without -short")
	}
	trials := few()
	all := designs()
	paired, after, alone := all[0], all[3], all[4]
	for _, c := range []struct {
		noise  string
		design design
		n      int
		margin float64
		found  int // of an effect of twice the margin, in percent, at least
	}{
		{"iid 3 %", paired, 6, 0.05, 90},
		{"iid 3 %", paired, 4, 0.02, 10},
		{"drift 20 %, 1 %", paired, 4, 0.05, 90},
		{"AR(1) 0.8, 5 %", paired, 6, 0.05, 90},
		{"heavy tails, t with 2 df", paired, 6, 0.05, 70},
		{"starts 3 %, runs 1 %", all[1], 6, 0.05, 90},
		{"iid 3 %", all[2], 6, 0.05, 90},
		{"old 1 %, new 6 %", all[2], 4, 0.02, 0},
		{"old 1 %, new 6 %", all[5], 20, 0.02, 0},
		{"iid 1 %", after, 6, 0.05, 0},
		{"iid 1 %", after, 10, 0.05, 90},
		{"AR(1) 0.8, 5 %", after, 6, 0.05, 0},
		{"sticky bimodal 8 %", after, 6, 0.05, 0},
		{"drift 10 %, 1 %", after, 10, 0.05, 0},
		{"step 15 %, 1 %", after, 6, 0.05, 0},
		{"step 15 %, 1 %", after, 10, 0.05, 0},
		{"step 15 %, 1 %", paired, 6, 0.05, 50},
		{"starts 3 %, runs 1 %", alone, 20, 0.05, 0},
	} {
		tried := cell{named(t, c.noise), c.design, c.n, c.margin, 0}
		alike := tried.try(1, trials)[0]
		tried.effect = 2 * c.margin
		worse := tried.try(1, trials)[0]
		t.Logf("%s, %s, %d: alike %v, worse %v", c.noise, c.design.name, c.n, alike, worse)
		if alike[compare.Regressed] > tolerated(trials) || worse[compare.Regressed]*100 < c.found*trials {
			t.Errorf("%s, %s, %d values a side, margin %v: alike %v, worse %v", c.noise, c.design.name, c.n, c.margin, alike, worse)
		}
		if c.design.name == alone.name && alike[compare.NoVerdict]+worse[compare.NoVerdict] != 2*trials {
			t.Errorf("one start a side is decided as if there were more: %v, %v", alike, worse)
		}
	}
}

func TestLooksAreSeldomWrong(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second: in go test without -short")
	}
	trials := few()
	for _, c := range []struct {
		noise string
		pairs float64 // at most, on average
	}{{"iid 3 %", 7}, {"iid 5 %", 11}, {"drift 20 %, 1 %", 5}, {"heavy tails, t with 2 df", 12}} {
		tried := cell{noise: named(t, c.noise), margin: 0.05}
		alike := tried.watch(1, trials)
		tried.effect = 0.1
		worse := tried.watch(1, trials)
		t.Logf("%s: alike %v after %.1f pairs, worse %v after %.1f", c.noise, alike.verdicts, alike.mean(), worse.verdicts, worse.mean())
		if n := alike.verdicts[compare.Regressed]; n > tolerated(trials) || alike.mean() > c.pairs || worse.mean() > c.pairs || worse.share(compare.Regressed) < 0.9 {
			t.Errorf("%s: alike %v after %.1f pairs, worse %v after %.1f", c.noise, alike.verdicts, alike.mean(), worse.verdicts, worse.mean())
		}
	}
}
