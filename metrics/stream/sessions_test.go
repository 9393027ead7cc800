package stream

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect"
	"github.com/servebench/servebench/metrics/aspect/sessions"
	"github.com/servebench/servebench/metrics/record"
)

// chats are the records of a shard's sessions: each has two turns, the second 300 ms after the first
// had ended, and takes 800 ms. Their times are on the shard's clock, which began that much later.
func chats(shard int, later time.Duration) (records []*record.Record) {
	for i := range 4 {
		due := time.Duration(2*i+shard)*100*msec - later
		for turn := range 2 {
			r := arrived(record.Record{
				Run: "r", Index: 2*i + shard, Turn: turn, Attempts: 1,
				Session: &record.Turn{Turns: 2, Ready: due, SessionSlot: time.Duration(2*i+shard)*100*msec - later}, Times: record.Times{Due: due, Slot: due, Sent: due, End: due + 250*msec}, Tokens: record.Tokens{In: 100, InAsked: 100, Out: 1, OutAsked: 1}, Result: record.Result{Status: 200},
			}, metrics.Milliseconds(due+200*msec))
			if turn > 0 {
				r.Session.Waits, r.Session.Gap, r.Session.Ready = []int{0}, 300*msec, due-300*msec
			}
			records = append(records, r)
			due += 550 * msec
		}
	}
	return records
}

// Sessions of two shards are the sessions of one run on one clock.
func TestSessionsOfShardsAddUp(t *testing.T) {
	var files [2]bytes.Buffer
	for shard := range files {
		later := time.Duration(shard) * 50 * msec
		h := testHeader("r")
		h.Shards, h.Shard, h.StartAt = 2, shard, h.Epoch
		h.Epoch = h.Epoch.Add(later)
		c := aspect.Collector(h)
		sw := NewWriter(&files[shard])
		err := sw.Begin(h)
		for _, r := range chats(shard, later) {
			c.Add(r)
			err = errors.Join(err, sw.Write(r))
		}
		if err := errors.Join(err, sw.End(c.Summary(2))); err != nil {
			t.Fatal(err)
		}
	}
	sums, err := Read(bytes.NewReader(slices.Concat(files[1].Bytes(), files[0].Bytes())), metrics.Ask{})
	if err != nil || len(sums) != 1 || sessions.Of(sums[0]) == nil {
		t.Fatalf("%d runs, %v", len(sums), err)
	}
	s := sessions.Of(sums[0])
	want := sessions.JobParts{Think: 8 * 300 * msec, Prefill: 16 * 200 * msec, Decode: 16 * 50 * msec}
	if s.Begun != 8 || s.Completed != 8 || s.Parts != want || s.JobTime.Len() != 8 || len(s.Rows) != 2 || s.Later.Turns != 8 {
		t.Errorf("%+v", s)
	}
	// One begins every 100 ms, and each takes 800 ms.
	if s.PeakInFlight != 8 || math.Abs(s.MeanInFlight-6.4/2.05) > 1e-12 {
		t.Errorf("%v in flight, at most %d", s.MeanInFlight, s.PeakInFlight)
	}
	if got := sessions.Scheduled(sums[0]); got != max(sums[0].Header.Config.NumPrompts, 0) {
		t.Errorf("%d sessions scheduled", got)
	}
}
