package report

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect/sessions"
	"github.com/servebench/servebench/metrics/vllm"
	"github.com/servebench/servebench/report/layout"
	"github.com/servebench/servebench/report/reporttest"
)

func TestSessionsAreAsInTheGoldenFiles(t *testing.T) {
	for _, extended := range []bool{false, true} {
		var b bytes.Buffer
		if err := Sessions(&b, reporttest.Talks(), extended); err != nil {
			t.Fatal(err)
		}
		name, width := "talks-sessions.txt", 80
		if extended {
			name, width = "talks-sessions-extended.txt", 120
		}
		for line := range strings.Lines(b.String()) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > width {
				t.Errorf("%s: %d columns: %s", name, n, line)
			}
		}
		if lines := bytes.Count(b.Bytes(), []byte("\n")); !extended && lines > 16 {
			t.Errorf("%d lines", lines)
		}
		reporttest.Golden(t, *update, name, b.Bytes())
	}
}

// A server may know the beginning of a chat template, or prompts of earlier runs.
func TestReuseAboveAllIsNamed(t *testing.T) {
	for cached, want := range map[int]string{50: "100.0 % of the reusable ones", 60: "all of the reusable ones and 20.0 % more"} {
		of := sessions.Sessions{Cache: sessions.CacheUse{Planned: 100, Reusable: 50, Told: sessions.CacheTokens{Prompt: 100, Cached: cached, Reused: cached, Reusable: 50}}}
		if got := reuse(&of); len(got) != 2 || got[1] != want {
			t.Errorf("%d cached: %q, want %q", cached, got, want)
		}
	}
}

// A run without sessions of several turns prints what it printed before.
func TestWithoutSessionsNothingIsWritten(t *testing.T) {
	var b bytes.Buffer
	if err := (&Parts{}).Show(&b, reporttest.Fair(), vllm.Version{}); err != nil || b.Len() != 0 {
		t.Errorf("%q, %v", &b, err)
	}
	if rows := sessionRows(reporttest.Fair()); rows != nil {
		t.Errorf("%v", rows)
	}
	var with bytes.Buffer
	if err := JSON(&with, reporttest.Fair(), vllm.Version{}); err != nil || strings.Contains(with.String(), "sessions") {
		t.Errorf("%s, %v", &with, err)
	}
}

// What is unknown is not printed as a number.
func TestUnknownNumbersOfSessionsAreLeftOut(t *testing.T) {
	s := reporttest.Talks()
	sessions.Of(s).Cache = sessions.CacheUse{Planned: 200, Reusable: 50, Silent: sessions.CacheTokens{Prompt: 1000}}
	for i := range sessions.Of(s).Rows {
		r := &sessions.Of(s).Rows[i]
		r.Cache, r.TPOT = sessions.CacheUse{}, metrics.Distribution{}
	}
	sessions.Of(s).JobTime, sessions.Of(s).Goodput = metrics.Distribution{}, math.NaN()
	var b bytes.Buffer
	if err := Sessions(&b, s, true); err != nil {
		t.Fatal(err)
	}
	for _, unwanted := range []string{"NaN", "cached", "TPOT", "Job time", "good sessions"} {
		if strings.Contains(b.String(), unwanted) {
			t.Errorf("%q in\n%s", unwanted, &b)
		}
	}
	if !strings.Contains(b.String(), "Prefix cache: 25.0 % could be reused, about ") {
		t.Errorf("\n%s", &b)
	}
	for _, row := range sessionRows(s) {
		if strings.Contains(row.Label, "of a session") || row.Value == "" {
			t.Errorf("%+v", row)
		}
	}
}

// What a result file has of sessions is printed again.
func TestSessionsOfAResultFileArePrinted(t *testing.T) {
	var file, want, got bytes.Buffer
	s := reporttest.Talks()
	if err := errors.Join(JSON(&file, s, vllm.Version{}), Sessions(&want, s, true)); err != nil {
		t.Fatal(err)
	}
	read, err := vllm.ReadResults(&file, metrics.Ask{})
	if err != nil {
		t.Fatal(err)
	}
	if err := Sessions(&got, read[0], true); err != nil {
		t.Fatal(err)
	}
	// It does not say how many values there were, nor what is known of cut sessions.
	words := strings.NewReplacer(layout.Few, "", " (2.99 s with cut sessions)", "", layout.FewMeans(), "").Replace(want.String())
	if diff := cmp.Diff(strings.Fields(words), strings.Fields(got.String())); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// A run that was stopped did not begin all sessions.
func TestSessionsThatNeverBeganAreCounted(t *testing.T) {
	s := reporttest.Talks()
	s.Header.Config.NumPrompts = 45
	if got := outcomes(s); strings.Contains(got, "not begun") {
		t.Errorf("a dataset with fewer sessions: %s", got)
	}
	s.Ending.Interrupted = true
	if got, want := outcomes(s), "37 of 40 completed, 1 broken, 2 cut, 5 not begun, 12 turns not sent; "; !strings.HasPrefix(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// Too few sessions end in a short run to see their median.
func TestAMedianBeyondTheRunIsSaidInWords(t *testing.T) {
	var of sessions.Sessions
	of.Cut = 3
	for range 3 {
		of.JobTime.Add(1)
		of.CutAfter.Add(0.5)
		of.CutAfter.Add(2)
	}
	if got, want := jobTime(&of, 99), "mean 1.00 s, median 1.00 s (1.00 s with cut sessions), P99 1.00 s"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	of.CutAfter.Add(3)
	if got, want := jobTime(&of, 99), "mean 1.00 s, median 1.00 s (longer than the run with cut sessions), P99 1.00 s"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
