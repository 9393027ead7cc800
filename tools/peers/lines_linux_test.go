package main

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/servebench/servebench/loadgen/selftest"
	"github.com/servebench/servebench/tools/peers/reading"
)

func TestAVoidRoundIsNeitherCountedNorHidden(t *testing.T) {
	good := selftest.Spread{Samples: 99, P99: 50, P999: 500}
	quiet := selftest.Row{CPU: 9, Alone: good, Stamp: good}
	slow := selftest.Row{CPU: 9, Alone: selftest.Spread{P99: 101, P999: 500}}
	stolen := selftest.Row{CPU: 20, Alone: selftest.Spread{P99: 7000, P999: 8000}, Disturbance: selftest.Disturbance{Void: "others"}}
	for _, test := range []struct {
		rounds []selftest.Row
		want   verdict
		figure string
		voids  string
	}{
		{[]selftest.Row{quiet, stolen}, met, "p50 0.000, p99 0.050, p99.9 0.500, max 0.000 ms", "; 1 of 2 rounds void; "},
		{[]selftest.Row{slow, quiet, slow}, missed, "p50 0.000, p99 0.101, p99.9 0.500, max 0.000 ms", "; 0 of 3 rounds void; "},
		{[]selftest.Row{stolen}, void, "p50 0.000, p99 7.000, p99.9 8.000, max 0.000 ms", "; 1 of 1 rounds void; "},
	} {
		lines := pacedLines(ours, test.rounds)
		if len(lines) != 3 || lines[1].verdict != test.want || lines[1].figure != test.figure || !strings.Contains(lines[0].figure, test.voids) {
			t.Errorf("%v, want %s: %s%s", lines, test.want, test.figure, test.voids)
		}
	}
	if lines := pacedLines(reading.Plain, []selftest.Row{slow}); len(lines) != 2 || lines[1].verdict != none {
		t.Errorf("another client is judged: %v", lines)
	}
}

// costing is a round in which every client needs so many times the floor.
func costing(floor float64, isVoid bool, floors map[string]float64) burstRound {
	r := burstRound{costs: make(map[string]reading.Cost), void: isVoid}
	for _, client := range burstClients {
		cost := floor * max(floors[client], 1)
		r.costs[client] = reading.Cost{CPU: []float64{cost, cost, 3 * cost, 9 * cost}}
	}
	return r
}

func TestClientsAreComparedWithinARound(t *testing.T) {
	usual := map[string]float64{ours: 1.6, reading.Recording: 1.7, reading.GoOpenAI: 2.4}
	slow := map[string]float64{ours: 5, reading.Recording: 5, reading.GoOpenAI: 5}
	for _, test := range []struct {
		name         string
		rounds       []burstRound
		ours, theirs verdict
		figure       string
	}{
		{"a slow round", []burstRound{costing(3700, false, usual), costing(9000, false, usual)}, met, met, "1.60 (1.60 to 1.60) × floor"},
		{"a void round", []burstRound{costing(3700, false, usual), costing(3700, true, slow)}, met, met, "1.60 (1.60 to 1.60) × floor"},
		{"all void", []burstRound{costing(3700, true, usual)}, void, void, "1.60 (1.60 to 1.60) × floor"},
		{"missed", []burstRound{costing(3700, false, slow)}, missed, missed, "5.00 (5.00 to 5.00) × floor"},
	} {
		for _, r := range burstLines(test.rounds, undisturbed, 1.7, 1.5) {
			want := none
			switch {
			case r.measure == ours && r.figure != test.figure:
				t.Errorf("%s: %q, want %q", test.name, r.figure, test.figure)
				fallthrough
			case r.measure == ours || r.measure == reading.Recording:
				want = test.ours
			case r.measure == reading.GoOpenAI && r.target != "":
				want = test.theirs
			case r.measure == "allocations per event":
				want = met // what was counted stands in a void round, too
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
		{"load":"at-once","void":"others","failed":0,"ttft_mean_ms":{"measured":51.5,"true":50},"ttft_p99_ms":{"measured":70,"true":59}},
		{"load":"at-once","void":"","failed":3,"ttft_mean_ms":{"measured":51.5,"true":50},"ttft_p99_ms":{"measured":60,"true":59}},
		{"load":"poisson","void":"others","failed":0,"ttft_mean_ms":{"measured":51,"true":50.5},"itl_p99_ms":{"measured":21,"true":20.5}}]}`), &s)
	if err != nil {
		t.Fatal(err)
	}
	want := []line{
		{"1024 at once: TTFT against the truth", "mean 1.50 ms off, p99 11.00 ms off; others", "≤ 2, ≤ 10 ms", void},
		{"1024 at once: TTFT against the truth", "mean 1.50 ms off, p99 1.00 ms off; 3 requests failed", "≤ 2, ≤ 10 ms", missed},
		{"Poisson to 1024: against the truth", "mean TTFT 0.50 ms off, p99 ITL 0.50 ms off; others", "≤ 1, ≤ 1 ms", void},
		{"numbers can be trusted up to", "256 streams", "", none},
	}
	if got := startLines(&s); !slices.Equal(got, want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
}

func TestTableCountsItsVerdicts(t *testing.T) {
	var out strings.Builder
	table := &sheet{w: &out, n: make(map[verdict]int)}
	table.add("some", []line{{"floor", "3700 ns", "", none}, {"ours", "1.6 × floor", "≤ 1.7", met}})
	table.add("more", []line{{"late", "3 ms", "≤ 2 ms", missed}, {"many", "no files", "no error", void}})
	table.sum()
	want := `some
  floor  3700 ns             
  ours   1.6 × floor  ≤ 1.7  met

more
  late  3 ms      ≤ 2 ms    missed
  many  no files  no error  void

1 targets met, 1 missed, 1 void
`
	if out.String() != want {
		t.Errorf("printed\n%s\nwant\n%s", out.String(), want)
	}
}
