package exporter

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"iter"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/metrics/record"
)

// scraped are the values of a scrape by series, a histogram's count for it. The
// scrape is of the form that native histograms need.
func scraped(t *testing.T, e *Exporter) (values map[string]float64, families map[string]*dto.MetricFamily) {
	t.Helper()
	request := httptest.NewRequest("GET", "/metrics", nil)
	request.Header.Set("Accept", "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited")
	answer := httptest.NewRecorder()
	e.ServeHTTP(answer, request)
	reader := expfmt.NewDecoder(answer.Body, expfmt.ResponseFormat(answer.Result().Header))
	values, families = map[string]float64{}, map[string]*dto.MetricFamily{}
	for {
		var family dto.MetricFamily
		if err := reader.Decode(&family); errors.Is(err, io.EOF) {
			return values, families
		} else if err != nil {
			t.Fatal(err)
		}
		families[family.GetName()] = &family
		for _, m := range family.Metric {
			name := strings.TrimPrefix(family.GetName(), "servebench_")
			for _, label := range m.Label {
				if label.GetValue() != "" && label.GetName() != "version" {
					name += " " + label.GetValue()
				}
			}
			values[name] = m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
}

// answer is a target that answers with so many chunks, the first after a while and
// each of the others as long after the one before, and fails when it is to.
func answer(chunks int, every time.Duration, fails func(*engine.Request) bool) engine.Target {
	send := func(_ context.Context, _ time.Time, req *engine.Request, rec *record.Record) iter.Seq2[engine.Chunk, error] {
		return func(yield func(engine.Chunk, error) bool) {
			for range chunks {
				time.Sleep(every)
				if fails != nil && fails(req) {
					yield(engine.Chunk{}, &record.Failure{Class: record.Stall, Err: errors.New("it stopped")})
					return
				}
				rec.Tokens.Out++
				if !yield(engine.Chunk{At: time.Now(), Content: true}, nil) {
					return
				}
			}
			rec.Tokens.In, rec.Times.Last = 7, rec.Answer.Chunks.Last()
		}
	}
	encode := func(c *dataset.Conversation, _ int, _ []json.RawMessage) (*engine.Request, error) {
		return &engine.Request{ID: c.ID}, nil
	}
	return engine.Target{Encode: encode, Send: send}
}

// conversations have the ids given.
func conversations(ids ...string) dataset.Source {
	return func(yield func(*dataset.Conversation, error) bool) {
		for _, id := range ids {
			if !yield(&dataset.Conversation{ID: id, Turns: make([]dataset.Turn, 1)}, nil) {
				return
			}
		}
	}
}

// load puts a load on and tells s of it.
func load(t *testing.T, s *Series, l engine.Load) {
	t.Helper()
	l.Live = new(engine.Live)
	s.Begin(l.Live)
	run := engine.Run{Loads: []engine.Load{l}, Wait: engine.Sleep}
	for rec, err := range run.Records(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		s.Take(rec)
	}
}

// compare checks the values that want has.
func compare(t *testing.T, when string, got, want map[string]float64) {
	t.Helper()
	for name, v := range want {
		if g, known := got[name]; !known || g != v {
			t.Errorf("%s: %s is %v, want %v", when, name, g, v)
		}
	}
}

func TestAScrapeShowsWhatARunIsDoing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := New("1.2.3")
		s := e.Series("", "a")
		// Three chunks, one each second: the requests are sent at 0 and at 3 s.
		done := make(chan struct{})
		go func() {
			defer close(done)
			load(t, s, engine.Load{
				Source: conversations("1", "2", "3", "bad"), Concurrency: 2,
				Target: answer(3, time.Second, func(r *engine.Request) bool { return r.ID == "bad" }),
			})
		}()
		for _, row := range []struct {
			after time.Duration
			want  map[string]float64
		}{
			{500 * time.Millisecond, map[string]float64{"requests_sent_total a": 2, "requests_in_flight a": 2, "requests_waiting a": 2, "chunks_received_total a": 0}},
			{time.Second, map[string]float64{"requests_in_flight a": 2, "requests_waiting a": 0, "chunks_received_total a": 2, "requests_completed_total a": 0}},
			{2 * time.Second, map[string]float64{
				"requests_sent_total a": 4, "requests_in_flight a": 2, "requests_waiting a": 2, "requests_completed_total a": 2,
				"prompt_tokens_total a": 14, "generated_tokens_total a": 6, "time_to_first_token_seconds a": 2, "slot_wait_seconds a": 2,
			}},
			{time.Second, map[string]float64{"requests_in_flight a": 1, "requests_waiting a": 0, "requests_failed_total stall a": 1, "requests_failed_total timeout a": 0}},
			{time.Hour, map[string]float64{
				"requests_sent_total a": 4, "requests_in_flight a": 0, "requests_waiting a": 0, "requests_completed_total a": 3,
				"chunks_received_total a": 9, "time_per_output_token_seconds a": 3, "request_duration_seconds a": 3, "slot_wait_seconds a": 3, "send_lag_seconds a": 4,
			}},
		} {
			time.Sleep(row.after)
			synctest.Wait()
			got, _ := scraped(t, e)
			compare(t, row.after.String(), got, row.want)
		}
		<-done
	})
}

// A session runs through its gaps, in which no request is in flight.
func TestAScrapeShowsSessionsInTheirGaps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := New("1.2.3")
		s := e.Series("", "a")
		done := make(chan struct{})
		source := func(yield func(*dataset.Conversation, error) bool) {
			yield(&dataset.Conversation{Turns: []dataset.Turn{{}, {Gap: 10}}}, nil)
		}
		go func() {
			defer close(done)
			load(t, s, engine.Load{Source: source, Concurrency: 1, Target: answer(1, time.Second, nil)})
		}()
		for _, row := range []struct {
			after             time.Duration
			running, inFlight float64
		}{{500 * time.Millisecond, 1, 1}, {6 * time.Second, 1, 0}, {5 * time.Second, 1, 1}, {time.Second, 0, 0}} {
			time.Sleep(row.after)
			synctest.Wait()
			got, _ := scraped(t, e)
			compare(t, row.after.String(), got, map[string]float64{"sessions_running a": row.running, "requests_in_flight a": row.inFlight})
		}
		<-done
	})
}

func TestCountersGoOnFromRunToRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := New("1.2.3")
		for range 3 {
			load(t, e.Series("off", "a"), engine.Load{Source: conversations("1", "2"), Concurrency: 2, Target: answer(2, time.Second, nil)})
		}
		load(t, e.Series("on", ""), engine.Load{
			Source: conversations("1"), Concurrency: 1, Target: answer(2, time.Second, nil),
			WarmUp: engine.WarmUp{Lasts: time.Second, Source: conversations("1")},
		})
		got, _ := scraped(t, e)
		compare(t, "in the end", got, map[string]float64{
			"requests_sent_total off a": 6, "requests_completed_total off a": 6, "chunks_received_total off a": 12, "requests_in_flight off a": 0,
			"requests_sent_total on": 2, "requests_completed_total on": 1, "warmup_requests_total on": 1, "request_duration_seconds on": 1, "slot_wait_seconds on": 1,
			"build_info": 1,
		})
	})
}

func TestHistogramsAreNativeAndClassic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := New("1.2.3")
		load(t, e.Series("", ""), engine.Load{Source: conversations("1"), Concurrency: 1, Target: answer(2, time.Second, nil)})
		_, families := scraped(t, e)
		h := families["servebench_time_to_first_token_seconds"].Metric[0].Histogram
		if len(h.PositiveSpan) != 1 || len(h.Bucket) != classicBuckets || h.GetSampleSum() != 1 {
			t.Errorf("%v", h)
		}
		text := httptest.NewRecorder()
		e.ServeHTTP(text, httptest.NewRequest("GET", "/metrics", nil))
		for _, want := range []string{
			`servebench_time_to_first_token_seconds_bucket{arm="",target="",le="1.024"} 1`,
			`servebench_time_to_first_token_seconds_bucket{arm="",target="",le="0.512"} 0`,
			`servebench_build_info{version="1.2.3"} 1`,
		} {
			if !strings.Contains(text.Body.String(), want+"\n") {
				t.Errorf("no %s in\n%s", want, text.Body)
			}
		}
	})
}

// filled is an Exporter of which every metric has values.
func filled() *Exporter {
	e := New("1.2.3")
	e.Series("", "a").Begin(new(engine.Live))
	return e
}

// promtool check metrics applies the same rules.
func TestMetricsKeepToTheRulesOfPrometheus(t *testing.T) {
	families, err := filled().registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	problems, err := promlint.NewWithMetricFamilies(families).Lint()
	if err != nil || len(problems) > 0 || len(families) < 14 {
		t.Errorf("%d metrics: %v, %v", len(families), problems, err)
	}
	for _, f := range families {
		if help := f.GetHelp(); !strings.HasSuffix(help, ".") || strings.HasSuffix(f.GetName(), "_seconds") && !strings.Contains(help, "econd") && !strings.Contains(help, "ime") {
			t.Errorf("the help of %s is %q", f.GetName(), help)
		}
	}
}

var metricName = regexp.MustCompile(`servebench_[a-z_]+`)

// The example dashboard shows only metrics that there are, and every one of them.
func TestDashboardShowsTheMetrics(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "examples", "dashboard", "grafana.json"))
	if err != nil {
		t.Fatal(err)
	}
	var dashboard struct {
		Panels []struct {
			Title       string
			FieldConfig struct{ Defaults struct{ Unit string } }
			Targets     []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(text, &dashboard); err != nil {
		t.Fatal(err)
	}
	_, families := scraped(t, filled())
	var shown []string
	for _, p := range dashboard.Panels {
		if p.Title == "" || p.FieldConfig.Defaults.Unit == "" || len(p.Targets) == 0 {
			t.Errorf("panel %q has unit %q and %d queries", p.Title, p.FieldConfig.Defaults.Unit, len(p.Targets))
		}
		for _, q := range p.Targets {
			names := metricName.FindAllString(q.Expr, -1)
			if len(names) == 0 {
				t.Errorf("%s: no metric in %q", p.Title, q.Expr)
			}
			shown = append(shown, names...)
		}
	}
	for _, name := range shown {
		if family := families[name]; family == nil {
			base := regexp.MustCompile(`_(bucket|sum|count)$`).ReplaceAllString(name, "")
			if h := families[base]; h == nil || h.GetType() != dto.MetricType_HISTOGRAM {
				t.Errorf("the dashboard has %s, which there is not", name)
			}
		}
	}
	for name := range families {
		if !slices.ContainsFunc(shown, func(s string) bool { return strings.HasPrefix(s, name) }) && name != "servebench_build_info" {
			t.Errorf("the dashboard does not have %s", name)
		}
	}
}

var update = flag.Bool("update", false, "write the table of docs/files.md")

// The table of metrics in docs/files.md is the exporter's: the names, and their help.
func TestTheDocsHaveTheMetrics(t *testing.T) {
	const page, head = "../../docs/files.md", "| metric | content |\n|---|---|\n"
	e := New("1")
	e.Series("", "")
	families, err := e.registry.Gather()
	if err != nil || len(families) < 10 {
		t.Fatalf("%d metrics, %v", len(families), err)
	}
	rows := ""
	for _, family := range families {
		rows += "| `" + family.GetName() + "` | " + strings.TrimSuffix(family.GetHelp(), ".") + " |\n"
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, after, found := strings.Cut(string(text), head)
	for strings.HasPrefix(after, "|") {
		_, after, _ = strings.Cut(after, "\n")
	}
	switch want := before + head + rows + after; {
	case !found:
		t.Errorf("%s has no table of metrics", page)
	case *update:
		if err := os.WriteFile(page, []byte(want), 0o666); err != nil {
			t.Fatal(err)
		}
	case want != string(text):
		t.Errorf("%s differs from the code: go test ./loadgen/exporter -update", page)
	}
}
