package report

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/trust"
	"github.com/servebench/servebench/metrics/verdict"
	"github.com/servebench/servebench/report/reasons"
	"github.com/servebench/servebench/report/reporttest"
	"github.com/servebench/servebench/report/screen"
)

// An ending as it is on a terminal of 80 columns, and in a file.
func TestEndingsAreAsInTheGoldenFiles(t *testing.T) {
	for name, s := range reporttest.Runs() {
		var b bytes.Buffer
		for _, on := range []screen.Screen{{Width: 80}, {}} {
			ending := Ending{Screen: on, More: "run servebench report --extended run.jsonl"}
			if err := ending.Write(&b, s); err != nil {
				t.Fatal(err)
			}
			b.WriteByte('\n')
		}
		reporttest.Golden(t, *update, name+"-ending.txt", b.Bytes())
	}
}

func TestAnEndingFitsItsScreen(t *testing.T) {
	all := reporttest.Runs()
	faults := make([]string, 300)
	for i := range faults {
		faults[i] = fmt.Sprintf("the files lack shard %d of 300", i)
	}
	all["hundreds of faults"] = reporttest.Sharded(&metrics.Shards{Of: 300, Faults: faults})
	trust.Judge(all["hundreds of faults"])
	for name, s := range all {
		for width := 1; width <= 200; width++ {
			lines := (&Ending{Screen: screen.Screen{Width: width}, Name: "a.jsonl", More: "servebench report --extended run.jsonl"}).lines(s)
			if text := lines[0].String(); !strings.HasPrefix(text, string(s.Trust.Verdict)+": ") {
				t.Errorf("%s: no verdict in %d columns: %s", name, width, text)
			}
			if width < 40 { // where a word may be wider
				continue
			}
			if len(lines) < 3 || len(lines) > mostLines {
				t.Errorf("%s: %d lines in %d columns", name, len(lines), width)
			}
			for _, line := range lines {
				if n := screen.Width(line.String()); n > min(width, 120) {
					t.Errorf("%s: %d characters in %d columns: %s", name, n, width, line)
				}
			}
		}
	}
}

// What has one remedy is one reason, and three of them are enough.
func TestReasonsWithOneRemedyAreOne(t *testing.T) {
	s := reporttest.Fair()
	trust.Judge(s)
	s.Trust = &verdict.Trust{Verdict: verdict.Suspect, Notes: []string{"a note"}}
	for i, remedy := range []string{"leave", "leave", "", "read", "leave", "", "look"} {
		s.Trust.Checks = append(s.Trust.Checks, verdict.Check{Text: fmt.Sprintf("reason %d", i), Remedy: remedy})
	}
	ending := Ending{More: "add --extended"}
	var texts []string
	for _, line := range ending.lines(s) {
		texts = append(texts, line.String())
	}
	want := []string{
		"SUSPECT: reason 0; reason 1; 1 more sign → leave", "         reason 2", "         reason 3 → read",
		"Note:    P99 of 150 samples: only 1 beyond it (TTFT, TPOT, E2EL)", "Note:    a note", "More:    for 2 reasons and additional metrics add --extended",
	}
	if !slices.Equal(texts, want) {
		t.Errorf("got %q\nwant %q", texts, want)
	}
	ending.Extended = true
	if lines := ending.lines(s); len(lines) != 5 || lines[4].String() != "         reason 6 → look" {
		t.Errorf("all: %q", lines)
	}
}

// Reasons about the measurement come first, and the backlog on a separate line.
func TestASuspectRunMayBeOverloadedToo(t *testing.T) {
	s := reporttest.Fair()
	trust.Judge(s)
	s.Trust = &verdict.Trust{Verdict: verdict.Suspect, Checks: []verdict.Check{
		{Text: "reason 1", Remedy: "leave"}, {Text: "reason 2"}, {Text: "reason 3"}, {Text: "reason 4"},
		{Name: verdict.BacklogCheck, Text: "the backlog grew", Remedy: "leave"},
	}}
	for ending, want := range map[Ending][]string{
		{More: "add --extended"}: {
			"SUSPECT:    reason 1 → leave", "            reason 2", "            reason 3", "OVERLOADED: the backlog grew → leave",
			"Note:       P99 of 150 samples: only 1 beyond it (TTFT, TPOT, E2EL)", "More:       for 1 reason and additional metrics add --extended",
		},
		{Extended: true}: {"SUSPECT:    reason 1 → leave", "            reason 2", "            reason 3", "            reason 4", "OVERLOADED: the backlog grew → leave"},
		{Brief: true}:    {"SUSPECT: reason 1 → leave"},
	} {
		var texts []string
		for _, line := range ending.lines(s) {
			texts = append(texts, line.String())
		}
		if !slices.Equal(texts, want) {
			t.Errorf("got %q\nwant %q", texts, want)
		}
	}
	if got := reasons.Texts(s.Trust); got[len(got)-1] != "OVERLOADED: the backlog grew → leave" {
		t.Errorf("reasons %q", got)
	}
}

// The note names the highest percentile, of each number of samples.
func TestPercentilesOfFewSamplesAreNoted(t *testing.T) {
	for name, c := range map[string]struct {
		requests    int
		percentiles []float64
		want        string
	}{
		"sixty requests": {60, []float64{50, 90, 99}, "P99 of 60 samples: fewer than 1 beyond it (TTFT, TPOT, E2EL); P99 of 540 samples: only 5 beyond it (ITL)"},
		"the other end":  {60, []float64{1}, "P1 of 60 samples: fewer than 1 beyond it (TTFT, TPOT, E2EL); P1 of 540 samples: only 5 beyond it (ITL)"},
		"one request":    {1, []float64{99}, "P99 of 1 sample: fewer than 1 beyond it (TTFT, TPOT, E2EL); P99 of 9 samples: fewer than 1 beyond it (ITL)"},
		"enough samples": {1000, []float64{50, 99, 100}, ""},
	} {
		s := reporttest.Measured(metrics.Config{RequestRate: 100, Percentiles: c.percentiles}, c.requests, func(int, *record.Record) {})
		if got := fewSamples(s); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		// It is no reason to doubt the run.
		if trust.Judge(s); strings.Contains(string(s.Trust.Verdict), "SUSPECT") {
			t.Errorf("%s: %+v", name, s.Trust.Failed())
		}
	}
}

// A result of vLLM has no verdict. Where the number of requests is known, the percentiles of few
// are noted.
func TestAResultOfVLLMIsNotJudged(t *testing.T) {
	const notJudged = "NOT JUDGED: vLLM's results say nothing about the client that measured them\n"
	quoted := metrics.NewQuote()
	quoted.Percentiles[99] = 50
	s := metrics.Unknown()
	s.TTFT.Quoted, s.TPOT.Quoted, s.ITL.Quoted = quoted, quoted, quoted
	s.Header.Config.Metrics, s.Header.Config.Percentiles = []string{"ttft", "tpot", "itl"}, []float64{99}
	for completed, want := range map[int]string{
		-1: notJudged, 1000: notJudged, 60: notJudged + "Note:       P99 of 60 samples: fewer than 1 beyond it (TTFT, TPOT)\n",
	} {
		s.Completed = completed
		for _, extended := range []bool{false, true} {
			var b bytes.Buffer
			ending := Ending{Extended: extended, More: "add --extended"}
			if err := ending.Write(&b, s); err != nil || b.String() != want {
				t.Errorf("%d completed: %q, %v", completed, &b, err)
			}
		}
	}
	if line := (&Ending{Name: "b", Brief: true}).lines(s)[0].String(); !strings.HasPrefix(line, "NOT JUDGED: b: vLLM") {
		t.Errorf("%q", line)
	}
}
