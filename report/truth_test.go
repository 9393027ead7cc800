package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect/failures"
	"github.com/servebench/servebench/metrics/aspect/sessions"
	"github.com/servebench/servebench/metrics/evidence"
	"github.com/servebench/servebench/metrics/pyjson"
	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/stream"
	"github.com/servebench/servebench/metrics/trust"
	"github.com/servebench/servebench/metrics/vllm"
	"github.com/servebench/servebench/report/reporttest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const ms = time.Millisecond

func TestTruthAndVerdictAreAsInTheGoldenFiles(t *testing.T) {
	for name, s := range reporttest.Runs() {
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
		reporttest.Golden(t, *update, name+".txt", b.Bytes())
	}
}

func TestJSONEndsWithTruthAndTrust(t *testing.T) {
	for name, s := range reporttest.Runs() {
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
		reporttest.Golden(t, *update, name+".json", append(indented.Bytes(), '\n'))
		again, err := stream.Read(&with, metrics.Ask{})
		if err != nil || len(again) != 1 || again[0].Truth != nil {
			t.Errorf("%s: read back: %v, %v", name, again, err)
		}
	}
}

func TestResultFilesKeepTheVerdict(t *testing.T) {
	for name, s := range reporttest.Runs() {
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
	if err := Causes(&b, reporttest.Faulty(), 0); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(b.String()) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > truthWidth {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	reporttest.Golden(t, *update, "causes.txt", b.Bytes())
	b.Reset()
	if err := Causes(&b, reporttest.Fair(), 0); err != nil || b.Len() > 0 {
		t.Errorf("where none failed: %q, %v", &b, err)
	}
}

func TestWhereAllFailedNoLatencyIsCompared(t *testing.T) {
	s := reporttest.Measured(metrics.Config{RequestRate: 100}, 3, func(_ int, r *record.Record) { r.Result.Class = record.Reset })
	var b bytes.Buffer
	if err := Truth(&b, s); err != nil || strings.Contains(b.String(), "inf") {
		t.Errorf("%v\n%s", err, &b)
	}
}

func TestWhatAServerSaysHasNoControlCharacters(t *testing.T) {
	for _, s := range reporttest.Runs() {
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
		s := reporttest.Measured(c, 2, func(_ int, r *record.Record) { r.Payload = test.carried })
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
	s := reporttest.Fair()
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
	s := reporttest.Fair()
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
