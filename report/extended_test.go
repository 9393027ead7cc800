package report

import (
	"bytes"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/vllm"
	"github.com/servebench/servebench/report/reporttest"
)

func TestExtendedSectionsAreAsInTheGoldenFiles(t *testing.T) {
	all := reporttest.Runs()
	all["paced"] = reporttest.Loaded(metrics.Header{Delay: time.Second, Config: metrics.Config{RequestRate: 20}}, 120, 50*ms, 40*ms)
	for name, s := range all {
		var b bytes.Buffer
		if err := writeExtended(&b, s); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(b.String()) {
			if n := utf8.RuneCountInString(strings.TrimRight(line, " \n")); n > vllm.Width {
				t.Errorf("%s: %d columns: %s", name, n, line)
			}
		}
		reporttest.Golden(t, *update, name+"-extended.txt", b.Bytes())
	}
}

func TestARunIsCutIntoTwentyPartsAtMost(t *testing.T) {
	for took, want := range map[time.Duration]time.Duration{
		1: ms, 20 * ms: ms, 20*ms + 1: 2 * ms, 100 * ms: 5 * ms, 101 * ms: 10 * ms,
		40 * time.Second: 2 * time.Second, time.Hour: 200 * time.Second, 1<<63 - 1: 500_000_000 * time.Second,
	} {
		if got := sliceWidth(took); got != want {
			t.Errorf("%v: parts of %v, want %v", took, got, want)
		}
	}
}

func TestPartsOfARunBeginAtDifferentTimes(t *testing.T) {
	for width, want := range map[time.Duration]string{ms: "0.003", 5 * ms: "0.015", 10 * ms: "0.03", time.Second: "3.00"} {
		if got := begins(3*width, width); got != want {
			t.Errorf("parts of %v: the fourth begins at %s s, want %s", width, got, want)
		}
	}
}

func TestWithoutTruthThereAreNoExtendedSections(t *testing.T) {
	var b bytes.Buffer
	if err := writeExtended(&b, &metrics.Summary{Header: &metrics.Header{}}); err != nil || b.Len() != 0 {
		t.Errorf("%q, %v", b.String(), err)
	}
}
