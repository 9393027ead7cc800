package stream

import (
	"bytes"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect"
	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/verdict"
)

func testHeader(run string) *metrics.Header {
	return &metrics.Header{
		Run: run, Epoch: time.Date(2026, 11, 20, 12, 0, 0, 5, time.UTC), ClockOffset: time.Millisecond, Version: "test", Definitions: record.Latest,
		Config: metrics.Config{
			Backend: "openai-chat", Model: "org/model", Tokenizer: "tok", Dataset: "random", Seed: 7, NumPrompts: 3,
			RequestRate: math.Inf(1), Burstiness: 1, MaxConcurrency: 4, RampUp: &metrics.RampUp{Strategy: "linear", Start: 1, End: 5},
			Metadata: []metrics.KV{{Key: "z", Value: "1"}, {Key: "a", Value: "ü\"<"}}, Goodput: []metrics.SLO{{Metric: "ttft", Limit: 200}, {Metric: "e2el", Limit: math.Inf(1)}},
			Metrics: []string{"ttft", "tpot", "itl", "e2el"}, Percentiles: []float64{50, 99.9},
		},
	}
}

// testRecord is a request of so many chunks, sent at the i-th second.
func testRecord(run string, i, chunks int) *record.Record {
	r := &record.Record{
		Run: run, ID: fmt.Sprintf("bench-%d", i), Index: i, Attempts: 1,
		Conn: record.Conn{New: true, Connect: 300 * time.Microsecond}, Result: record.Result{Status: 200}, Answer: record.Answer{Finish: "length", Text: strings.Repeat(`wörd "x" `, chunks)},
		Times: record.Times{Due: time.Duration(i) * time.Second}, Tokens: record.Tokens{In: 10, InAsked: 9, Out: chunks, OutAsked: chunks},
	}
	r.Times.Slot, r.Times.Sent = r.Times.Due+time.Millisecond, r.Times.Due+2*time.Millisecond
	at := r.Times.Sent
	for j := range chunks {
		at += time.Duration(10+j%7) * time.Millisecond
		r.Answer.Chunks.Append(at)
	}
	r.Times.FirstByte, r.Times.FirstContent, r.Times.Last, r.Times.End = r.Answer.Chunks.First(), r.Answer.Chunks.First(), at, at+time.Millisecond
	return r
}

// writeRun writes a whole run and gives its summary.
func writeRun(t *testing.T, sw *Writer, h *metrics.Header, records ...*record.Record) *metrics.Summary {
	t.Helper()
	c := aspect.Collector(h)
	if err := sw.Begin(h); err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		c.Add(r)
		if err := sw.Write(r); err != nil {
			t.Fatal(err)
		}
	}
	s := c.Summary(12.5)
	if err := sw.End(s); err != nil {
		t.Fatal(err)
	}
	return s
}

func readAll(t *testing.T, data []byte) ([]Entry, *Reader) {
	t.Helper()
	sr := NewReader(bytes.NewReader(data))
	var entries []Entry
	for e, err := range sr.Entries() {
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, e)
	}
	return entries, sr
}

func TestStreamKeepsEverything(t *testing.T) {
	failed := &record.Record{Run: "r", Index: 9, Times: record.Times{Sent: time.Second, End: 2 * time.Second}, Result: record.Result{Status: 503, Class: record.Status, Error: "no\nroom"}}
	records := []*record.Record{testRecord("r", 0, 1), testRecord("r", 1, 500), failed}
	queue, ttft := 0.25, 12.5
	records[1].Answer.Late.Add(3, 4*time.Millisecond)
	records[0].Server, records[1].Server = &record.ServerTimes{TTFTMS: &ttft}, &record.ServerTimes{QueueMS: &queue, TTFTMS: &ttft}
	for _, maxLine := range []int{0, PipeLine, 200} {
		var buf bytes.Buffer
		sw := NewWriter(&buf)
		sw.MaxLine = maxLine
		h := testHeader("r")
		h.Server = &metrics.ServerStart{ID: "s", By: "listener", Began: time.Unix(1700000000, 5000).UTC(), PID: 7, Version: "0.33.0"}
		s := writeRun(t, sw, h, records...)
		for line := range bytes.Lines(buf.Bytes()) {
			if maxLine > 0 && len(line) > maxLine {
				t.Errorf("limit %d: a line of %d bytes", maxLine, len(line))
			}
		}
		entries, sr := readAll(t, buf.Bytes())
		if sr.Skipped != 0 || sr.Damaged != 0 || len(entries) != 5 {
			t.Fatalf("limit %d: %d entries, %d skipped, %d damaged", maxLine, len(entries), sr.Skipped, sr.Damaged)
		}
		if !reflect.DeepEqual(entries[0].Header, h) {
			t.Errorf("limit %d: header\n%+v\nwant\n%+v", maxLine, entries[0].Header, h)
		}
		for i, want := range records {
			if !reflect.DeepEqual(entries[i+1].Record, want) {
				t.Errorf("limit %d: record\n%+v\nwant\n%+v", maxLine, entries[i+1].Record, want)
			}
		}
		end := entries[4].End
		if end.Seconds != 12.5 || end.Completed != 2 || end.Failed != 1 {
			t.Errorf("limit %d: end %+v", maxLine, end)
		}
		for _, m := range metrics.Metrics {
			hist, err := hdrhistogram.Decode([]byte(end.Histograms[m.Name]))
			if err != nil || hist == nil || !hist.Equals(m.Of(s).Histogram()) {
				t.Errorf("limit %d: histogram of %s: %v, %v", maxLine, m.Name, hist, err)
			}
		}
	}
}

// A callCounter counts calls of Write.
type callCounter struct {
	bytes.Buffer
	calls int
}

func (c *callCounter) Write(p []byte) (int, error) {
	c.calls++
	return c.Buffer.Write(p)
}

func TestEveryLineIsOneWrite(t *testing.T) {
	var w callCounter
	sw := NewWriter(&w)
	sw.MaxLine = PipeLine
	writeRun(t, sw, testHeader("r"), testRecord("r", 0, 2000))
	if lines := bytes.Count(w.Bytes(), []byte("\n")); w.calls != lines || lines < 5 {
		t.Errorf("%d writes for %d lines", w.calls, lines)
	}
}

func TestChunksTakeFewBytes(t *testing.T) {
	var full, short bytes.Buffer
	r := testRecord("r", 0, 10_000)
	r.Answer.Text = ""
	if err := NewWriter(&full).Write(r); err != nil {
		t.Fatal(err)
	}
	sw := NewWriter(&short)
	sw.NoChunks = true
	if err := sw.Write(r); err != nil {
		t.Fatal(err)
	}
	if perToken := full.Len() / 10_000; perToken > 9 {
		t.Errorf("%d bytes a token", perToken)
	}
	if short.Len() > 500 {
		t.Errorf("%d bytes without chunks", short.Len())
	}
	if r.Answer.Chunks.Gapless() {
		t.Error("writing changed the record")
	}
}

func TestUnknownKindsAreSkippedAndVersionsRefused(t *testing.T) {
	entries, sr := readAll(t, []byte(`{"v":3,"k":"weather","run":"r"}`+"\n"))
	if len(entries) != 0 || sr.Skipped != 0 || sr.Damaged != 0 {
		t.Errorf("unknown kind: %v", entries)
	}
	for _, v := range []int{1, 2, 4} {
		_, err := Read(strings.NewReader(fmt.Sprintf(`{"v":%d,"k":"req","run":"r"}`, v)), metrics.Ask{})
		want := fmt.Sprintf("version %d: this program reads version 3 only: read it with the servebench that wrote it", v)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("version %d: %v", v, err)
		}
	}
}

func FuzzReadStream(f *testing.F) {
	for _, limit := range []int{0, 150} {
		var buf bytes.Buffer
		sw := NewWriter(&buf)
		sw.MaxLine = limit
		h := testHeader("r")
		c := aspect.Collector(h)
		r := testRecord("r", 0, 3)
		r.Tokens.PerChunk = []int{0, 1, 2}
		r.Session = &record.Turn{ID: "a", Turns: 2, Waits: []int{0}, Gap: msec, At: new(msec), Took: msec, History: 7, Reusable: 5}
		c.Add(r)
		whole := *r
		whole.Index, whole.Session = 1, &record.Turn{Turns: 1}
		c.Add(&whole)
		s := c.Summary(2)
		noticed(s, 0)
		for _, err := range []error{sw.Begin(h), sw.Write(r), sw.Write(&whole), sw.End(s)} {
			if err != nil {
				f.Fatal(err)
			}
		}
		f.Add(buf.Bytes())
		buf.Reset()
		h.Shards, h.Shard, h.StartAt, h.Host, h.ClockError = 2, 1, h.Epoch, "n", 1
		c = aspect.Collector(h)
		c.Add(r)
		for _, err := range []error{sw.Begin(h), sw.Write(r), sw.End(c.Summary(2))} {
			if err != nil {
				f.Fatal(err)
			}
		}
		f.Add(slices.Concat(buf.Bytes(), bytes.ReplaceAll(buf.Bytes(), []byte(`,"s":1`), nil)))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		sums, err := Read(bytes.NewReader(data), metrics.Ask{})
		if err != nil {
			return
		}
		for _, s := range sums {
			if s.ITL.Len() > 0 && math.IsNaN(s.ITL.Median()) {
				t.Errorf("NaN from %d values", s.ITL.Len())
			}
			if (s.Trust == nil) != (s.Truth == nil) || s.Trust != nil && (s.Trust.Verdict == verdict.Valid) != (len(s.Trust.Failed()) == 0) {
				t.Errorf("trust %+v", s.Trust)
			}
		}
	})
}
