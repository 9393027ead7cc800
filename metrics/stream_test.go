package metrics

import (
	"bytes"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"
)

func testHeader(run string) *Header {
	return &Header{
		Run: run, Epoch: time.Date(2026, 11, 20, 12, 0, 0, 5, time.UTC), ClockOffset: time.Millisecond, Version: "test",
		Config: Config{
			Backend: "openai-chat", Model: "org/model", Tokenizer: "tok", Dataset: "random", Seed: 7, NumPrompts: 3,
			RequestRate: math.Inf(1), Burstiness: 1, MaxConcurrency: 4, RampUp: &RampUp{"linear", 1, 5},
			Metadata: []KV{{"z", "1"}, {"a", "ü\"<"}}, Goodput: []SLO{{"ttft", 200}, {"e2el", math.Inf(1)}},
			Metrics: []string{"ttft", "tpot", "itl", "e2el"}, Percentiles: []float64{50, 99.9},
		},
	}
}

// testRecord is a request of so many chunks, sent at the i-th second.
func testRecord(run string, i, chunks int) *Record {
	r := &Record{
		Run: run, ID: fmt.Sprintf("bench-%d", i), Index: i, Attempts: 1, Status: 200, Finish: "length",
		Due: time.Duration(i) * time.Second, In: 10, InAsked: 9, Out: chunks, OutAsked: chunks,
		Conn: Conn{New: true, Connect: 300 * time.Microsecond}, Text: strings.Repeat(`wörd "x" `, chunks),
	}
	r.Slot, r.Sent = r.Due+time.Millisecond, r.Due+2*time.Millisecond
	at := r.Sent
	for j := range chunks {
		at += time.Duration(10+j%7) * time.Millisecond
		r.Chunks.Append(at)
	}
	r.FirstByte, r.FirstContent, r.Last, r.End = r.Chunks.First(), r.Chunks.First(), at, at+time.Millisecond
	return r
}

// writeRun writes a whole run and gives its summary.
func writeRun(t *testing.T, sw *StreamWriter, h *Header, records ...*Record) *Summary {
	t.Helper()
	c := NewCollector(h)
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

func readAll(t *testing.T, data []byte) ([]Entry, *StreamReader) {
	t.Helper()
	sr := NewStreamReader(bytes.NewReader(data))
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
	failed := &Record{Run: "r", Index: 9, Sent: time.Second, End: 2 * time.Second, Status: 503, Class: Status, Error: "no\nroom"}
	records := []*Record{testRecord("r", 0, 1), testRecord("r", 1, 500), failed}
	for _, maxLine := range []int{0, PipeLine, 200} {
		var buf bytes.Buffer
		sw := NewStreamWriter(&buf)
		sw.MaxLine = maxLine
		h := testHeader("r")
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
		for _, m := range Metrics {
			hist, err := end.histogram(m.Name)
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
	sw := NewStreamWriter(&w)
	sw.MaxLine = PipeLine
	writeRun(t, sw, testHeader("r"), testRecord("r", 0, 2000))
	if lines := bytes.Count(w.Bytes(), []byte("\n")); w.calls != lines || lines < 5 {
		t.Errorf("%d writes for %d lines", w.calls, lines)
	}
}

func TestChunksTakeFewBytes(t *testing.T) {
	var full, short bytes.Buffer
	r := testRecord("r", 0, 10_000)
	r.Text = ""
	if err := NewStreamWriter(&full).Write(r); err != nil {
		t.Fatal(err)
	}
	sw := NewStreamWriter(&short)
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
	if r.Chunks.gapless() {
		t.Error("writing changed the record")
	}
}

// interleave takes lines in turn from each stream.
func interleave(streams ...[]byte) []byte {
	var out []byte
	var lines [][][]byte
	for _, s := range streams {
		lines = append(lines, bytes.SplitAfter(s, []byte("\n")))
	}
	for more := true; more; {
		more = false
		for i := range lines {
			if len(lines[i]) > 0 {
				out = append(out, lines[i][0]...)
				lines[i], more = lines[i][1:], true
			}
		}
	}
	return out
}

func TestInterleavedRunsComeApart(t *testing.T) {
	var a, b bytes.Buffer
	swA, swB := NewStreamWriter(&a), NewStreamWriter(&b)
	swA.MaxLine, swB.MaxLine = 300, PipeLine
	wantA := writeRun(t, swA, testHeader("a"), testRecord("a", 0, 50), testRecord("a", 1, 60))
	wantB := writeRun(t, swB, testHeader("b"), testRecord("b", 0, 70))
	for name, data := range map[string][]byte{
		"one after the other": append(bytes.Clone(a.Bytes()), b.Bytes()...),
		"in turn":             interleave(a.Bytes(), b.Bytes()),
	} {
		sums, err := ReadStream(bytes.NewReader(data), Ask{})
		if err != nil || len(sums) != 2 {
			t.Fatalf("%s: %d runs, %v", name, len(sums), err)
		}
		for i, want := range []*Summary{wantA, wantB} {
			got := sums[i]
			if got.Header.Run != want.Header.Run || got.TotalOutput != want.TotalOutput ||
				got.ITL.Percentile(99) != want.ITL.Percentile(99) || got.PeakOutput != want.PeakOutput ||
				got.Lag.Mean() != want.Lag.Mean() || got.RequestThroughput != want.RequestThroughput || len(got.Warnings) != 0 {
				t.Errorf("%s: run %d is not %s", name, i, want.Header.Run)
			}
		}
	}
}

func TestShardsMergeOnOneClock(t *testing.T) {
	whole := testHeader("r")
	c := NewCollector(whole)
	var cat bytes.Buffer
	for shard := range 2 {
		h := testHeader("r")
		h.Shard, h.Shards = shard, 2
		// The second shard's machine is 30 s ahead, and it began one second later.
		behind := time.Duration(shard) * time.Second
		h.ClockOffset += time.Duration(shard) * 30 * time.Second
		h.Epoch = h.Epoch.Add(behind + time.Duration(shard)*30*time.Second)
		r := testRecord("r", shard, 20)
		writeRun(t, NewStreamWriter(&cat), h, r)
		c.Add(testRecord("r", 2*shard, 20)) // sent a second later than record 1
	}
	want := c.Summary(13.5)
	sums, err := ReadStream(&cat, Ask{})
	if err != nil || len(sums) != 1 {
		t.Fatalf("%d runs, %v", len(sums), err)
	}
	got := sums[0]
	if got.Seconds != 13.5 || got.Completed != 2 || got.PeakConcurrent != want.PeakConcurrent ||
		got.PeakOutput != want.PeakOutput || got.TTFT.Mean() != want.TTFT.Mean() || len(got.Warnings) != 0 {
		t.Errorf("%v s, %d completed, peaks %d and %v; want those of one run", got.Seconds, got.Completed, got.PeakConcurrent, got.PeakOutput)
	}
}

func TestWithoutChunksITLComesFromTheHistogram(t *testing.T) {
	var buf bytes.Buffer
	sw := NewStreamWriter(&buf)
	sw.NoChunks = true
	want := writeRun(t, sw, testHeader("r"), testRecord("r", 0, 50), testRecord("r", 1, 60))
	sums, err := ReadStream(bytes.NewReader(buf.Bytes()), Ask{})
	if err != nil || len(sums) != 1 {
		t.Fatalf("%d runs, %v", len(sums), err)
	}
	got := sums[0]
	if got.TTFT.Mean() != want.TTFT.Mean() || got.TPOT.Mean() != want.TPOT.Mean() || got.E2EL.Std() != want.E2EL.Std() {
		t.Error("TTFT, TPOT or E2EL differ")
	}
	if !got.ITL.Approximate() || math.Abs(got.ITL.Mean()-want.ITL.Mean()) > 0.01*want.ITL.Mean() {
		t.Errorf("ITL mean %v, want about %v", got.ITL.Mean(), want.ITL.Mean())
	}
	if !strings.Contains(strings.Join(got.Warnings, "\n"), "itl is approximate") {
		t.Errorf("warnings %q", got.Warnings)
	}

	cut := buf.Bytes()[:bytes.LastIndexByte(buf.Bytes()[:buf.Len()-1], '\n')+1]
	sums, err = ReadStream(bytes.NewReader(cut), Ask{})
	if err != nil || !math.IsNaN(sums[0].ITL.Mean()) {
		t.Errorf("without an end: ITL mean %v, %v", sums[0].ITL.Mean(), err)
	}
}

func TestCutStreamIsReadAndSaysSo(t *testing.T) {
	var buf bytes.Buffer
	writeRun(t, NewStreamWriter(&buf), testHeader("r"), testRecord("r", 0, 5), testRecord("r", 1, 5))
	lines := bytes.SplitAfter(buf.Bytes(), []byte("\n"))
	torn := bytes.Join([][]byte{[]byte("srun: a line of somebody else\n"), lines[0], lines[1], lines[2][:len(lines[2])/2]}, nil)

	_, sr := readAll(t, torn)
	if sr.Skipped != 1 || sr.Damaged != 1 {
		t.Errorf("%d skipped, %d damaged", sr.Skipped, sr.Damaged)
	}
	sums, err := ReadStream(bytes.NewReader(torn), Ask{})
	if err != nil || len(sums) != 1 {
		t.Fatalf("%d runs, %v", len(sums), err)
	}
	warnings := strings.Join(sums[0].Warnings, "\n")
	if sums[0].Completed != 1 || !strings.Contains(warnings, "was cut") || !strings.Contains(warnings, "torn") {
		t.Errorf("%d completed, warnings %q", sums[0].Completed, warnings)
	}
	if want := testRecord("r", 0, 5).End.Seconds(); sums[0].Seconds != want {
		t.Errorf("%v s, want %v", sums[0].Seconds, want)
	}
}

func TestUnknownKindsAreSkippedAndVersionsRefused(t *testing.T) {
	entries, sr := readAll(t, []byte(`{"v":1,"k":"weather","run":"r"}`+"\n"))
	if len(entries) != 0 || sr.Skipped != 0 || sr.Damaged != 0 {
		t.Errorf("unknown kind: %v", entries)
	}
	_, err := ReadStream(strings.NewReader(`{"v":2,"k":"req","run":"r"}`), Ask{})
	if err == nil || !strings.Contains(err.Error(), "version 2") {
		t.Errorf("unknown version: %v", err)
	}
}

func FuzzReadStream(f *testing.F) {
	for _, limit := range []int{0, 150} {
		var buf bytes.Buffer
		sw := NewStreamWriter(&buf)
		sw.MaxLine = limit
		h := testHeader("r")
		c := NewCollector(h)
		r := testRecord("r", 0, 3)
		c.Add(r)
		for _, err := range []error{sw.Begin(h), sw.Write(r), sw.End(c.Summary(2))} {
			if err != nil {
				f.Fatal(err)
			}
		}
		f.Add(buf.Bytes())
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		sums, err := ReadStream(bytes.NewReader(data), Ask{})
		if err != nil {
			return
		}
		for _, s := range sums {
			if s.ITL.Len() > 0 && math.IsNaN(s.ITL.Median()) {
				t.Errorf("NaN from %d values", s.ITL.Len())
			}
		}
	})
}
