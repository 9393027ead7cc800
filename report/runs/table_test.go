package runs

import (
	"encoding/json"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect/reasoning"
	"github.com/servebench/servebench/metrics/stream"
	"github.com/servebench/servebench/metrics/verdict"
	"github.com/servebench/servebench/report/reporttest"
)

// sampleTable has a run, one that failed, and one of which little is known.
func sampleTable(t *testing.T) Table {
	t.Helper()
	known := &metrics.Summary{
		Header: &metrics.Header{Run: "r1"}, Completed: 3, Failed: 1, Trust: &verdict.Trust{Verdict: verdict.Suspect, Checks: []verdict.Check{{Name: "lag", Text: "lag p99 9 ms"}}}, When: metrics.When{Seconds: 2.5}, Rates: metrics.Rates{Requests: 1.2, Output: 30, Total: 45.678},
	}
	for _, s := range []float64{0.010, 0.020} {
		known.TTFT.Add(s)
	}
	block, err := stream.Read(strings.NewReader("============ Serving Benchmark Result ============\nSuccessful requests: 5\n"+
		strings.Repeat("=", 50)+"\n"), metrics.Ask{})
	if err != nil {
		t.Fatal(err)
	}
	return Table{Rows: []Row{
		{Labels: []metrics.KV{{Key: "arm", Value: "a|b"}, {Key: "rate", Value: "inf"}}, Summary: known},
		{Labels: []metrics.KV{{Key: "arm", Value: "c"}, {Key: "repeat", Value: "2"}}, Failed: "no port,\n  none", Notes: []string{"odd"}},
		{Labels: []metrics.KV{{Key: "arm", Value: "d"}}, Summary: block[0]},
	}}
}

func TestMarkdownTable(t *testing.T) {
	var out strings.Builder
	if err := sampleTable(t).Markdown(&out); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(out.String(), "\n")
	for i, want := range []string{
		"| arm  | rate | repeat | completed | failed |    s | req/s | output tok/s | total tok/s | mean TTFT ms | P99 TTFT ms | ",
		"| ---- | ---- | ------ | --------: | -----: | ---: | ----: | -----------: | ----------: | -----------: | ----------: | ",
		`| a\|b | inf  |        |         3 |      1 | 2.50 |  1.20 |        30.00 |       45.68 |        15.00 |      19.90* | `,
		"| c    |      | 2      |           |        |      |       |              |             |              |             | ",
		"| d    |      |        |         5 |        |      |       |              |             |              |             | ",
		"",
		"`*` fewer than 10 values beyond this percentile: too few to decide anything by it",
		"",
		"- arm a|b, rate inf: SUSPECT: lag p99 9 ms",
		"- arm c, repeat 2: FAILED: odd; no port, none",
	} {
		if i >= len(lines) || !strings.HasPrefix(lines[i], want) {
			t.Errorf("line %d of\n%s\nis not\n%s", i+1, out.String(), want)
		}
	}
}

// A row says why it is not VALID.
func TestTableNamesAnOverloadedRun(t *testing.T) {
	table := sampleTable(t)
	table.Rows[0].Summary.Trust = &verdict.Trust{Verdict: verdict.Overloaded, Checks: []verdict.Check{{Name: "backlog", Text: "the backlog grew"}}}
	for name, write := range map[string]func(io.Writer) error{"Markdown": table.Markdown, "CSV": table.CSV, "JSON": table.JSON} {
		var out strings.Builder
		if err := write(&out); err != nil || strings.Count(out.String(), "OVERLOADED") == 0 || !strings.Contains(out.String(), "the backlog grew") {
			t.Errorf("%s: %v\n%s", name, err, &out)
		}
	}
}

// The note of a probe that failed may have a reason of the verdict already.
func TestTableSaysAReasonOnce(t *testing.T) {
	table := sampleTable(t)
	table.Rows[0].Notes = []string{"mean TTFT is 9 ms, above 5 ms; SUSPECT: lag p99 9 ms"}
	var out strings.Builder
	if err := table.Markdown(&out); err != nil || strings.Count(out.String(), "lag p99 9 ms") != 1 {
		t.Errorf("%v\n%s", err, &out)
	}
}

// The line about a probe of a VALID run begins with why the probe failed.
func TestTableSaysNoVALIDBeforeAReason(t *testing.T) {
	table := sampleTable(t)
	table.Rows[0].Notes = []string{"mean TTFT is 9 ms, above 5 ms"}
	table.Rows[0].Summary.Trust = &verdict.Trust{Verdict: verdict.Valid}
	var out strings.Builder
	if err := table.Markdown(&out); err != nil || !strings.Contains(out.String(), ": mean TTFT is 9 ms, above 5 ms\n") || strings.Contains(out.String(), "VALID: ") {
		t.Errorf("%v\n%s", err, &out)
	}
}

func TestCSVTable(t *testing.T) {
	var out strings.Builder
	if err := sampleTable(t).CSV(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"arm,rate,repeat,completed,failed,duration_s,requests_per_s,output_tokens_per_s,total_tokens_per_s,mean_ttft_ms,p99_ttft_ms,",
		"\na|b,inf,,3,1,2.50,1.20,30.00,45.68,15.00,19.90,", ",SUSPECT,lag p99 9 ms\n",
		"\nc,,2,,,,", `,FAILED,"odd; no port, none"` + "\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s\nlacks %q", out.String(), want)
		}
	}
}

func TestJSONTable(t *testing.T) {
	var out strings.Builder
	if err := sampleTable(t).JSON(&out); err != nil {
		t.Fatal(err)
	}
	var rows []struct {
		Labels    map[string]string
		Run       string
		Completed *int
		Failed    *int
		TTFT      *float64 `json:"mean_ttft_ms"`
		Verdict   string
		Remark    string
	}
	if err := json.Unmarshal([]byte(out.String()), &rows); err != nil || len(rows) != 3 {
		t.Fatalf("%v in\n%s", err, out.String())
	}
	if r := rows[0]; r.Labels["arm"] != "a|b" || r.Run != "r1" || *r.Completed != 3 || *r.TTFT != 15 || r.Verdict != "SUSPECT" {
		t.Errorf("%+v", r)
	}
	if r := rows[1]; r.Completed != nil || r.TTFT != nil || r.Remark != "odd; no port, none" || r.Verdict != "FAILED" {
		t.Errorf("%+v", r)
	}
	if r := rows[2]; *r.Completed != 5 || r.Failed != nil || r.TTFT != nil {
		t.Errorf("%+v", r)
	}
}

func TestTableHasThePercentilesAskedFor(t *testing.T) {
	sum := func(percentiles ...float64) *metrics.Summary {
		s := &metrics.Summary{Header: &metrics.Header{Config: metrics.Config{Percentiles: percentiles}}, Completed: 1}
		for i := range 200 {
			s.TTFT.Add(float64(i+1) / 1000)
		}
		return s
	}
	var out strings.Builder
	if err := (Table{Rows: []Row{{Summary: sum(99.9, 50)}, {Summary: sum(90)}}}).Markdown(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"| mean TTFT ms | P50 TTFT ms | P90 TTFT ms | P99.9 TTFT ms | mean TPOT ms |", "|       100.50 |      100.50 |      180.10 |       199.80* |"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}

// A table with a run of sessions has columns about them, empty for other runs.
func TestTablesOfSessionsHaveTheirColumns(t *testing.T) {
	table := Table{Rows: []Row{{Labels: []metrics.KV{{Key: "arm", Value: "a"}}, Summary: reporttest.Talks()}, {Labels: []metrics.KV{{Key: "arm", Value: "b"}}, Summary: reporttest.Fair()}}}
	for width, want := range map[int][]string{
		80:  {"job s  cached  TTFT ms\n", "sessions/s  median       %     mean\n", "0.92    2.99   54.34"},
		120: {"sessions/s  median"},
	} {
		var b strings.Builder
		if err := table.Text(&b, width, "rest"); err != nil {
			t.Fatal(err)
		}
		for _, words := range want {
			if !strings.Contains(b.String(), words) {
				t.Errorf("no %q in\n%s", words, &b)
			}
		}
	}
	var csv strings.Builder
	if err := table.CSV(&csv); err != nil || !strings.HasPrefix(csv.String(), "arm,completed,failed,duration_s,requests_per_s,output_tokens_per_s,total_tokens_per_s,sessions_per_s,median_job_s,cached_percent,") ||
		!strings.Contains(csv.String(), ",0.92,2.99,54.34,") || !strings.Contains(csv.String(), ",,,,") {
		t.Errorf("%v\n%s", err, &csv)
	}
	csv.Reset()
	if err := (Table{Rows: table.Rows[1:]}).CSV(&csv); err != nil || strings.Contains(csv.String(), "session") {
		t.Errorf("%v\n%s", err, &csv)
	}
}

// Runs without reasoning have TTFT to the first content there.
func TestTablesOfReasoningHaveTTFO(t *testing.T) {
	table := sampleTable(t)
	sum := table.Rows[0].Summary
	sum.Truth = new(metrics.Truth)
	sum.Give(reasoning.Kind, &reasoning.Reasoning{ContentTTFT: sum.TTFT})
	var text strings.Builder
	if err := table.Markdown(&text); err != nil || strings.Contains(text.String(), "TTFO") {
		t.Fatalf("without reasoning: %v\n%s", err, text.String())
	}
	reasoned := *sum
	of := &reasoning.Reasoning{Answers: 1}
	of.TTFO.Add(0.5)
	reasoned.Give(reasoning.Kind, of)
	table.Rows = append(table.Rows, Row{Labels: []metrics.KV{{Key: "arm", Value: "e"}}, Summary: &reasoned})
	text.Reset()
	if err := table.CSV(&text); err != nil {
		t.Fatal(err)
	}
	rows := strings.Split(text.String(), "\n")
	i := slices.Index(strings.Split(rows[0], ","), "mean_ttfo_ms")
	if i < 0 {
		t.Fatalf("no column in %s", rows[0])
	}
	for k, want := range []string{"15.00", "", "", "500.00"} {
		if got := strings.Split(rows[k+1], ",")[i]; got != want {
			t.Errorf("row %d: %q, want %q", k+1, got, want)
		}
	}
}

// A label is what a file of an experiment says: it must not run in a spreadsheet.
func TestNoLabelIsAFormula(t *testing.T) {
	table := Table{Rows: []Row{{Labels: []metrics.KV{{Key: "=arm", Value: "=1+1"}}, Failed: "@SUM(1)"}}}
	var text strings.Builder
	if err := table.CSV(&text); err != nil || !strings.HasPrefix(text.String(), "'=arm,") || !strings.Contains(text.String(), "\n'=1+1,") || strings.Contains(text.String(), ",@") {
		t.Errorf("%v\n%s", err, &text)
	}
}

// A damaged file may have any number. The table of people has a short one, and CSV has it as it is.
func TestTableOfAbsurdNumbersIsReadable(t *testing.T) {
	s := metrics.Unknown()
	s.Rates.Requests, s.Rates.Output, s.TTFT.Quoted.Mean, s.When.Seconds = 1e308, math.Inf(1), 1e9, 999999999
	var text, csv strings.Builder
	table := Table{Rows: []Row{{Summary: s}, {Summary: metrics.Unknown()}}}
	if err := table.Text(&text, 200, ""); err != nil {
		t.Fatal(err)
	}
	if err := table.CSV(&csv); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"1.00e+308", "infinite", "1.00e+09"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %s in\n%s", want, text.String())
		}
	}
	if strings.Contains(text.String(), "00000000") || !strings.Contains(csv.String(), "1000000000.00") {
		t.Errorf("%s\n%s", text.String(), csv.String())
	}
}
