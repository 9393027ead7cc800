package export

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect"
	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/verdict"
)

const ms = time.Millisecond

// recorded are the requests of a run: one that completed with so many milliseconds between
// its chunks, one that failed and one of the warm-up.
func recorded(gap time.Duration) []*record.Record {
	done := &record.Record{ID: "r-0", Adapter: "sql",
		Session: &record.Turn{ID: "s", Turns: 3, Agent: "main", SessionSlot: ms, Ready: 2 * ms, At: new(-4 * ms), Reusable: 0}, Attempts: 2,
		Payload: &record.Payload{Images: 2, Audio: 1.5, Inputs: 3, Bytes: 4096}, Conn: record.Conn{New: true, DNS: ms, Connect: ms}, Server: &record.ServerTimes{QueueMS: new(1.5)}, Times: record.Times{Due: ms, Slot: 2 * ms, Sent: 3 * ms, FirstByte: 10 * ms, FirstContent: 11 * ms, FirstOutput: 18 * ms, End: time.Second}, Answer: record.Answer{Reasoned: true, Finish: "length"},
		Tokens: record.Tokens{In: 7, InAsked: 8, Cached: 4, Out: 3, OutReasoned: 2, OutAsked: 3}, Result: record.Result{Status: 200}}
	for i := range 3 {
		done.Answer.Chunks.Append(11*ms + time.Duration(i)*gap)
	}
	done.Times.Last = done.Answer.Chunks.Last()
	failed := &record.Record{Index: 1, Turn: 2,
		Session: &record.Turn{ID: "s", Turns: 3, Waits: []int{0, 1}, Tool: true, Ready: 2 * ms, Gap: 3 * ms, History: 9, Reusable: -1, Answered: 4}, Times: record.Times{Due: 5 * ms, Slot: 5 * ms, Sent: 5 * ms, End: 6 * ms}, Result: record.Result{Class: record.Status, Status: 503, Error: "a, \"b\"\nc"}}
	warm := *done
	warm.Phase, warm.ID, warm.Index, warm.Session = record.WarmUp, "r-w", 2, nil
	return []*record.Record{done, failed, &warm}
}

// summaries are runs on two arms, the first of which is repeated.
func summaries(each func(*metrics.Header, *record.Record)) (sums []*metrics.Summary) {
	for i, arm := range []string{"old", "old", "new"} {
		h := &metrics.Header{Run: string(rune('a' + i)), Version: "1", Epoch: time.Unix(int64(i), 0), Config: metrics.Config{
			Backend: "openai", Model: "m", Dataset: "random", NumPrompts: 2, RequestRate: 10, Seed: int64(i),
			Metadata: []metrics.KV{{Key: "arm", Value: arm}}, Percentiles: []float64{50, 99, 99.9},
		}}
		c := aspect.Collector(h)
		for _, r := range recorded(time.Duration(10+i) * ms) {
			c.Add(r)
			each(h, r)
		}
		s := c.Summary(2)
		s.Trust = &verdict.Trust{Verdict: verdict.Suspect, Checks: []verdict.Check{{Name: "failed", Text: "1 of 2 requests failed"}}}
		sums = append(sums, s)
	}
	return sums
}

// written is what a format makes of summaries.
func written(t *testing.T, format string) string {
	t.Helper()
	var out bytes.Buffer
	f := &Files{Stdout: &out}
	if err := f.Add(format + "=-"); err != nil {
		t.Fatal(err)
	}
	err := f.Write(func() error {
		for _, s := range summaries(f.Request) {
			if lacking := f.Run(s); lacking != "" {
				t.Error(lacking)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestRunsHaveARowEach(t *testing.T) {
	rows, err := csv.NewReader(strings.NewReader(written(t, "csv"))).ReadAll()
	if err != nil || len(rows) != 4 {
		t.Fatalf("%q, %v", rows, err)
	}
	for name, want := range map[string][]string{
		"run": {"a", "b", "c"}, "began": {"1970-01-01T00:00:00Z", "1970-01-01T00:00:01Z", "1970-01-01T00:00:02Z"}, "arm": {"old", "old", "new"},
		"model": {"m", "m", "m"}, "request_rate": {"10", "10", "10"}, "max_concurrency": {"unlimited", "unlimited", "unlimited"}, "label": {"", "", ""},
		"completed": {"1", "1", "1"}, "failed": {"1", "1", "1"}, "duration_s": {"2", "2", "2"}, "requests_per_s": {"0.5", "0.5", "0.5"},
		"good_requests_per_s": {"", "", ""}, "output_tokens_per_s": {"1.5", "1.5", "1.5"}, "median_ttft_ms": {"8", "8", "8"},
		"mean_itl_ms": {"10", "11", "12"}, "p99.9_e2el_ms": {"28", "30", "32"}, "verdict": {"SUSPECT", "SUSPECT", "SUSPECT"},
		"remark": slices.Repeat([]string{"1 of 2 requests failed"}, 3),
	} {
		i := slices.Index(rows[0], name)
		if i < 0 {
			t.Errorf("there is no column %s: %q", name, rows[0])
			continue
		}
		if got := []string{rows[1][i], rows[2][i], rows[3][i]}; !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestRequestsHaveARowEach(t *testing.T) {
	rows, err := csv.NewReader(strings.NewReader(written(t, "requests-csv"))).ReadAll()
	if err != nil || len(rows) != 10 {
		t.Fatalf("%q, %v", rows, err)
	}
	for name, want := range map[string][]string{ // done, failed, warm-up
		"run": {"a", "a", "a"}, "target": {"", "", ""}, "shard": {"0", "0", "0"}, "index": {"0", "1", "2"}, "turn": {"0", "2", "0"}, "request_id": {"r-0", "", "r-w"}, "adapter": {"sql", "", "sql"},
		"phase": {"main", "main", "warm-up"}, "completed": {"true", "false", "true"}, "failure": {"", "status", ""}, "status": {"200", "503", "200"},
		"error": {"", "a, \"b\"\nc", ""}, "finish_reason": {"length", "", "length"}, "attempts": {"2", "1", "2"},
		"due_s": {"0.001", "0.005", "0.001"}, "slot_s": {"0.002", "0.005", "0.002"}, "sent_s": {"0.003", "0.005", "0.003"}, "first_byte_s": {"0.01", "", "0.01"},
		"first_content_s": {"0.011", "", "0.011"}, "last_chunk_s": {"0.031", "", "0.031"}, "end_s": {"1", "0.006", "1"},
		"lag_ms": {"1", "0", ""}, "queue_ms": {"1", "", ""}, "ttft_ms": {"8", "", ""}, "ttfo_ms": {"15", "", ""}, "tpot_ms": {"10", "", ""}, "e2el_ms": {"28", "", ""}, "chunks": {"3", "0", "3"},
		"input_tokens": {"7", "0", "7"}, "input_tokens_asked": {"8", "0", "8"}, "cached_tokens": {"4", "0", "4"}, "output_tokens": {"3", "0", "3"}, "reasoning_tokens": {"2", "", "2"}, "output_tokens_asked": {"3", "0", "3"},
		"new_connection": {"true", "false", "true"}, "connecting_ms": {"2", "0", "2"}, "server_queue_ms": {"1.5", "", "1.5"}, "server_ttft_ms": {"", "", ""},
		"images": {"2", "", "2"}, "videos": {"", "", ""}, "sound_s": {"1.5", "", "1.5"}, "inputs": {"3", "", "3"}, "body_bytes": {"4096", "", "4096"},
		"session": {"s", "s", ""}, "session_turns": {"3", "3", ""}, "agent": {"main", "", ""}, "session_slot_s": {"0.001", "0", ""}, "ready_s": {"0.002", "0.002", ""},
		"gap_ms": {"0", "3", ""}, "tool_gap": {"", "true", ""}, "at_s": {"-0.004", "", ""}, "drift_ms": {"5", "", ""},
		"history_tokens": {"0", "9", ""}, "reusable_tokens": {"0", "", ""}, "answered_tokens": {"", "4", ""},
	} {
		i := slices.Index(rows[0], name)
		if i < 0 {
			t.Errorf("there is no column %s: %q", name, rows[0])
			continue
		}
		if got := []string{rows[1][i], rows[2][i], rows[3][i]}; !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// A table has columns about sessions if one of its runs has sessions.
func TestRunsOfSessionsHaveTheirColumns(t *testing.T) {
	h := &metrics.Header{Run: "s", Config: metrics.Config{Percentiles: []float64{99}, Goodput: []metrics.SLO{{Metric: "ttft", Limit: 1000}}}}
	c := aspect.Collector(h)
	for i := range 4 {
		first, second := *recorded(ms)[0], *recorded(ms)[0]
		first.Index, second.Index, second.Turn = i, i, 1
		first.Session, second.Session = &record.Turn{Turns: 2, Reusable: 0}, &record.Turn{Turns: 2, Waits: []int{0}, Reusable: 5, Ready: 31 * ms}
		if i == 3 {
			second.Result.Class = record.Reset
		}
		c.Add(&first)
		if i != 2 {
			c.Add(&second)
		}
	}
	single := aspect.Collector(&metrics.Header{Run: "single", Config: h.Config})
	request := *recorded(ms)[0]
	request.Session = nil
	single.Add(&request)
	table := func(runs ...*runRow) [][]string {
		var text bytes.Buffer
		if err := runsCSV(&text, runs); err != nil {
			t.Fatal(err)
		}
		rows, err := csv.NewReader(&text).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		return rows
	}
	rows := table(newRun(c.Summary(2)), newRun(single.Summary(2)))
	for name, want := range map[string]string{
		"sessions": "4", "sessions_completed": "2", "sessions_broken": "1", "sessions_cut": "1", "turns_unsent": "1", "sessions_per_s": "1", "good_sessions_per_s": "1",
		"cached_share": "0.571429", "reused_share": "2.4", "median_job_ms": "999", "p90_job_ms": "999",
	} {
		if i := slices.Index(rows[0], name); i < 0 || rows[1][i] != want || rows[2][i] != "" {
			t.Errorf("%s is not %q: %q", name, want, rows)
		}
	}
	for _, name := range table(newRun(single.Summary(2)))[0] {
		if strings.Contains(name, "session") || strings.Contains(name, "job") || strings.Contains(name, "cached") {
			t.Errorf("runs without sessions have a column %s", name)
		}
	}
}

// Parquet has the columns and the values of CSV, and the lists besides.
func TestParquetIsAsCSV(t *testing.T) {
	file := strings.NewReader(written(t, "requests-parquet"))
	opened, err := parquet.OpenFile(file, file.Size())
	if err != nil {
		t.Fatal(err)
	}
	want, err := csv.NewReader(strings.NewReader(written(t, "requests-csv"))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	rows := make([]any, len(want)-1)
	if n, err := parquet.NewGenericReader[any](opened).Read(rows); n != len(rows) || err != nil && !errors.Is(err, io.EOF) {
		t.Fatal(n, err)
	}
	for i, row := range rows {
		for k, name := range want[0] {
			if got := spelled(row.(map[string]any)[name]); got != want[i+1][k] {
				t.Errorf("row %d: %s is %q, want %q", i, name, got, want[i+1][k])
			}
		}
	}
	for i, lists := range map[int]string{0: "[10 10] []", 1: "[] [0 1]", 3: "[11 11] []"} {
		row := rows[i].(map[string]any)
		if got := fmt.Sprint(row["itl_ms"], " ", row["waits"]); got != lists {
			t.Errorf("row %d: %s, want %s", i, got, lists)
		}
	}
}

// A row group is in memory until it is full, however many requests there are.
func TestRowGroupsAreBounded(t *testing.T) {
	var file bytes.Buffer
	table := newParquet(&file).(*parquetTable)
	table.most = 130 // some three rows
	summaries(func(h *metrics.Header, r *record.Record) {
		if err := table.add(newRequest(h, r)); err != nil {
			t.Fatal(err)
		}
	})
	if err := table.Close(); err != nil {
		t.Fatal(err)
	}
	opened, err := parquet.OpenFile(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(opened.RowGroups()); n != 3 || opened.NumRows() != 9 {
		t.Errorf("%d rows in %d groups", opened.NumRows(), n)
	}
}

// An entry needs a name that no other has, a unit and a number: this is what
// github-action-benchmark reads by, and what its README documents. Its npm package is not
// published, so that it cannot read the files here.
func TestBenchmarksAreAsDocumented(t *testing.T) {
	for format, want := range map[string]map[string]benchmark{
		"smaller-is-better": {
			"arm old: mean_itl":    {Unit: "ms", Value: 10.5, Range: "± 0.7071", Extra: "2 runs"},
			"arm new: mean_itl":    {Unit: "ms", Value: 12, Extra: "1 run"},
			"arm old: median_ttft": {Unit: "ms", Value: 8, Range: "± 0", Extra: "2 runs"},
		},
		"bigger-is-better": {
			"arm old: output_throughput":  {Unit: "tok/s", Value: 1.5, Range: "± 0", Extra: "2 runs"},
			"arm new: request_throughput": {Unit: "req/s", Value: 0.5, Extra: "1 run"},
		},
	} {
		var entries []map[string]any
		text := written(t, format)
		if err := json.Unmarshal([]byte(text), &entries); err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for _, e := range entries {
			name, _ := e["name"].(string)
			unit, _ := e["unit"].(string)
			_, number := e["value"].(float64)
			if name == "" || unit == "" || !number || seen[name] {
				t.Errorf("%s: %v", format, e)
			}
			seen[name] = true
			for member, value := range e {
				if _, text := value.(string); !slices.Contains([]string{"name", "unit", "value", "range", "extra"}, member) || text == (member == "value") {
					t.Errorf("%s: %s is %v", format, member, value)
				}
			}
			got := benchmark{Unit: unit, Value: e["value"].(float64), Extra: e["extra"].(string)}
			got.Range, _ = e["range"].(string)
			if w, listed := want[name]; listed && got != w {
				t.Errorf("%s: %+v, want %+v", name, got, w)
			}
		}
		for name := range want {
			if !seen[name] {
				t.Errorf("%s lacks %s:\n%s", format, name, text)
			}
		}
	}
}

func TestOneLoadNeedsNoName(t *testing.T) {
	sums := summaries(func(*metrics.Header, *record.Record) {})[:2]
	if got := names([]*runRow{newRun(sums[0]), newRun(sums[1])}); !slices.Equal(got, []string{"", ""}) {
		t.Errorf("%q", got)
	}
	sums[1].Header.Config.RequestRate = 20
	if got := names([]*runRow{newRun(sums[0]), newRun(sums[1])}); !slices.Equal(got, []string{"request-rate 10", "request-rate 20"}) {
		t.Errorf("%q", got)
	}
}

func TestFilesAreWholeOrNotThere(t *testing.T) {
	dir := t.TempDir()
	broken := errors.New("it cannot be read")
	for _, fail := range []error{broken, nil} {
		var f Files
		for _, format := range formats() {
			if err := f.Add(format + "=" + filepath.Join(dir, format)); err != nil {
				t.Fatal(err)
			}
		}
		err := f.Write(func() error {
			for _, s := range summaries(f.Request) {
				f.Run(s)
			}
			return fail
		})
		if !errors.Is(err, fail) {
			t.Error(err)
		}
		files, err := os.ReadDir(dir)
		if want := len(formats()); err != nil || fail == nil && len(files) != want || fail != nil && len(files) != 0 {
			t.Errorf("%v: %v, %v", fail, files, err)
		}
	}
}

// full takes so many bytes and no more.
type full int

func (f *full) Write(p []byte) (int, error) {
	if *f -= full(len(p)); *f < 0 {
		return 0, io.ErrShortWrite
	}
	return len(p), nil
}

func TestFullDiskIsAnError(t *testing.T) {
	for _, format := range formats() {
		for _, space := range []full{0, 100} {
			f := &Files{Stdout: &space}
			if err := f.Add(format + "=-"); err != nil {
				t.Fatal(err)
			}
			err := f.Write(func() error {
				for _, s := range summaries(f.Request) {
					f.Run(s)
				}
				return nil
			})
			if !errors.Is(err, io.ErrShortWrite) {
				t.Errorf("%s: %v", format, err)
			}
		}
	}
}

func TestFilesSayWhatTheyLack(t *testing.T) {
	f := &Files{Stdout: io.Discard}
	for _, wrong := range []string{"csv", "csv=", "=x", "parquet=x"} {
		if err := f.Add(wrong); err == nil || !strings.HasSuffix(err.Error(), "it must be FORMAT=FILE with a format of bigger-is-better, csv, requests-csv, requests-parquet, smaller-is-better") {
			t.Errorf("%s: %v", wrong, err)
		}
	}
	if f.Any() || f.Printed() {
		t.Error("what is wrong counts")
	}
	if err := f.Add("requests-csv=-"); err != nil || !f.Printed() {
		t.Error(err)
	}
	err := f.Write(func() error {
		s := summaries(func(*metrics.Header, *record.Record) {})[0]
		if lacking := f.Run(s); !strings.HasPrefix(lacking, "single requests are not known") {
			t.Errorf("%q", lacking)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if err := benchmarks(io.Discard, nil, nil); err == nil {
		t.Error("github-action-benchmark takes no empty array")
	}
}

// A format that cannot be written does not take the others with it.
func TestOneFormatDoesNotKeepOthersFromBeingWritten(t *testing.T) {
	dir := t.TempDir()
	var f Files
	for _, format := range []string{"requests-csv", "smaller-is-better", "csv"} {
		if err := f.Add(format + "=" + filepath.Join(dir, format)); err != nil {
			t.Fatal(err)
		}
	}
	err := f.Write(func() error { // no run, and so no number for a chart
		for _, r := range recorded(ms) {
			f.Request(&metrics.Header{Run: "a"}, r)
		}
		return nil
	})
	if err == nil || !strings.Contains(err.Error(), "these runs have no number to write") {
		t.Error(err)
	}
	for _, format := range []string{"requests-csv", "csv"} {
		if text, err := os.ReadFile(filepath.Join(dir, format)); err != nil || !strings.HasPrefix(string(text), "run,") {
			t.Errorf("%s: %q, %v", format, text, err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "smaller-is-better")); err == nil {
		t.Error("a file without numbers is there")
	}
}

// No two columns have one name, and a text is no formula.
func TestMetadataIsToldFromOtherColumns(t *testing.T) {
	h := &metrics.Header{Run: "a", Config: metrics.Config{Model: "@m", RequestRate: 10, Percentiles: []float64{99}, Metadata: []metrics.KV{
		{Key: "model", Value: "=1+1"}, {Key: "", Value: "-5"}, {Key: "p99_ttft_ms", Value: "+a"}, {Key: "-x", Value: "\tb"}, {Key: "metadata.remark", Value: "c"}, {Key: "remark", Value: "d"},
	}}}
	var text bytes.Buffer
	if err := runsCSV(&text, []*runRow{newRun(aspect.Collector(h).Summary(1))}); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&text).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if distinct := metrics.Distinct(rows[0]); len(distinct) != len(rows[0]) {
		t.Errorf("%q", rows[0])
	}
	for name, want := range map[string]string{
		"model": "'@m", "metadata.model": "'=1+1", "metadata.": "-5", "metadata.p99_ttft_ms": "'+a", "'-x": "'\tb",
		"metadata.remark": "c", "metadata.metadata.remark": "d",
	} {
		if i := slices.Index(rows[0], name); i < 0 || rows[1][i] != want {
			t.Errorf("%s: %q", name, rows)
		}
	}
}

func TestTextsOfRequestsAreNoFormulas(t *testing.T) {
	var text bytes.Buffer
	table := newCSV(&text)
	if err := table.add(newRequest(&metrics.Header{Run: "a"}, &record.Record{Result: record.Result{Class: record.Status, Error: "=cmd"}})); err != nil {
		t.Fatal(err)
	}
	if err := table.Close(); err != nil || !strings.Contains(text.String(), ",'=cmd,") {
		t.Errorf("%s, %v", text.String(), err)
	}
}

var update = flag.Bool("update", false, "write the tables of docs/files.md")

var (
	columnOfRun     = regexp.MustCompile(`(?ms)(?:^\t// ([^\n]*)\n)?^\t\{"([a-z0-9_]+)", func.*?\}\},(?: +// ([^\n]*))?$`)
	columnOfRequest = regexp.MustCompile(`(?ms)(?:^\t\t// ([^\n]*)\n)?^\t\t\{"([a-z0-9_]+)", (?:none|unknown|zeros), .*?\},(?: +// ([^\n]*))?$`)
)

// The tables of columns in the docs are the code's: the names, and the comments behind or above them. Columns that share
// a comment share a row.
func TestTheDocsHaveTheColumns(t *testing.T) {
	const page = "../../docs/files.md"
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	for head, source := range map[string]struct {
		file   string
		column *regexp.Regexp
		least  int
	}{
		"| column of a run | content |\n|---|---|\n":     {"run.go", columnOfRun, len(identityColumns) + len(measured) + len(ofSessions)},
		"| column of a request | content |\n|---|---|\n": {"request.go", columnOfRequest, len(columnsOfRequests())},
	} {
		code, err := os.ReadFile(source.file)
		if err != nil {
			t.Fatal(err)
		}
		found := source.column.FindAllStringSubmatch(string(code), -1)
		if len(found) != source.least {
			t.Errorf("%s: %d columns, want %d", source.file, len(found), source.least)
		}
		rows := ""
		for _, c := range found {
			name, comment := c[2], c[1]+c[3]
			if comment == "" {
				last := strings.LastIndex(rows, " | ")
				rows = rows[:last] + ", `" + name + "`" + rows[last:]
			} else {
				rows += "| `" + name + "` | " + comment + " |\n"
			}
		}
		before, after, there := strings.Cut(text, head)
		if !there {
			t.Fatalf("%s has no table %q", page, head)
		}
		for strings.HasPrefix(after, "|") {
			_, after, _ = strings.Cut(after, "\n")
		}
		text = before + head + rows + after
	}
	if *update {
		if err := os.WriteFile(page, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	} else if text != string(data) {
		t.Errorf("%s differs from the code: go test ./report/export -update", page)
	}
}

func TestFormatsAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/results.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range formats() {
		if !strings.Contains(string(page), "`"+name+"`") {
			t.Errorf("docs/results.md says nothing of %s", name)
		}
	}
}

// A grid varies a flag that has no column of its own, and --metadata may have any key.
func TestRunsHaveTheirFlagsAndPlacesAndNoColumnTwice(t *testing.T) {
	sums := summaries(func(*metrics.Header, *record.Record) {})
	for i, s := range sums {
		s.Source.Origin = metrics.Origin{File: "grid.jsonl", Number: i + 1, Of: 3}
		s.Header.Flags = []metrics.KV{{Key: "random-input-len", Value: strings.Repeat("1", i+1)}, {Key: "temperature", Value: "0"}}
		s.Header.Target = "a"
		s.Header.Config.Metadata = append(s.Header.Config.Metadata,
			metrics.KV{Key: "target", Value: "mine"}, metrics.KV{Key: "verdict", Value: "good"}, metrics.KV{Key: "metadata.target", Value: "x"})
	}
	sums[2].Header.Config.Metadata = append(sums[2].Header.Config.Metadata, metrics.KV{Key: "random_input_len", Value: "said"})
	var runs []*runRow
	for _, s := range sums {
		runs = append(runs, newRun(s))
	}
	var text bytes.Buffer
	if err := runsCSV(&text, runs); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&text).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if names := slices.Sorted(slices.Values(rows[0])); len(slices.Compact(names)) != len(rows[0]) {
		t.Errorf("a column is there twice: %q", rows[0])
	}
	for name, want := range map[string]string{
		"file": "grid.jsonl", "number": "3", "target": "a", "metadata.target": "mine", "metadata.metadata.target": "x", "metadata.verdict": "good",
		"random_input_len": "said", "flag.random_input_len": "111", "verdict": "SUSPECT",
	} {
		if i := slices.Index(rows[0], name); i < 0 || rows[3][i] != want {
			t.Errorf("%s is not %q: %q, %q", name, want, rows[0], rows[3])
		}
	}
	if slices.Contains(rows[0], "temperature") {
		t.Error("a flag that is the same in all runs has a column")
	}
}
