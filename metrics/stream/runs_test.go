package stream

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect"
	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/slicing"
)

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
	swA, swB := NewWriter(&a), NewWriter(&b)
	swA.MaxLine, swB.MaxLine = 300, PipeLine
	wantA := writeRun(t, swA, testHeader("a"), testRecord("a", 0, 50), testRecord("a", 1, 60))
	wantB := writeRun(t, swB, testHeader("b"), testRecord("b", 0, 70))
	for name, data := range map[string][]byte{
		"one after the other": append(bytes.Clone(a.Bytes()), b.Bytes()...),
		"in turn":             interleave(a.Bytes(), b.Bytes()),
	} {
		sums, err := Read(bytes.NewReader(data), metrics.Ask{})
		if err != nil || len(sums) != 2 {
			t.Fatalf("%s: %d runs, %v", name, len(sums), err)
		}
		for i, want := range []*metrics.Summary{wantA, wantB} {
			got := sums[i]
			if got.Header.Run != want.Header.Run || got.Totals.Output != want.Totals.Output ||
				got.ITL.Percentile(99) != want.ITL.Percentile(99) || got.Rates.PeakOutput != want.Rates.PeakOutput ||
				got.Client.Lag.Mean() != want.Client.Lag.Mean() || got.Rates.Requests != want.Rates.Requests || len(got.Ending.Warnings) != 0 {
				t.Errorf("%s: run %d is not %s", name, i, want.Header.Run)
			}
		}
	}
}

func TestShardsMergeOnOneClock(t *testing.T) {
	whole := testHeader("r")
	c := aspect.Collector(whole)
	var cat bytes.Buffer
	for shard := range 2 {
		h := testHeader("r")
		h.Shard, h.Shards = shard, 2
		// The second shard's machine is 30 s ahead, and it began one second later.
		behind := time.Duration(shard) * time.Second
		h.ClockOffset += time.Duration(shard) * 30 * time.Second
		h.Epoch = h.Epoch.Add(behind + time.Duration(shard)*30*time.Second)
		r := testRecord("r", shard, 20)
		writeRun(t, NewWriter(&cat), h, r)
		c.Add(testRecord("r", 2*shard, 20)) // sent a second later than record 1
	}
	want := c.Summary(13.5)
	sums, err := Read(&cat, metrics.Ask{})
	if err != nil || len(sums) != 1 {
		t.Fatalf("%d runs, %v", len(sums), err)
	}
	got := sums[0]
	if got.When.Seconds != 13.5 || got.Completed != 2 || got.Rates.PeakConcurrent != want.Rates.PeakConcurrent ||
		got.Rates.PeakOutput != want.Rates.PeakOutput || got.TTFT.Mean() != want.TTFT.Mean() || len(got.Ending.Warnings) != 0 {
		t.Errorf("%v s, %d completed, peaks %d and %v; want those of one run", got.When.Seconds, got.Completed, got.Rates.PeakConcurrent, got.Rates.PeakOutput)
	}
}

func TestSecondsCountFromTheHandover(t *testing.T) {
	warm := testRecord("r", 0, 500) // it ends after the measured one
	warm.Phase = record.WarmUp
	var shards, single bytes.Buffer
	for shard := range 2 {
		h := testHeader("r")
		h.Shard, h.Shards, h.WarmUp = shard, 2, 1500*time.Millisecond
		h.Epoch = h.Epoch.Add(time.Duration(shard) * time.Second)
		writeRun(t, NewWriter(&shards), h, warm, testRecord("r", 2+shard, 20))
	}
	h := testHeader("r")
	h.WarmUp = 1500 * time.Millisecond
	s := writeRun(t, NewWriter(&single), h, warm, testRecord("r", 2, 20))
	cut := single.Bytes()[:bytes.LastIndexByte(single.Bytes()[:single.Len()-1], '\n')+1]
	ended := (testRecord("r", 2, 20).Times.End - h.WarmUp).Seconds()
	for name, test := range map[string]struct {
		stream  []byte
		seconds float64
		date    time.Duration // from the start
		n       int
	}{
		"whole":      {single.Bytes(), 12.5, 14 * time.Second, 1},
		"cut":        {cut, ended, testRecord("r", 2, 20).Times.End, 1},
		"two shards": {shards.Bytes(), 13.5, 15 * time.Second, 2},
	} {
		sums, err := Read(bytes.NewReader(test.stream), metrics.Ask{})
		if err != nil || len(sums) != 1 {
			t.Fatalf("%s: %d runs, %v", name, len(sums), err)
		}
		got := sums[0]
		if math.Abs(got.When.Seconds-test.seconds) > 1e-9 || got.Completed != test.n || !got.When.Date.Equal(h.Epoch.Add(test.date)) {
			t.Errorf("%s: %v s, %d completed, ended at %v; want %v s, %d, %v", name, got.When.Seconds, got.Completed, got.When.Date, test.seconds, test.n, h.Epoch.Add(test.date))
		}
	}
	if want := h.Epoch.Add(14 * time.Second); !s.When.Date.Equal(want) {
		t.Errorf("the run itself ended at %v, want %v", s.When.Date, want)
	}
}

func TestWithoutChunksITLComesFromTheHistogram(t *testing.T) {
	var buf bytes.Buffer
	sw := NewWriter(&buf)
	sw.NoChunks = true
	want := writeRun(t, sw, testHeader("r"), testRecord("r", 0, 50), testRecord("r", 1, 60))
	sums, err := Read(bytes.NewReader(buf.Bytes()), metrics.Ask{})
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
	if !strings.Contains(strings.Join(got.Ending.Warnings, "\n"), "not all values: itl, peak output") {
		t.Errorf("warnings %q", got.Ending.Warnings)
	}

	cut := buf.Bytes()[:bytes.LastIndexByte(buf.Bytes()[:buf.Len()-1], '\n')+1]
	sums, err = Read(bytes.NewReader(cut), metrics.Ask{})
	if err != nil || !math.IsNaN(sums[0].ITL.Mean()) {
		t.Errorf("without an end: ITL mean %v, %v", sums[0].ITL.Mean(), err)
	}
}

func TestCutStreamIsReadAndSaysSo(t *testing.T) {
	var buf bytes.Buffer
	writeRun(t, NewWriter(&buf), testHeader("r"), testRecord("r", 0, 5), testRecord("r", 1, 5))
	lines := bytes.SplitAfter(buf.Bytes(), []byte("\n"))
	torn := bytes.Join([][]byte{[]byte("srun: a line of somebody else\n"), lines[0], lines[1], lines[2][:len(lines[2])/2]}, nil)

	_, sr := readAll(t, torn)
	if sr.Skipped != 1 || sr.Damaged != 1 {
		t.Errorf("%d skipped, %d damaged", sr.Skipped, sr.Damaged)
	}
	sums, err := Read(bytes.NewReader(torn), metrics.Ask{})
	if err != nil || len(sums) != 1 {
		t.Fatalf("%d runs, %v", len(sums), err)
	}
	warnings := strings.Join(sums[0].Ending.Warnings, "\n")
	if sums[0].Completed != 1 || !strings.Contains(warnings, "was cut") || !strings.Contains(warnings, "torn") {
		t.Errorf("%d completed, warnings %q", sums[0].Completed, warnings)
	}
	if want := testRecord("r", 0, 5).Times.End.Seconds(); sums[0].When.Seconds != want {
		t.Errorf("%v s, want %v", sums[0].When.Seconds, want)
	}
}

// A cut stream says how much of the run it has, if the run line says how much that was.
func TestACutStreamSaysHowMuchIsThere(t *testing.T) {
	const cut = "run r was cut: it has no end line, so its duration ends with the last request"
	for name, test := range map[string]struct {
		set  func(*metrics.Header, *record.Record)
		want string
	}{
		"by requests":   {func(*metrics.Header, *record.Record) {}, cut + "; 2 of 3 requests are in the file"},
		"by time":       {func(h *metrics.Header, _ *record.Record) { h.Config.Duration = 60 }, cut},
		"all there are": {func(h *metrics.Header, _ *record.Record) { h.Config.NumPrompts = 0 }, cut},
		"short dataset": {func(h *metrics.Header, _ *record.Record) {
			h.Config.Traits.Fewer = true
		}, cut},
		"conversations": {func(_ *metrics.Header, second *record.Record) { second.Turn = 1 }, cut},
	} {
		var buf bytes.Buffer
		h, second := testHeader("r"), testRecord("r", 1, 5)
		test.set(h, second)
		writeRun(t, NewWriter(&buf), h, testRecord("r", 0, 5), second)
		s := readOne(t, bytes.Join(bytes.SplitAfter(buf.Bytes(), []byte("\n"))[:3], nil))
		if !slices.Equal(s.Ending.Incomplete, []string{test.want}) {
			t.Errorf("%s: %q, want %q", name, s.Ending.Incomplete, test.want)
		}
	}
}

// recorded is the stream of a run "r" of so many requests, by lines.
func recorded(t *testing.T, n int) [][]byte {
	t.Helper()
	var buf bytes.Buffer
	var records []*record.Record
	for i := range n {
		records = append(records, testRecord("r", i, 3))
	}
	sw := NewWriter(&buf)
	sw.MaxLine = 560 // the end line takes two
	writeRun(t, sw, testHeader("r"), records...)
	return slices.Collect(bytes.Lines(buf.Bytes()))
}

func TestWhatAStreamLostOrRepeatsIsSaid(t *testing.T) {
	lines := recorded(t, 4)
	warmUp := testRecord("r", 0, 3)
	warmUp.Phase = record.WarmUp
	var rehearsed bytes.Buffer
	sw := NewWriter(&rehearsed)
	sw.head = lineHead{V: streamVersion, Run: "r"}
	if err := sw.Write(warmUp); err != nil {
		t.Fatal(err)
	}
	foreign := []byte("a banner\n\n")
	toStdout := bytes.Replace(lines[0], []byte(`"config":{`), []byte(`"config":{"traits":{"piped":true},`), 1)
	for name, c := range map[string]struct {
		lines     [][]byte
		completed int
		warnings  []string
	}{
		"whole":               {lines, 4, nil},
		"a line lost":         {slices.Delete(slices.Clone(lines), 2, 3), 3, []string{"run r counts 4 requests in its end line, but the stream holds 3"}},
		"a line torn":         {slices.Replace(slices.Clone(lines), 2, 3, lines[2][:99], []byte("\n")), 3, []string{"run r counts 4 requests in its end line, but the stream holds 3", "left out 1 torn or damaged line of the stream: line 3"}},
		"twice":               {slices.Concat(lines, lines), 4, []string{"ignored 6 lines that the stream repeats"}},
		"once cut, once not":  {slices.Concat(lines[:2], lines), 4, []string{"ignored 2 lines that the stream repeats"}},
		"once cut in the end": {slices.Concat(lines[:6], lines), 4, []string{"left out 1 torn or damaged line of the stream: line 6", "ignored 5 lines that the stream repeats"}},
		"a line twice":        {slices.Insert(slices.Clone(lines), 2, lines[1]), 4, []string{"ignored 1 line that the stream repeats"}},
		"backwards":           {backwards(lines), 4, nil},
		"with a warm-up":      {slices.Insert(slices.Clone(lines), 1, rehearsed.Bytes()), 4, nil},
		"with a line between": {slices.Insert(slices.Clone(lines), 1, foreign), 4, []string{"skipped 1 line of other programs in the stream"}},
		"a log":               {slices.Concat([][]byte{toStdout, foreign}, lines[1:]), 4, nil},
		"without requests":    {slices.Delete(slices.Clone(lines), 1, 5), 0, []string{"run r counts 4 requests in its end line, but the stream holds 0"}},
		"with a pod's name":   {behind("[pod/a-0-x/a] 2026-11-22T02:15:00.5Z ", lines), 4, nil},
		"twice, by two tasks": {slices.Concat(behind("0: ", lines), behind("1: ", lines)), 4, []string{"ignored 6 lines that the stream repeats"}},
		"quoted in a text":    {slices.Insert(slices.Clone(lines), 1, []byte(`{"log":"{\"v\":2,\"k\":\"req\"}","x":{"v":2}}`+"\n")), 4, []string{"skipped 1 line of other programs in the stream"}},
		"another end":         {append(slices.Clone(lines), recorded(t, 3)[4:]...), 4, []string{"run r has run or end lines that differ: the first of each counts"}},
	} {
		sums, err := Read(bytes.NewReader(slices.Concat(c.lines...)), metrics.Ask{})
		if err != nil || len(sums) != 1 {
			t.Fatalf("%s: %d runs, %v", name, len(sums), err)
		}
		if s := sums[0]; s.Completed != c.completed || s.When.Seconds != 12.5 || !slices.Equal(s.Ending.Warnings, c.warnings) {
			t.Errorf("%s: %d completed in %v s, warnings %q; want %d, %q", name, s.Completed, s.When.Seconds, s.Ending.Warnings, c.completed, c.warnings)
		}
	}
}

// behind puts what another program has to say before each line.
func behind(prefix string, lines [][]byte) [][]byte {
	var out [][]byte
	for _, line := range lines {
		out = append(out, slices.Concat([]byte(prefix), line))
	}
	return out
}

// backwards puts the records of a stream in the opposite order.
func backwards(lines [][]byte) [][]byte {
	lines = slices.Clone(lines)
	slices.Reverse(lines[1:5])
	return lines
}

func TestMissingShardsAreCounted(t *testing.T) {
	var buf bytes.Buffer
	h := testHeader("r")
	h.Shards = 2
	writeRun(t, NewWriter(&buf), h, testRecord("r", 0, 5))
	sums, err := Read(&buf, metrics.Ask{})
	if err != nil || len(sums) != 1 || !slices.Equal(sums[0].Ending.Warnings, []string{"run r: the files lack shard 1 of 2"}) {
		t.Errorf("%v, %v", sums, err)
	}
}

func TestARunWithoutARunLineClaimsNoConfiguration(t *testing.T) {
	sums, err := Read(bytes.NewReader(slices.Concat(recorded(t, 2)[1:]...)), metrics.Ask{})
	if err != nil || len(sums) != 1 {
		t.Fatalf("%d runs, %v", len(sums), err)
	}
	c := sums[0].Header.Config
	if c.NumPrompts != -1 || !math.IsNaN(c.RequestRate) || !math.IsNaN(c.Burstiness) || !sums[0].When.Date.IsZero() {
		t.Errorf("%+v, ended %v", c, sums[0].When.Date)
	}
	if want := []string{"run r has no run line, so its parameters are unknown"}; !slices.Equal(sums[0].Ending.Warnings, want) {
		t.Errorf("warnings %q", sums[0].Ending.Warnings)
	}
}

func TestAStreamKeepsTheRisesBeforeTheEnd(t *testing.T) {
	h := testHeader("r")
	var buf bytes.Buffer
	sw := NewWriter(&buf)
	s := aspect.Collector(h).Summary(2)
	for i := range 4 {
		s.Printed.RateChanges = append(s.Printed.RateChanges, metrics.RateChange{RPS: i + 1, At: h.Epoch.Add(time.Duration(i) * time.Second)})
	}
	if err := sw.Begin(h); err != nil {
		t.Fatal(err)
	}
	if err := sw.End(s); err != nil {
		t.Fatal(err)
	}
	sums, err := Read(&buf, metrics.Ask{})
	if err != nil || len(sums) != 1 || len(sums[0].Printed.RateChanges) != 3 || len(sums[0].Reached()) != 3 {
		t.Errorf("%+v, %v", sums, err)
	}
}

func TestAStreamSaysWhatStoppedTheRun(t *testing.T) {
	var buf bytes.Buffer
	h := testHeader("r")
	sw, c := NewWriter(&buf), aspect.Collector(h)
	if err := sw.Begin(h); err != nil {
		t.Fatal(err)
	}
	s := c.Summary(1)
	s.Ending.Interrupted, s.Ending.StoppedBy = true, "a rule"
	if err := sw.End(s); err != nil {
		t.Fatal(err)
	}
	if got := readOne(t, buf.Bytes()); !got.Ending.Interrupted || got.Ending.StoppedBy != "a rule" {
		t.Errorf("interrupted: %v, stopped: %q", got.Ending.Interrupted, got.Ending.StoppedBy)
	}
}

func TestAStreamsAnswerBeforeItsRequestIsRefusedOnce(t *testing.T) {
	h := &metrics.Header{Run: "r"}
	var b bytes.Buffer
	w, c := NewWriter(&b), aspect.Collector(h)
	if err := w.Begin(h); err != nil {
		t.Fatal(err)
	}
	for _, r := range premature() {
		if err := w.Write(r); err != nil {
			t.Fatal(err)
		}
		c.Add(r)
	}
	if err := w.End(c.Summary(11)); err != nil {
		t.Fatal(err)
	}
	sums, err := Read(strings.NewReader(b.String()), metrics.Ask{})
	if err != nil || len(sums) != 1 {
		t.Fatal(sums, err)
	}
	checkRefused(t, sums[0])
}

func TestAGroupIsReadWithItsTrace(t *testing.T) {
	var stream strings.Builder
	for _, h := range []*metrics.Header{{Run: "1", Group: "g", Target: "a", Epoch: epoch}, {Run: "2", Epoch: epoch}} {
		sw := NewWriter(&stream)
		c := aspect.Collector(h)
		if err := sw.Begin(h); err != nil {
			t.Fatal(err)
		}
		r := sentAt(0, 100, 200)
		r.Run = h.Run
		c.Add(r)
		if err := sw.Write(r); err != nil {
			t.Fatal(err)
		}
		if err := sw.End(c.Summary(1)); err != nil {
			t.Fatal(err)
		}
	}
	for _, ask := range []metrics.Ask{{}, {Trace: true}} {
		sums, err := Read(strings.NewReader(stream.String()), ask)
		if err != nil || len(sums) != 2 || sums[0].Kept.Trace == nil || (sums[1].Kept.Trace != nil) != ask.Trace {
			t.Errorf("%+v: %+v, %v", ask, sums, err)
		}
	}
}

func TestACutStreamLastedFromWhereItsMeasuredPartBegan(t *testing.T) {
	var stream strings.Builder
	sw := NewWriter(&stream)
	warm := sentAt(0, 5000)
	warm.Phase = record.WarmUp
	if err := sw.Begin(&metrics.Header{Run: "r", Epoch: epoch, Delay: 100 * msec, WarmUp: 900 * msec}); err != nil {
		t.Fatal(err)
	}
	for _, r := range []*record.Record{sentAt(1000, 1500, 2500), warm} {
		r.Run = "r"
		if err := sw.Write(r); err != nil {
			t.Fatal(err)
		}
	}
	sums, err := Read(strings.NewReader(stream.String()), metrics.Ask{})
	if err != nil || len(sums) != 1 || sums[0].When.Seconds != 1.5 || sums[0].When.Began != time.Second || !sums[0].When.Date.Equal(epoch.Add(2500*msec)) {
		t.Errorf("%+v, %v", sums, err)
	}
}

func TestMergedShardsBeginWithTheFirst(t *testing.T) {
	var stream strings.Builder
	for shard, after := range []time.Duration{time.Second, 0} {
		h := &metrics.Header{Run: "r", Shard: shard, Shards: 2, Epoch: epoch.Add(after), Delay: 100 * msec}
		sw := NewWriter(&stream)
		c := aspect.Collector(h)
		r := sentAt(100, 200, 300)
		r.Run = "r"
		c.Add(r)
		if err := sw.Begin(h); err != nil {
			t.Fatal(err)
		}
		if err := sw.Write(r); err != nil {
			t.Fatal(err)
		}
		if err := sw.End(c.Summary(0.2)); err != nil {
			t.Fatal(err)
		}
	}
	sums, err := Read(strings.NewReader(stream.String()), metrics.Ask{Trace: true})
	if err != nil || len(sums) != 1 {
		t.Fatalf("%d runs, %v", len(sums), err)
	}
	parts, err := slicing.Slice(sums[0], time.Second)
	if err != nil || sums[0].When.Began != -900*msec || sums[0].When.Seconds != 1.2 || len(parts) != 2 || parts[0].Completed != 1 || parts[1].Completed != 1 {
		t.Errorf("from %v, %v s, %+v, %v", sums[0].When.Began, sums[0].When.Seconds, parts, err)
	}
	if s := sums[0].Within(metrics.Window{From: 0, To: time.Second}); s.Completed != 1 || s.Parts.Of.Inside != 1 {
		t.Errorf("%+v", s.Parts.Of)
	}
}
