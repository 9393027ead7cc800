package selftest

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/loadgen/selftest/metronome"
)

func TestAStampThatSharesItsReadSpoilsTheOneBefore(t *testing.T) {
	const ms = time.Millisecond
	at := time.Unix(1795176277, 0)
	probes := newProbes(1, 6)
	for i, e := range []struct {
		late        time.Duration
		sharedReads int
	}{{0, 0}, {2 * ms, 0}, {3 * ms, 0}, {3 * ms, 1}, {1 * ms, 1}} {
		written := at.Add(time.Duration(i) * 10 * ms)
		text := fmt.Appendf(nil, "%d %d 0", written.UnixNano(), at.UnixNano())
		probes[0].look(&engine.Chunk{At: written.Add(e.late), Text: text}, e.sharedReads, at, at)
	}
	var row Row
	if err := row.compare(probes); err != nil {
		t.Fatal(err)
	}
	if row.Stamp.Samples != 4 || row.Stamp.Max != 3000 || row.Alone.Samples != 2 || row.Alone.Max != 2000 {
		t.Errorf("stamp error %+v, of reads alone %+v; want 4 samples to 3000 µs, 2 to 2000 µs", row.Stamp, row.Alone)
	}
}

func TestAProbeComparesWithTheTruth(t *testing.T) {
	const ms, us = time.Millisecond, time.Microsecond
	start := time.Unix(1795176277, 0)
	probes := newProbes(2, 5)
	p := &probes[0]
	p.bound = 9 * ms
	for _, e := range []struct {
		at, written, delay time.Duration
		sharedReads        int
	}{
		{61*ms + 4*us, 61 * ms, 0, 0},
		{81*ms + 4*us, 81 * ms, 5 * us, 1}, // while the load still grows
		{110*ms + 4*us, 101 * ms, 5 * us, 1},
		{121*ms + 4*us, 121 * ms, 1 * us, 1}, // only the event before can have been further off than its bound
	} {
		truth := metronome.Truth{Written: start.Add(e.written).UnixNano(), Arrived: start.Add(11 * ms).UnixNano(), Delay: e.delay}
		text := fmt.Appendf(nil, "%d %d %d", truth.Written, truth.Arrived, truth.Delay)
		p.look(&engine.Chunk{At: start.Add(e.at), Text: text}, e.sharedReads, start.Add(10*ms), start.Add(100*ms))
	}
	var row Row
	if err := row.compare(probes); err != nil {
		t.Fatal(err)
	}
	if want := (Spread{1, 1004, 1004, 1004, 1004}); row.TTFT != want {
		t.Errorf("TTFT error %+v, want %+v", row.TTFT, want)
	}
	if row.Stamp.Samples != 2 || row.Stamp.Max != 9004 || row.ITL.Samples != 2 || row.ITL.P50 != 9000 {
		t.Errorf("stamp error %+v, ITL error %+v; want 2 samples, at most 9004 and 9000 µs", row.Stamp, row.ITL)
	}
	if row.MeanTTFT != (Pair{51.004, 50}) || row.P99ITL.True != 20 {
		t.Errorf("mean TTFT %v, p99 ITL %v", row.MeanTTFT, row.P99ITL)
	}
	if row.Beyond != 1 || p.worst != 9*ms+3*us {
		t.Errorf("%d requests out of bound, worst %v; want 1, 9.003ms", row.Beyond, p.worst)
	}
	p.bound += 3 * us
	if p.outOfBound() {
		t.Error("a stamp at the bound is out of it")
	}
	probes[1].look(&engine.Chunk{At: start, Text: []byte(" tok7")}, 0, start, start)
	if err := row.compare(probes); !errors.Is(err, errUntold) {
		t.Errorf("a server that tells no truth: %v", err)
	}
}
