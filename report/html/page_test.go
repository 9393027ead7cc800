package html

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"html/template"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect"
	"github.com/servebench/servebench/metrics/aspect/adapters"
	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/stream"
	"github.com/servebench/servebench/metrics/trust"
	"github.com/servebench/servebench/report/plot"
)

var update = flag.Bool("update", false, "write the golden files anew")

// run is one of so many requests with so many tokens each, every tenth of which
// failed with that message.
func run(h metrics.Header, requests, tokens int, message string) Run {
	c := aspect.Collector(&h)
	c.Keep.Trace = true
	var last time.Duration
	for i := range requests {
		due := time.Duration(i) * 100 * time.Millisecond
		r := &record.Record{Index: i, Attempts: 1, Times: record.Times{Due: due, Slot: due, Sent: due + time.Millisecond}, Tokens: record.Tokens{In: 10, Out: tokens}, Result: record.Result{Status: 200}}
		at := r.Times.Sent + time.Duration(50+i%9)*time.Millisecond
		for k := range tokens {
			r.Answer.Chunks.Append(at)
			at += 10*time.Millisecond + time.Duration(k*i%7)*time.Millisecond
		}
		r.Times.Last, r.Times.End = r.Answer.Chunks.Last(), r.Answer.Chunks.Last()
		if i%10 == 3 {
			r.Result.Class, r.Result.Error, r.Answer.Chunks, r.Times.Last, r.Tokens.Out = record.Status, message, record.Stamps{}, 0, 0
		}
		last = max(last, r.Times.End)
		c.Add(r)
	}
	s := c.Summary(last.Seconds())
	trust.Judge(s)
	return Run{Run: plot.Run{Summary: s, File: h.Run + ".jsonl"}}
}

// talks is a run of that many sessions, one each second, of as many turns, and of one with two
// sub-agents. Gaps of persons and tools come in turn, and the server has most of the history cached.
func talks(h metrics.Header, sessions, turns int) Run {
	c := aspect.Collector(&h)
	c.Keep.Trace = true
	var last time.Duration
	for i := range sessions {
		due := time.Duration(i) * time.Second
		ready := due
		for turn := range turns {
			r := &record.Record{Index: i, Turn: turn, Attempts: 1,
				Session: &record.Turn{ID: fmt.Sprint("s-", i), Turns: turns, Ready: ready, Gap: time.Duration(turn%3*300+i%17*40) * time.Millisecond, Tool: turn%2 == 0,
					SessionSlot: due + time.Duration(i%3)*100*time.Millisecond, Reusable: 200 * turn, History: 200 * turn}, Times: record.Times{Due: ready + time.Duration(turn%3*300+i%17*40)*time.Millisecond}, Tokens: record.Tokens{In: 200 * (turn + 1), InAsked: 200 * (turn + 1), Out: 10}, Result: record.Result{Status: 200}}
			if turn == 0 {
				r.Times.Due, r.Session.Gap = due, 0
			} else {
				r.Session.Waits = []int{turn - 1}
			}
			if i == sessions-1 && turn > 1 {
				r.Session.Agent = fmt.Sprint("sub-agent ", turn%2+1)
			}
			r.Times.Slot = max(r.Times.Due, r.Session.SessionSlot)
			r.Times.Sent, r.Tokens.Cached, r.Tokens.Uncached = r.Times.Slot, 160*turn, turn == 0
			at := r.Times.Sent + time.Duration(50+10*turn+i%9)*time.Millisecond
			for k := range 10 {
				r.Answer.Chunks.Append(at)
				at += 10*time.Millisecond + time.Duration(k*i%7)*time.Millisecond
			}
			r.Times.Last, r.Times.End = r.Answer.Chunks.Last(), r.Answer.Chunks.Last()
			ready, last = r.Times.End, max(last, r.Times.End)
			c.Add(r)
		}
	}
	s := c.Summary(last.Seconds())
	trust.Judge(s)
	return Run{Run: plot.Run{Summary: s, File: h.Run + ".jsonl"}}
}

func write(t *testing.T, runs ...Run) string {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, runs, ""); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// dataOf are the charts in a page.
func dataOf(t *testing.T, page string) []plot.Chart {
	t.Helper()
	_, rest, _ := strings.Cut(page, `<script type="application/json" id="charts">`)
	text, _, _ := strings.Cut(rest, "</script>")
	var charts []plot.Chart
	if err := json.Unmarshal([]byte(text), &charts); err != nil {
		t.Fatalf("%v in %.300s", err, text)
	}
	return charts
}

func TestPageTakesNoTextForMarkup(t *testing.T) {
	const evil = `</script><script>alert(1)</script><img src=x onerror=alert(2)>"'` + "`${x}\u2028"
	h := metrics.Header{Run: evil, Target: evil, Version: evil, Flags: []metrics.KV{{Key: evil, Value: evil}},
		Config: metrics.Config{Model: evil, BaseURL: evil, Metadata: []metrics.KV{{Key: "arm", Value: evil}}}}
	other := h
	other.Target = evil + "b"
	one, two := run(h, 20, 5, evil), run(other, 20, 5, evil)
	one.Summary.Ending.Warn(evil)
	one.File = evil
	plain := write(t, run(metrics.Header{}, 20, 5, "x"), run(metrics.Header{Target: "b"}, 20, 5, "x"))
	page := write(t, one, two)
	for _, tag := range []string{"<script", "</script", "<img", "onerror=alert(2)>"} {
		if got, want := strings.Count(page, tag), strings.Count(plain, tag); got != want {
			t.Errorf("%d times %s, want %d as in a page without it", got, tag, want)
		}
	}
	found := false
	for _, c := range dataOf(t, page) {
		for _, s := range c.Series {
			found = found || strings.Contains(s.Name, evil)
		}
	}
	if !found {
		t.Error("the charts do not have the name as it is")
	}
}

func TestPageFetchesNothing(t *testing.T) {
	page := write(t, run(metrics.Header{}, 20, 5, "x"))
	const policy = `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:">`
	if before, _, found := strings.Cut(page, policy); !found || strings.Contains(before, "<style") || strings.Contains(before, "<script") {
		t.Error("no content security policy before what it is for")
	}
	for _, address := range regexp.MustCompile(`(?:src|href|url|action)\s*[=(]\s*["']?([^\s"'>)]*)`).FindAllStringSubmatch(markup(page), -1) {
		if !strings.HasPrefix(address[1], "#") {
			t.Errorf("the page leads to %q", address[0])
		}
	}
}

// markup is the page without its styles and programs.
func markup(page string) string {
	return regexp.MustCompile(`(?s)(<style>|<script[^>]*>).*?(</style>|</script>)`).ReplaceAllString(page, "$1…$2")
}

func TestPageHasWhatEmbedsIt(t *testing.T) {
	page := write(t, run(metrics.Header{}, 20, 5, "x"))
	for _, name := range []string{"uplot/uPlot.iife.min.js", "uplot/uPlot.min.css", "page.js", "page.css"} {
		if !strings.Contains(page, asset(name)) {
			t.Errorf("%s is not in it unchanged", name)
		}
	}
	notice := asset("uplot/LICENSE")
	if !strings.Contains(page, template.HTMLEscapeString(notice)) {
		t.Error("uPlot's notice is not in it")
	}
	notices, err := os.ReadFile("../../THIRD_PARTY_NOTICES")
	if err != nil || !strings.Contains(string(notices), notice) {
		t.Errorf("uPlot's notice is not in THIRD_PARTY_NOTICES: %v", err)
	}
}

func TestPageIsAsBefore(t *testing.T) {
	h := metrics.Header{Run: "abc", Version: "1.2.3", Epoch: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		Flags: []metrics.KV{{Key: "num-prompts", Value: "20"}},
		Config: metrics.Config{Model: "m/x", BaseURL: "http://127.0.0.1:8000", Endpoint: "/v1/completions", RequestRate: 10, NumPrompts: 20, Burstiness: 1,
			Metrics: []string{"ttft", "tpot", "itl"}, Percentiles: []float64{99}}}
	other := h
	other.Run, other.Config.RequestRate = "def", 20
	for name, page := range map[string]string{"talks": write(t, talks(h, 20, 6)), "one": write(t, run(h, 20, 5, "busy")), "two": write(t, run(h, 20, 5, "busy"), run(other, 30, 5, "busy"))} {
		got, file := markup(page), "testdata/"+name+".html"
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			i := 0
			for i < min(len(got), len(want)) && got[i] == want[i] {
				i++
			}
			t.Errorf("%s differs, -update writes it again: got …%.300s", file, got[max(0, i-60):])
		}
	}
}

// Two million gaps are to be opened at once, so the page must not grow with them.
func TestPageOfMillionsOfTokensIsSmall(t *testing.T) {
	if testing.Short() {
		t.Skip("two million tokens: in go test without -short")
	}
	page := write(t, run(metrics.Header{}, 2000, 1112, "x"))
	if len(page) > 300<<10 {
		t.Errorf("%d KiB", len(page)>>10)
	}
	shown := ""
	for _, c := range dataOf(t, page) {
		if c.Name == "itl-points" {
			shown = c.Note
		}
	}
	if want := "1500 of 1999800 values, selected to keep the shape (LTTB, Steinarsson 2013)."; shown != want {
		t.Errorf("note %q, want %q", shown, want)
	}
}

// However many sessions there are, the page has some of them.
func TestPageOfManySessionsIsSmall(t *testing.T) {
	sessions := 10_000
	if testing.Short() {
		sessions = 2000
	}
	page := write(t, talks(metrics.Header{}, sessions, 4))
	if len(page) > 400<<10 {
		t.Errorf("%d KiB", len(page)>>10)
	}
	var names []string
	for _, c := range dataOf(t, page) {
		names = append(names, c.Name)
	}
	for _, want := range []string{"turns-ttft", "turns-cached", "job-parts", "session-timeline"} {
		if !slices.Contains(names, want) {
			t.Errorf("there is no chart %s in %q", want, names)
		}
	}
	if want := "Sessions: " + fmt.Sprint(sessions) + " of " + fmt.Sprint(sessions) + " completed"; !strings.Contains(page, want) {
		t.Errorf("the page does not say %q", want)
	}
}

func TestEachFigureHasItsChart(t *testing.T) {
	page := write(t, run(metrics.Header{Target: "a"}, 20, 5, "x"), run(metrics.Header{Target: "b"}, 20, 5, "x"))
	charts := dataOf(t, page)
	for i, c := range charts {
		if want := fmt.Sprintf("data-chart=\"%d\" class=\"%s\">\n<figcaption>%s</figcaption>", i, c.Name, c.Title); strings.Count(page, want) != 1 {
			t.Errorf("no figure %s", want)
		}
		if c.X.Title == "" || c.Y.Title == "" {
			t.Errorf("%s has an axis without a title", c.Name)
		}
	}
	if n := strings.Count(page, "<figure"); n != len(charts) || n < 20 {
		t.Errorf("%d figures for %d charts", n, len(charts))
	}
}

func TestPageOfABlockAloneHasNoCharts(t *testing.T) {
	text, err := os.ReadFile("../../testdata/seeds/percentiles-e2el.txt")
	if err != nil {
		t.Fatal(err)
	}
	sums, err := stream.Read(bytes.NewReader(text), metrics.Ask{Trace: true})
	if err != nil {
		t.Fatal(err)
	}
	page := write(t, Run{Run: plot.Run{Summary: sums[0]}})
	if strings.Contains(page, "<figure") || !strings.Contains(page, "Serving Benchmark Result") || strings.Contains(markup(page), "NaN") {
		t.Errorf("page %s", markup(page))
	}
}

func TestPageShowsWhatTargetsDidToEachOther(t *testing.T) {
	target := func(name string, solo bool) Run {
		return run(metrics.Header{Run: name, Target: name, Group: "g", Solo: solo}, 40, 5, "x")
	}
	page := markup(write(t, target("a", true), target("b", true), target("a", false), target("b", false)))
	for _, want := range []string{`<section id="together">`, "slowdown", ">a alone</a>", "<h1>a and b, alone and together</h1>", "4 of 4 runs, for: "} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s", want)
		}
	}
}

func TestPageShowsSlowdownsFromThePairsOfRepeats(t *testing.T) {
	target := func(group, name string, solo bool) Run {
		return run(metrics.Header{Run: group + name + fmt.Sprint(solo), Target: name, Group: group, Series: "s", Solo: solo}, 40, 5, "x")
	}
	page := markup(write(t, target("g", "a", true), target("g", "a", false), target("g", "b", false),
		target("h", "a", false), target("h", "b", false), target("h", "a", true)))
	if want := "Slowdown of each target with the others, from 2 pairs of it alone and with them"; strings.Count(page, want) != 1 {
		t.Errorf("not once on the page: %s", want)
	}
}

func TestPageShowsTheWindowAskedFor(t *testing.T) {
	r := run(metrics.Header{}, 40, 5, "x")
	r.Summary.Parts.Window = r.Summary.Within(metrics.Window{From: time.Second, To: 2 * time.Second})
	page := markup(write(t, r))
	if !strings.Contains(page, "A part of the run") || strings.Count(page, "Serving Benchmark Result") != 2 {
		t.Errorf("no window on the page")
	}
}

func TestPageShowsAdapters(t *testing.T) {
	r := run(metrics.Header{}, 40, 5, "x")
	if page := markup(write(t, r)); strings.Contains(page, "LoRA") {
		t.Error("adapters on the page of a run without any")
	}
	adapters.Give(r.Summary, []adapters.Adapter{{Name: "<sql>", Completed: 40}})
	if page := markup(write(t, r)); strings.Count(page, "LoRA adapters") != 1 || !strings.Contains(page, "&lt;sql&gt;") {
		t.Error("no adapters on the page")
	}
}

func TestMessagesOfMostRequestsComeFirst(t *testing.T) {
	messages := map[string]int{"rare": 1, "common": 9, "also rare": 1}
	for i := range mostErrors {
		messages[fmt.Sprint("some ", i)] = 5
	}
	got := commonest(messages)
	if len(got) != mostErrors || got[0] != (fact{Name: "common", Value: "9"}) || got[1] != (fact{Name: "some 0", Value: "5"}) {
		t.Errorf("got %v", got)
	}
}

func TestPageOfFailuresAloneHasNoLatency(t *testing.T) {
	r := run(metrics.Header{}, 4, 5, "x")
	c := aspect.Collector(r.Summary.Header)
	c.Keep.Trace = true
	for rec := range r.Summary.Measured() {
		if rec.Result.Class != record.OK {
			c.Add(rec)
		}
	}
	r.Summary = c.Summary(1)
	page := markup(write(t, r))
	if strings.Contains(page, "<dt>Median") || !strings.Contains(page, "<td class=\"message\">x</td>") || !strings.Contains(page, "Requests over time") {
		t.Errorf("page %s", page)
	}
}
