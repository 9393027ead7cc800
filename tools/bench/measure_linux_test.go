package main

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/servebench/servebench/loadgen/selftest"
)

func TestAStampThatSharesItsReadSpoilsTheOneBefore(t *testing.T) {
	var l stampLog
	at := time.Unix(1795176277, 0)
	for _, a := range []arrival{
		{at.Add(2 * time.Millisecond), at.UnixNano(), false},
		{at.Add(3 * time.Millisecond), at.UnixNano(), false},
		{at.Add(3 * time.Millisecond), at.UnixNano(), true},
		{at.Add(3 * time.Millisecond), 0, false}, // a chunk without text
		{at.Add(1 * time.Millisecond), at.UnixNano(), false},
	} {
		l.add(a)
	}
	if want := []stamp{{2, false}, {3, true}, {3, true}, {1, false}}; !slices.Equal(l.stamps, want) {
		t.Errorf("got %v, want %v", l.stamps, want)
	}
}

func TestWhatOthersTookIsWhatWeDidNot(t *testing.T) {
	at := time.Unix(1795176277, 0)
	before := usage{at, 10 * time.Second, 100 * time.Second}
	own, others := usage{at.Add(2 * time.Second), 11 * time.Second, 101500 * time.Millisecond}.since(before)
	if own != time.Second || others != 0.25 {
		t.Errorf("own %v, others %v; want 1s, 0.25", own, others)
	}
	// The kernel's ticks are coarser than our own time.
	if _, others := (usage{at.Add(time.Second), 11 * time.Second, 100990 * time.Millisecond}).since(before); others != 0 {
		t.Errorf("others %v, want 0", others)
	}
}

func TestAVoidRoundIsNeitherCountedNorHidden(t *testing.T) {
	quiet := pacedRound{paced{CPU: 9000, Others: tolerated, Alone: lateness{Events: 99, P99: 0.05, P999: 0.5}, Shared: lateness{Events: 1}}, 0}
	stolen := pacedRound{paced{CPU: 20000, Others: tolerated + 0.001, Alone: lateness{Events: 99, P99: 7, P999: 8}, Shared: lateness{Events: 1}}, 0}
	for _, test := range []struct {
		rounds []pacedRound
		want   verdict
		figure string
	}{
		{[]pacedRound{quiet, stolen}, met, "p50 0.000, p99 0.050, p99.9 0.500, max 0.000 ms"},
		{[]pacedRound{stolen}, void, "p50 0.000, p99 7.000, p99.9 8.000, max 0.000 ms"},
	} {
		rows := pacedRows(ours, test.rounds)
		if rows[1].verdict != test.want || rows[1].figure != test.figure {
			t.Errorf("%v: %v, want %s: %s", test.rounds, rows[1], test.want, test.figure)
		}
	}
}

// costing is a round in which every client needs so many times the floor.
func costing(floor, others float64, floors map[string]float64) burstRound {
	r := make(burstRound)
	for _, client := range burstClients {
		cost := floor * max(floors[client], 1)
		r[client] = burstCost{CPU: []float64{9 * cost, cost, 3 * cost}, Others: others}
	}
	return r
}

func TestClientsAreComparedWithinARound(t *testing.T) {
	usual := map[string]float64{ours: 1.6, goOpenAI: 2.4}
	slow := map[string]float64{ours: 5, goOpenAI: 5}
	for _, test := range []struct {
		name         string
		rounds       []burstRound
		ours, theirs verdict
		figure       string
	}{
		{"a slow round", []burstRound{costing(3700, 0, usual), costing(9000, tolerated, usual)}, met, met, "1.60 (1.60 to 1.60) × floor"},
		{"a void round", []burstRound{costing(3700, 0, usual), costing(3700, 0.2, slow)}, met, met, "1.60 (1.60 to 1.60) × floor"},
		{"all void", []burstRound{costing(3700, 0.2, usual)}, void, void, "1.60 (1.60 to 1.60) × floor"},
		{"missed", []burstRound{costing(3700, 0, slow)}, missed, missed, "5.00 (5.00 to 5.00) × floor"},
	} {
		for _, r := range burstRows(test.rounds, 1.7, 1.5) {
			want := none
			switch {
			case r.measure == ours && r.figure != test.figure:
				t.Errorf("%s: %q, want %q", test.name, r.figure, test.figure)
				fallthrough
			case r.measure == ours:
				want = test.ours
			case r.measure == goOpenAI && r.target != "":
				want = test.theirs
			case r.measure == "allocations per event":
				want = met
			}
			if r.verdict != want {
				t.Errorf("%s: %v, want %q", test.name, r, want)
			}
		}
	}
}

func TestStartsAreTakenFromTheSelftest(t *testing.T) {
	var s selftest.Result
	err := json.Unmarshal([]byte(`{"trusted_streams":256,"rows":[
		{"load":"steps","void":"","ttft_mean_ms":{"measured":9,"true":1}},
		{"load":"at-once","void":"","failed":0,"ttft_mean_ms":{"measured":51.5,"true":50},"ttft_p99_ms":{"measured":70,"true":59}},
		{"load":"poisson","void":"others took 20 %","failed":0,"ttft_mean_ms":{"measured":51,"true":50.5},"itl_p99_ms":{"measured":21,"true":20.5}}]}`), &s)
	if err != nil {
		t.Fatal(err)
	}
	want := []row{
		{"1024 at once: TTFT against the truth", "mean 1.50 ms off, p99 11.00 ms off", "≤ 2, ≤ 10 ms", missed},
		{"Poisson to 1024: against the truth", "mean TTFT 0.50 ms off, p99 ITL 0.50 ms off; others took 20 %", "≤ 1, ≤ 1 ms", void},
		{"numbers can be trusted up to", "256 streams", "", none},
	}
	if got := startRows(&s); !slices.Equal(got, want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
}
