package main

import (
	"slices"
	"testing"
	"time"
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
