package stream

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect"
	"github.com/servebench/servebench/metrics/record"
)

// recordedFolder has a run in three shards, a file with two runs, and a text without one.
func recordedFolder(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	write := func(name string, headers ...metrics.Header) {
		var text bytes.Buffer
		var errs []error
		for _, h := range headers {
			w, c := NewWriter(&text), aspect.Collector(&h)
			errs = append(errs, w.Begin(&h))
			for i := range 4 {
				r := sentAt(float64(100*i), float64(100*i+5))
				r.Run, r.Index = h.Run, 4*h.Shard+i
				c.Add(r)
				errs = append(errs, w.Write(r))
			}
			errs = append(errs, w.End(c.Summary(2)))
		}
		if err := errors.Join(append(errs, os.WriteFile(filepath.Join(dir, name), text.Bytes(), 0o600))...); err != nil {
			t.Fatal(err)
		}
	}
	for shard := range 3 {
		write(fmt.Sprintf("shard-%d.jsonl", shard), metrics.Header{Run: "r", Shard: shard, Shards: 3})
	}
	write("two.jsonl", metrics.Header{Run: "a"}, metrics.Header{Run: "b"})
	write("notes.txt")
	return dir
}

func TestRecordedRunsAreFoundByName(t *testing.T) {
	dir := recordedFolder(t)
	file := func(name string) string { return filepath.Join(dir, name) }
	for _, test := range []struct {
		names []string
		want  string // runs and their completed requests, or the error
		warns string
	}{
		{[]string{dir}, "r 12, a 4, b 4", file("notes.txt") + ": no runs in it"},
		{[]string{file("shard-2.jsonl"), file("two.jsonl"), file("shard-0.jsonl"), file("shard-1.jsonl")}, "r 12, a 4, b 4", ""},
		{[]string{file("two.jsonl:2")}, "b 4", ""},
		{[]string{file("two.jsonl:1-2"), "-"}, "a 4, b 4, s 0", ""},
		{[]string{dir + ":3"}, "b 4", file("notes.txt") + ": no runs in it"},
		{[]string{dir + ":4"}, dir + ":4: " + dir + " has 3 runs", file("notes.txt") + ": no runs in it"},
		{[]string{file("two.jsonl:3")}, file("two.jsonl:3") + ": " + file("two.jsonl") + " has 2 runs", ""},
		{[]string{file("none.jsonl")}, "stat " + file("none.jsonl") + ": no such file or directory", ""},
		{[]string{t.TempDir()}, "no runs in that folder", ""},
	} {
		var warns []string
		r := Recorded{
			Stdin: strings.NewReader(`{"v":3,"k":"run","run":"s"}` + "\n" + `{"v":3,"k":"end","run":"s","seconds":1,"completed":0,"failed":0}` + "\n"),
			Warn:  func(text string) { warns = append(warns, text) },
		}
		sums, err := r.Read(test.names...)
		var found []string
		for _, s := range sums {
			found = append(found, fmt.Sprint(s.Header.Run, " ", s.Completed))
		}
		got := strings.Join(found, ", ")
		if err != nil {
			got = err.Error()
		}
		if !strings.HasSuffix(got, test.want) || strings.Join(warns, "\n") != test.warns {
			t.Errorf("%q: %s, warns %q; want %s, %q", test.names, got, warns, test.want, test.warns)
		}
	}
}

func TestAFolderIsReadForItsRecordStream(t *testing.T) {
	r := Recorded{Stream: "two.jsonl", Warn: func(text string) { t.Error(text) }}
	sums, err := r.Read(recordedFolder(t))
	if err != nil || len(sums) != 2 || !slices.ContainsFunc(sums, func(s *metrics.Summary) bool { return s.Header.Run == "b" }) {
		t.Errorf("%d runs, %v", len(sums), err)
	}
}

func TestOnlyFinishedRunsOfAFolderAreRead(t *testing.T) {
	dir := recordedFolder(t)
	name := filepath.Join(dir, "two.jsonl")
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	first := bytes.LastIndex(text, []byte(`{"v":3,"k":"run"`))
	for _, test := range []struct {
		of    string
		size  int
		want  string
		warns string
	}{
		{dir, first, "[a]", dir + ": 1 run is not finished: left out"},
		{dir, len(text), "[a b]", ""},
		{dir, -1, "[a b]", ""},
		{dir, 0, dir + ": no run has finished yet; " + name + " has the requests so far", ""},
		{dir + ":1", first, "[a]", dir + ": 1 run is not finished: left out"},
		{dir + ":2", first, dir + ":2: " + dir + " has 1 run", dir + ": 1 run is not finished: left out"},
		{name, first, "[a b]", ""},
	} {
		var warns, found []string
		each := map[string]int{}
		r := Recorded{
			Stream: "two.jsonl", Finished: func(string) int64 { return int64(test.size) }, Warn: func(text string) { warns = append(warns, text) },
			Ask: metrics.Ask{Each: func(h *metrics.Header, _ *record.Record) { each[h.Run]++ }},
		}
		sums, err := r.Read(test.of)
		for _, s := range sums {
			found = append(found, s.Header.Run)
			if each[s.Header.Run] != 4 {
				t.Errorf("%s up to %d: requests %v", test.of, test.size, each)
			}
		}
		got := fmt.Sprint(found)
		if err != nil {
			got = err.Error()
		}
		if got != test.want || strings.Join(warns, "\n") != test.warns || len(each) != len(found) {
			t.Errorf("%s up to %d: %s, warns %q, requests of %v; want %s, %q", test.of, test.size, got, warns, each, test.want, test.warns)
		}
	}
}
