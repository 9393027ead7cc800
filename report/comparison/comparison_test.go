package comparison

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"flag"
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/perf/benchfmt"

	"github.com/servebench/servebench/metrics/compare"
	"github.com/servebench/servebench/metrics/compare/brief"
	"github.com/servebench/servebench/metrics/compare/gating"
	"github.com/servebench/servebench/metrics/compare/numbers"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// comparisonRuns are runs a minute apart, whose TTFT and throughput are multiplied.
func comparisonRuns(n int, ttft, throughput float64, asked map[string]string) []*brief.Run {
	var runs []*brief.Run
	for i := range n {
		around := 1 + 0.01*float64(i%3)
		r := &brief.Run{
			ID: fmt.Sprintf("%g-%g-%s-%d", ttft, throughput, asked["request-rate"], i), Began: time.Unix(0, 0).UTC().Add(time.Duration(i) * time.Minute), Start: fmt.Sprint(i),
			Asked: map[string]string{"model": "m", "client": "1", "request-rate": "inf"},
			Numbers: map[string]float64{
				"request_throughput": 10, "output_throughput": 2000 * around * throughput, "median_ttft": 40 * around * ttft,
				"p99_ttft": 80 * around * ttft, "median_tpot": 10 * around, "median_itl": 10 * around,
			},
			Values: map[string]int{"ttft": 100}, Completed: 100, Input: 1000, Output: 1000,
		}
		maps.Copy(r.Asked, asked)
		runs = append(runs, r)
	}
	return runs
}

// comparisons are what golden files are of.
func comparisons() map[string]*compare.Comparison {
	gate := gating.Default()
	p99, _ := numbers.Find("p99_ttft")
	gate.Bounds = []gating.Bound{{Number: p99, Least: math.Inf(-1), Most: 85}}
	grid := func(ttft float64) []*brief.Run {
		return slices.Concat(comparisonRuns(6, ttft, 1, map[string]string{"request-rate": "4", "dataset-path": "a, b=c"}),
			comparisonRuns(6, 1, 1/ttft, map[string]string{"request-rate": "16", "dataset-path": "d"}))
	}
	long := func(runs []*brief.Run) []*brief.Run { // of enough requests for the bound
		for _, r := range runs {
			r.Values = map[string]int{"ttft": 1000}
		}
		return runs
	}
	unknown := comparisonRuns(1, 1.5, 0.8, nil)
	unknown[0].Asked, unknown[0].Failed, unknown[0].Values = nil, -1, nil
	zero := comparisonRuns(6, 1, 1, nil) // most chunks come together with another
	for i, r := range zero {
		r.ID, r.Numbers["median_itl"] = r.ID+"zero", float64(i/5)
	}
	pairs := func(ttft float64, later time.Duration) []*brief.Run { // a minute apart, the new run first in every second pair
		runs := comparisonRuns(4, ttft, 1, nil)
		for i, r := range runs {
			r.Repeat, r.ID, r.Start = i+1, fmt.Sprint(r.ID, later), fmt.Sprint(r.Start, later)
			if i%2 == 1 {
				later = -later
			}
			r.Began = time.Unix(0, 0).UTC().Add(time.Duration(3*i+1)*time.Minute + later)
			r.Numbers["median_ttft"] *= 1 + 0.02*later.Minutes()*float64(i%3)
		}
		return runs
	}
	day := func(n int) []*brief.Run { // each day is 3 % worse than the one before
		runs := comparisonRuns(2, math.Pow(1.03, float64(n)), 1, nil)
		for _, r := range runs {
			r.Began = r.Began.AddDate(0, 0, n)
		}
		return runs
	}
	baseline := func(sessions ...[]*brief.Run) []*brief.Run {
		var b compare.Baseline
		for _, runs := range sessions {
			if err := b.Add(runs, gating.Gate{}); err != nil {
				panic(err)
			}
		}
		return b.Runs()
	}
	perStart := gate
	perStart.Unit = gating.PerStart
	perRun := gating.Default()
	perRun.Unit = gating.PerRun
	return map[string]*compare.Comparison{
		"paired":    compare.Compare(pairs(1, 0), pairs(1, time.Minute), gating.Default()),
		"slower":    compare.Compare(pairs(1, 0), pairs(1.2, time.Minute), perRun),
		"chain":     compare.Compare(baseline(day(0), day(1), day(2), day(3), day(4), day(5), day(6)), day(7), gating.Default()),
		"zero":      compare.Compare(comparisonRuns(6, 1, 1, nil), zero, gating.Default()),
		"grown":     compare.Compare(zero, comparisonRuns(6, 1, 1, nil), gating.Default()),
		"pass":      compare.Compare(comparisonRuns(6, 1, 1, nil), long(comparisonRuns(6, 0.5, 1, nil)), gate),
		"regressed": compare.Compare(baseline(comparisonRuns(6, 1, 1, nil)), long(comparisonRuns(6, 1.2, 0.9, nil)), perStart),
		"grid":      compare.Compare(grid(1), grid(0.8), gating.Default()),
		"single":    compare.Compare(comparisonRuns(1, 1, 1, nil), unknown, gating.Default()),
	}
}

func TestComparisonsAreGolden(t *testing.T) {
	for name, c := range comparisons() {
		suffixes := map[string]string{
			"text": "txt", "markdown": "md", "junit": "xml", "github": "github", "json": "json", "bench-old": "old.bench", "bench-new": "new.bench",
		}
		for format, write := range Formats {
			var got bytes.Buffer
			if err := write(&got, c); err != nil {
				t.Fatal(err)
			}
			file := filepath.Join("testdata", name+"."+suffixes[format])
			if *update {
				if err := os.WriteFile(file, got.Bytes(), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got.Bytes(), want) {
				t.Errorf("%s is not as in %s:\n%s", name, file, got.Bytes())
			}
		}
	}
}

// A CI system takes a suite for a success that has no failure and no error.
func TestOnlyAPassIsASuccessInJUnit(t *testing.T) {
	for name, c := range comparisons() {
		var text bytes.Buffer
		if err := Formats["junit"](&text, c); err != nil {
			t.Fatal(err)
		}
		var suite junitSuite
		if err := xml.Unmarshal(text.Bytes(), &suite); err != nil {
			t.Fatal(err)
		}
		if success := suite.Failures+suite.Errors == 0; success != (c.Verdict == compare.Pass) || suite.Tests != len(suite.Cases) {
			t.Errorf("%s is %s: %d failures, %d errors in %d of %d tests", name, c.Verdict, suite.Failures, suite.Errors, suite.Tests, len(suite.Cases))
		}
	}
}

// GitHub shows ten annotations of a step, and a dozen runs may each be SUSPECT for another
// reason.
func TestAnnotationsAreFewerThanGitHubShows(t *testing.T) {
	c := &compare.Comparison{Verdict: compare.NoVerdict}
	for i := range 12 {
		c.Reasons = append(c.Reasons, fmt.Sprintf("new run %d: SUSPECT: lag p99 %d ms", i+1, i))
		c.Notes = append(c.Notes, fmt.Sprintf("note %d", i))
	}
	var text bytes.Buffer
	if err := Formats["github"](&text, c); err != nil {
		t.Fatal(err)
	}
	got := text.String()
	if strings.Count(got, "\n") != 2 || !strings.HasPrefix(got, "::warning title=servebench NO VERDICT::new run 1: ") ||
		!strings.Contains(got, "%0Anew run 12: SUSPECT: lag p99 11 ms\n::notice title=servebench compare::note 0%0Anote 1%0A") {
		t.Error(got)
	}
}

func TestAnnotationsAreOneLineEach(t *testing.T) {
	c := &compare.Comparison{Verdict: compare.Regressed, Reasons: []string{"100 % of\r\nit"}}
	var text bytes.Buffer
	if err := Formats["github"](&text, c); err != nil {
		t.Fatal(err)
	}
	if want := "::error title=servebench REGRESSED::100 %25 of%0D%0Ait\n"; text.String() != want {
		t.Errorf("%q", text.String())
	}
}

// Every member of the JSON is in the page that describes it.
func TestComparisonJSONIsDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/files.md")
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := Formats["json"](&text, comparisons()["regressed"]); err != nil {
		t.Fatal(err)
	}
	var whole map[string]any
	if err := json.Unmarshal(text.Bytes(), &whole); err != nil {
		t.Fatal(err)
	}
	var check func(v any)
	check = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for key, v := range v {
				if !strings.Contains(string(page), "`"+key+"`") {
					t.Errorf("%s is not described", key)
				}
				if key != "numbers" && key != "asked" && key != "values" {
					check(v)
				}
			}
		case []any:
			for _, v := range v {
				check(v)
			}
		}
	}
	check(whole)
}

func TestBenchmarkLinesAreReadByBenchfmt(t *testing.T) {
	var text bytes.Buffer
	if err := Formats["bench-new"](&text, comparisons()["grid"]); err != nil {
		t.Fatal(err)
	}
	values := map[string][]float64{}
	in := benchfmt.NewReader(&text, "new")
	for in.Scan() {
		switch rec := in.Result().(type) {
		case *benchfmt.Result:
			for _, v := range rec.Values {
				name := string(rec.Name) + " " + v.Unit
				values[name] = append(values[name], v.Value)
			}
		case *benchfmt.SyntaxError:
			t.Error(rec)
		}
	}
	if err := in.Err(); err != nil {
		t.Fatal(err)
	}
	got := values["MedianTTFT/dataset-path=a,_b_c/request-rate=4 sec/op"]
	if len(got) != 6 || math.Abs(got[0]-0.032) > 1e-12 {
		t.Errorf("median TTFT: %v of %v", got, slices.Sorted(maps.Keys(values)))
	}
	if got := values["OutputThroughput/dataset-path=d/request-rate=16 tok/s"]; len(got) != 6 || got[0] != 2500 {
		t.Errorf("output throughput: %v", got)
	}
}

// The tool itself puts the two files side by side and finds what differs.
func TestBenchstatComparesOldAndNew(t *testing.T) {
	dir := t.TempDir()
	for name, format := range map[string]string{"old.txt": "bench-old", "new.txt": "bench-new"} {
		var text bytes.Buffer
		if err := Formats[format](&text, comparisons()["regressed"]); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), text.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("go", "run", "golang.org/x/perf/cmd/benchstat", filepath.Join(dir, "old.txt"), filepath.Join(dir, "new.txt"))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{"MedianTTFT", "40.40m", "48.48m", "+20.00% (p=0.002 n=6)", "OutputThroughput", "-10.00% (p=0.002 n=6)", "sec/op", "tok/s"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
}
