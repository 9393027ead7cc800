package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect"
	"github.com/servebench/servebench/metrics/aspect/failures"
	"github.com/servebench/servebench/metrics/aspect/sessions"
	"github.com/servebench/servebench/metrics/evidence"
	"github.com/servebench/servebench/metrics/pyjson"
	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/stream"
	"github.com/servebench/servebench/metrics/trust"
	"github.com/servebench/servebench/metrics/vllm"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const ms = time.Millisecond

// measured is a run of so many requests, each changed a little by vary.
func measured(c metrics.Config, n int, vary func(i int, r *record.Record)) *metrics.Summary {
	c.Metrics, c.Dataset = []string{"ttft", "tpot", "itl", "e2el"}, "random"
	collector := aspect.Collector(&metrics.Header{Config: c})
	for i := range n {
		r := &record.Record{Index: i, Times: record.Times{Due: time.Duration(i) * 10 * ms}, Tokens: record.Tokens{In: 100, Out: 10}}
		if math.IsInf(c.RequestRate, 1) {
			r.Times.Due = 0
		}
		r.Times.Slot = r.Times.Due
		if c.MaxConcurrency > 0 && i >= c.MaxConcurrency {
			r.Times.Slot += 500 * ms
		}
		r.Times.Sent = r.Times.Slot + time.Duration(i%7)*50*time.Microsecond
		r.Times.Wrote = r.Times.Sent + 200*time.Microsecond
		for j := range 10 {
			r.Answer.Chunks.Append(r.Times.Sent + time.Duration(40+i%11+12*j)*ms)
		}
		r.Times.FirstContent, r.Times.Last, r.Times.End = r.Answer.Chunks.First(), r.Answer.Chunks.Last(), r.Answer.Chunks.Last()+100*time.Microsecond
		vary(i, r)
		collector.Add(r)
	}
	return collector.Summary(2)
}

// fair is a run at a rate that nothing is to be said against.
func fair() *metrics.Summary {
	s := measured(metrics.Config{RequestRate: 100, Percentiles: []float64{50, 99}}, 150, func(int, *record.Record) {})
	s.Evidence = &evidence.Evidence{
		CPU: evidence.CPU{Cores: 2, Watched: 2 * time.Second, Used: 300 * ms, Busiest: 0.2, Machine: 4, Others: 500 * ms}, Stamps: evidence.Stamps{Kernel: 1500}, Connections: evidence.Connections{Opened: 3, Warmed: 16}, Pauses: evidence.Pauses{GCs: 1, GCPaused: 30 * time.Microsecond}, Server: evidence.Server{PrefixQueries: 15000, PrefixHits: 480},
	}
	return s
}

// foul is a chat with several tokens a chunk, everything at once, over TLS and a
// proxy, by a program that stood still.
func foul() *metrics.Summary {
	c := metrics.Config{RequestRate: math.Inf(1), MaxConcurrency: 60, Percentiles: []float64{50, 90, 95, 99, 99.9, 99.99}}
	s := measured(c, 80, func(i int, r *record.Record) {
		r.Tokens.Out, r.Tokens.PerChunk = 18, []int{0, 2, 2, 2, 2, 2, 2, 2, 4, 0}
		r.Times.FirstContent = r.Answer.Chunks.First() + 12*ms
		r.Conn = record.Conn{New: true, DNS: ms, Connect: 2 * ms, TLS: 9 * ms}
		r.Times.End += 20 * ms
		if i%2 == 0 {
			r.Answer.Late.Add(5, 11*ms)
		}
		if i == 79 {
			r.Result.Class, r.Result.Error, r.Attempts, r.Reconnects = record.Status, "no room", 5, 1
		}
	})
	s.Evidence = &evidence.Evidence{
		CPU: evidence.CPU{Cores: 2, Watched: 2 * time.Second, Used: 3800 * ms, Busiest: 0.97}, Stamps: evidence.Stamps{Kernel: 700, User: 90, SharedReads: 200}, Pauses: evidence.Pauses{Stalls: 1, Stalled: 320 * ms, LongestStall: 320 * ms}, Connections: evidence.Connections{Proxy: "proxy:3128", Closed: 12, Dropped: 50, Opened: 79, Exhausted: 2, Exhaustion: "dial tcp:\ntoo many open files"},
	}
	return s
}

// sharded is a run that was put together from these shards.
func sharded(shards *metrics.Shards) *metrics.Summary {
	s := fair()
	s.Source.Shards, s.Header.Shards, s.Header.Config.MaxConcurrency = shards, shards.Of, 64
	return s
}

// faulty is a run of which a part failed in several ways, and of which some answers
// are not as long as was asked for.
func faulty() *metrics.Summary {
	page := "502 Bad Gateway: <html>\r\n<head><title>" + strings.Repeat("x", 70) + "</title></head>\x1b[31m\r\n" + strings.Repeat("too much ", 60)
	failures := map[int]record.Record{
		2: {Result: record.Result{Class: record.Refused, Error: "connection refused"}}, 90: {Result: record.Result{Class: record.Cancelled, Error: "cut"}},
		20: {Result: record.Result{Class: record.Status, Status: 429, Error: "429 Too Many Requests"}}, 21: {Result: record.Result{Class: record.Status, Status: 429, Error: "429 Too Many Requests"}},
		22: {Result: record.Result{Class: record.Status, Status: 502, Error: page}}, 23: {Result: record.Result{Class: record.InStream, Status: 200}},
		50: {Result: record.Result{Class: record.Truncated, Error: page}}, 51: {Result: record.Result{Class: record.Unfinished, Status: 200, Error: "finish reason error"}, Answer: record.Answer{Finish: "error"}},
	}
	c := metrics.Config{RequestRate: 100, IgnoreEOS: true, Percentiles: []float64{50, 90, 99}}
	s := measured(c, 100, func(i int, r *record.Record) {
		f := failures[i]
		r.Result.Class, r.Result.Status, r.Result.Error, r.Answer.Finish, r.Tokens.OutAsked = f.Result.Class, f.Result.Status, f.Result.Error, f.Answer.Finish, 10
		switch {
		case f.Result.Class != record.OK:
		case i < 2:
			r.Tokens.OutAsked, r.Answer.Finish = 12, "stop"
		case i < 4:
			r.Tokens.OutAsked, r.Answer.Finish = 9, "length"
		default:
			r.Answer.Finish = "length"
		}
	})
	s.Ending.Interrupted, s.Ending.StoppedBy = true, "--abort-on-failures 5%: 7 of 99 requests failed"
	return s
}

func runs() map[string]*metrics.Summary {
	bundled := measured(metrics.Config{RequestRate: 5, Percentiles: []float64{99}}, 3, func(_ int, r *record.Record) { r.Tokens.Out = 30 })
	thoughtful := measured(metrics.Config{RequestRate: 5, Percentiles: []float64{99}}, 60, func(i int, r *record.Record) {
		if i%2 == 0 {
			r.Answer.Reasoned, r.Times.FirstOutput, r.Tokens.OutReasoned = true, r.Times.Sent+100*ms, 5
		}
		if i%10 == 0 {
			r.Times.FirstOutput, r.Tokens.OutReasoned = 0, 10
		}
	})
	all := map[string]*metrics.Summary{
		"reasoning": thoughtful,
		"talks":     talks(), "fair": fair(), "foul": foul(), "bundled": bundled, "faulty": faulty(), "sharded": sharded(&metrics.Shards{
			Of: 8, Sound: 8, Hosts: []string{"n1", "n2", "n3", "n4"}, Late: &metrics.Window{From: -ms / 5, To: ms}, Last: "shard 7 (host n4)",
			Offsets: &metrics.Window{From: -ms / 3, To: ms}, Error: 2 * ms,
		}),
		"sharded-suspect": sharded(&metrics.Shards{
			Of: 8, Sound: 5, Hosts: []string{"n1", "n2"}, Late: &metrics.Window{From: 0, To: 1500 * ms}, Last: "shard 1 (host n2)",
			Faults: []string{"the files lack shards 3 and 5 of 8", "shard 2 (host n1) was cut: it has no end line, so its duration ends with the last request"}, Unclocked: []string{"n1", "n2"},
		}),
	}
	for _, s := range all {
		trust.Judge(s)
	}
	return all
}

// golden compares with a file of testdata, or rewrites it.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	name = filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(name, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s:\n%s", name, diff)
	}
}

func TestTruthAndVerdictAreAsInTheGoldenFiles(t *testing.T) {
	for name, s := range runs() {
		var b bytes.Buffer
		if err := Truth(&b, s); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(b.String()) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > truthWidth {
				t.Errorf("%s: %d columns: %s", name, n, line)
			}
		}
		before := b.Len()
		if err := Verdict(&b, s); err != nil {
			t.Fatal(err)
		}
		if lines := bytes.Count(b.Bytes()[before:], []byte("\n")); lines != 1 {
			t.Errorf("%s: the verdict has %d lines", name, lines)
		}
		golden(t, name+".txt", b.Bytes())
	}
}

func TestJSONEndsWithTruthAndTrust(t *testing.T) {
	for name, s := range runs() {
		var with, without bytes.Buffer
		if err := JSON(&with, s, vllm.Version{}); err != nil {
			t.Fatal(err)
		}
		bare := *s
		sessions.Give(&bare, nil)
		bare.Truth, bare.Trust, bare.Ending.Interrupted, bare.Ending.StoppedBy = nil, nil, false, ""
		if err := JSON(&without, &bare, vllm.Version{}); err != nil {
			t.Fatal(err)
		}
		theirs := bytes.TrimSuffix(without.Bytes(), []byte("}"))
		ours, found := bytes.CutPrefix(with.Bytes(), theirs)
		if !found {
			t.Fatalf("%s: vLLM's part of the file is another:\n%s\n%s", name, with.Bytes(), theirs)
		}
		var indented bytes.Buffer
		if err := json.Indent(&indented, append([]byte("{"), bytes.TrimPrefix(ours, []byte(", "))...), "", "  "); err != nil {
			t.Fatal(err)
		}
		golden(t, name+".json", append(indented.Bytes(), '\n'))
		again, err := stream.Read(&with, metrics.Ask{})
		if err != nil || len(again) != 1 || again[0].Truth != nil {
			t.Errorf("%s: read back: %v, %v", name, again, err)
		}
	}
}

func TestResultFilesKeepTheVerdict(t *testing.T) {
	for name, s := range runs() {
		s.Ending.Interrupted, s.Ending.StoppedBy, s.Ending.Incomplete = true, "a rule", []string{"run r was cut"}
		var text, want, got bytes.Buffer
		if err := errors.Join(JSON(&text, s, vllm.Version{}), Verdict(&want, s)); err != nil {
			t.Fatal(err)
		}
		sums, err := vllm.ReadResults(&text, metrics.Ask{})
		if err != nil {
			t.Fatal(err)
		}
		read := sums[0]
		if err := Verdict(&got, read); err != nil || got.Len() == 0 || got.String() != want.String() {
			t.Errorf("%s: %v %q, want %q", name, err, &got, &want)
		}
		if !read.Ending.Interrupted || read.Ending.StoppedBy != "a rule" || !slices.Equal(read.Ending.Incomplete, s.Ending.Incomplete) || !slices.Contains(read.Ending.Warnings, "run r was cut") {
			t.Errorf("%s: stopped: %v, lacks %q, warns %q", name, read.Ending.Interrupted, read.Ending.Incomplete, read.Ending.Warnings)
		}
		if a, b := read.Trust.Checks, s.Trust.Checks; fmt.Sprint(a) != fmt.Sprint(b) {
			t.Errorf("%s: %v, want %v", name, a, b)
		}
	}
}

func TestCausesFitAHundredColumns(t *testing.T) {
	var b bytes.Buffer
	if err := Causes(&b, faulty(), 0); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(b.String()) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > truthWidth {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	golden(t, "causes.txt", b.Bytes())
	b.Reset()
	if err := Causes(&b, fair(), 0); err != nil || b.Len() > 0 {
		t.Errorf("where none failed: %q, %v", &b, err)
	}
}

func TestWhereAllFailedNoLatencyIsCompared(t *testing.T) {
	s := measured(metrics.Config{RequestRate: 100}, 3, func(_ int, r *record.Record) { r.Result.Class = record.Reset })
	var b bytes.Buffer
	if err := Truth(&b, s); err != nil || strings.Contains(b.String(), "inf") {
		t.Errorf("%v\n%s", err, &b)
	}
}

func TestWhatAServerSaysHasNoControlCharacters(t *testing.T) {
	for _, s := range runs() {
		var b bytes.Buffer
		if err := errors.Join(Causes(&b, s, 0), writeExtended(&b, s), Truth(&b, s), Verdict(&b, s)); err != nil {
			t.Fatal(err)
		}
		if strings.ContainsAny(b.String(), "\x1b\r") {
			t.Errorf("%q", &b)
		}
	}
}

func TestWithoutTruthNothingIsWritten(t *testing.T) {
	var b bytes.Buffer
	s := &metrics.Summary{Header: &metrics.Header{}}
	trust.Judge(s)
	if err := Truth(&b, s); err != nil || b.Len() != 0 {
		t.Errorf("truth %q, %v", b.String(), err)
	}
	if err := Verdict(&b, s); err != nil || b.Len() != 0 {
		t.Errorf("verdict %q, %v", b.String(), err)
	}
}

// Requests of text carry nothing else, and have no row.
func TestWhatRequestsCarriedIsToldWhereThereIsSome(t *testing.T) {
	c := metrics.Config{RequestRate: 100, Percentiles: []float64{99}}
	for _, test := range []struct {
		carried *record.Payload
		want    string
		keys    []string
	}{
		{nil, "", nil},
		{&record.Payload{Bytes: 2661, Audio: 0.125}, "Media in requests                0.2 s of sound, 0.01 MB of bodies\n", []string{"carried_sound_s", "carried_bytes"}},
		{&record.Payload{Bytes: 2661, Inputs: 3}, "", []string{"carried_bytes"}},
		{&record.Payload{Bytes: 500_000, Images: 1, Videos: 2}, "Media in requests                2 images, 4 videos, 1.00 MB of bodies\n", []string{"carried_images", "carried_videos", "carried_bytes"}},
	} {
		s := measured(c, 2, func(_ int, r *record.Record) { r.Payload = test.carried })
		var text bytes.Buffer
		if err := Truth(&text, s); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(text.String(), "Media"); got != (test.want != "") || !strings.Contains(text.String(), test.want) {
			t.Errorf("%+v: got\n%s\nwant %s", test.carried, text.String(), test.want)
		}
		var keys []string
		for _, m := range truth(s) {
			if strings.HasPrefix(m.Key, "carried_") {
				keys = append(keys, m.Key)
			}
		}
		if !slices.Equal(keys, test.keys) {
			t.Errorf("%+v: keys %q, want %q", test.carried, keys, test.keys)
		}
	}
}

func TestRefusedStreamsAreCounted(t *testing.T) {
	s := fair()
	failures.Of(s).Resent.Reconnects, s.Evidence.Connections.Unprocessed = 3, 5
	var b strings.Builder
	if err := Truth(&b, s); err != nil {
		t.Fatal(err)
	}
	if text := b.String(); !strings.Contains(text, "Resent after a refused stream    3 of 150 requests, sent 5 times more\n") || strings.Contains(text, "Resent on a new") {
		t.Error(text)
	}
}

func TestNamesAreInTheTruth(t *testing.T) {
	s := fair()
	s.Evidence.Connections.Names = []evidence.Lookup{
		{Name: "proxy.test", Took: 3 * ms / 2, Addresses: 1},
		{Name: "gpu.test", Took: 200 * ms, Addresses: 3, LeftOut: []evidence.LeftOut{{Address: "10.0.0.1:80", Why: "connection refused"}}},
	}
	var b strings.Builder
	if err := Truth(&b, s); err != nil {
		t.Fatal(err)
	}
	const want = "Name lookup proxy.test: 1 address in 1.50 ms; gpu.test: 3 addresses in 200.00 ms, 1 left out Connections"
	if text := strings.Join(strings.Fields(b.String()), " "); !strings.Contains(text, want) {
		t.Error(text)
	}
	names, _ := truth(s).Get("names")
	if got := string(pyjson.Append(nil, names)); !strings.Contains(got, `{"name": "gpu.test", "lookup_ms": 200.0, "addresses": 3, "left_out": ["10.0.0.1:80: connection refused"]}`) {
		t.Error(got)
	}
}
