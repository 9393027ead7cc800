package compare

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect"
	"github.com/servebench/servebench/metrics/compare/brief"
	"github.com/servebench/servebench/metrics/compare/gating"
	"github.com/servebench/servebench/metrics/compare/numbers"
	"github.com/servebench/servebench/metrics/record"
)

// adapted is a run with 60 requests to two adapters, of which one takes so many milliseconds longer
// to answer.
func adapted(id, slow string, by int) *metrics.Summary {
	c := aspect.Collector(&metrics.Header{Run: id, Version: "1", Config: metrics.Config{Backend: "openai", Model: "m", NumPrompts: 60}})
	for i := range 60 {
		r := &record.Record{Index: i, Adapter: []string{"org/sql", "chat"}[i%2], Tokens: record.Tokens{Out: 2}, Times: record.Times{Sent: time.Duration(i) * time.Millisecond}}
		first := r.Times.Sent + 20*time.Millisecond + time.Duration(i%7)*time.Microsecond
		if r.Adapter == slow {
			first += time.Duration(by) * time.Millisecond
		}
		r.Answer.Chunks.Append(first)
		r.Answer.Chunks.Append(first + 10*time.Millisecond)
		r.Times.FirstContent, r.Times.Last, r.Times.End = first, r.Answer.Chunks.Last(), r.Answer.Chunks.Last()
		c.Add(r)
	}
	return c.Summary(1)
}

func sides() (old, new []*metrics.Summary) {
	for _, id := range strings.Split("abcdef", "") {
		old, new = append(old, adapted("o"+id, "", 0)), append(new, adapted("n"+id, "org/sql", 15))
	}
	return old, new
}

func TestAdaptersAreCompared(t *testing.T) {
	old, new := sides()
	c := Compare(brief.Runs(old), brief.Runs(new), gating.Gate{})
	changes := map[string]float64{}
	var order []string
	for _, r := range c.Points[0].Rows {
		changes[r.Number.Name] = r.Effect.Share
		if strings.Contains(r.Number.Name, "/") {
			order = append(order, r.Number.Name)
		}
	}
	want := strings.Fields("chat/output_throughput chat/median_ttft chat/p99_ttft chat/median_tpot chat/p99_e2el " +
		"org/sql/output_throughput org/sql/median_ttft org/sql/p99_ttft org/sql/median_tpot org/sql/p99_e2el")
	if !slices.Equal(order, want) {
		t.Errorf("rows %q, want %q", order, want)
	}
	if slow := changes["org/sql/median_ttft"]; slow < 0.74 || slow > 0.76 || changes["chat/median_ttft"] != 0 {
		t.Errorf("the slow adapter changed by %v, the other by %v", slow, changes["chat/median_ttft"])
	}
}

func TestAnAdapterIsGated(t *testing.T) {
	old, new := sides()
	for name, want := range map[string]Verdict{"org/sql/p60_ttft": Regressed, "chat/p60_ttft": Pass} {
		m, ok := numbers.Find(name)
		if !ok {
			t.Fatalf("there is no %s", name)
		}
		gate := gating.Gate{Limits: []gating.Margin{{Number: m, Relative: 0.05}}}
		c := Compare(turned(brief.Runs(old, gate.Extra()...)), turned(brief.Runs(new, gate.Extra()...)), gate)
		rows := 0
		for _, r := range c.Points[0].Rows {
			if r.Number.Name == name && r.Judgement.Gated {
				rows++
			}
		}
		if c.Verdict != want || rows != 1 {
			t.Errorf("%s: %s in %d rows: %v", name, c.Verdict, rows, c.Reasons)
		}
	}
}

// A baseline has the numbers of the adapters, so it can be gated by any of them.
func TestABaselineKeepsAdapters(t *testing.T) {
	old, new := sides()
	text, err := json.Marshal(turned(brief.Runs(old)))
	if err != nil {
		t.Fatal(err)
	}
	var read []*brief.Run
	if err := json.Unmarshal(text, &read); err != nil {
		t.Fatal(err)
	}
	m, _ := numbers.Find("org/sql/median_ttft")
	c := Compare(read, turned(brief.Runs(new)), gating.Gate{Limits: []gating.Margin{{Number: m, Relative: 0.05}}})
	if c.Verdict != Regressed {
		t.Errorf("%s: %v", c.Verdict, c.Reasons)
	}
}

// A run knows how many samples its adapters have.
func TestARunHasTheSamplesOfItsAdapters(t *testing.T) {
	few := brief.Runs([]*metrics.Summary{adapted("a", "", 0)})[0]
	m, _ := numbers.Find("chat/p99_ttft")
	if n := few.Values["chat/ttft"]; n != 30 || few.Beyond(&m) >= 1 {
		t.Errorf("%d samples, %v beyond", n, few.Beyond(&m))
	}
}
