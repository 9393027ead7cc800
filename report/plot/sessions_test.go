package plot

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect"
	"github.com/servebench/servebench/metrics/record"
)

const ms = time.Millisecond

// A talk is sessions whose times are known beforehand. Session number i is due at i seconds, waits
// for a place for 20 ms, and has i turns more than the first. Each turn is ready once the one before
// has ended, waits for its gap and 5 ms for a slot, has its first token after 50 ms and its last
// 100 ms later. The third is a tool's.
type talk struct {
	sessions, turns int
	gap             time.Duration
	each            func(r *record.Record)
}

func (k talk) records() (all []record.Record) {
	for i := range k.sessions {
		begun := time.Duration(i) * time.Second
		ready, due := begun, begun
		for turn := range k.turns + i {
			r := record.Record{Index: i, Turn: turn, Attempts: 1,
				Session: &record.Turn{ID: fmt.Sprint("s", i), Turns: k.turns + i, Ready: ready, Gap: k.gap, SessionSlot: begun + 20*ms, Tool: turn == 2}, Times: record.Times{Due: due}, Tokens: record.Tokens{In: 100 * (turn + 1), Out: 11}, Result: record.Result{Status: 200}}
			if turn == 0 {
				r.Session.Gap, due = 0, begun+20*ms
			} else {
				r.Session.Waits = []int{turn - 1}
			}
			r.Times.Slot = due + 5*ms
			r.Times.Sent = r.Times.Slot
			r.Answer.Chunks.Append(r.Times.Sent + 50*ms)
			r.Answer.Chunks.Append(r.Times.Sent + 150*ms)
			r.Times.Last, r.Times.End = r.Answer.Chunks.Last(), r.Answer.Chunks.Last()
			ready, due = r.Times.End, r.Times.End+k.gap
			if k.each != nil {
				k.each(&r)
			}
			all = append(all, r)
		}
	}
	slices.SortStableFunc(all, func(a, b record.Record) int { return int(a.Times.End - b.Times.End) })
	return all
}

func (k talk) run() Run {
	c := aspect.Collector(&metrics.Header{Run: "talk"})
	c.Keep.Trace = true
	end := time.Duration(0)
	for _, r := range k.records() {
		c.Add(&r)
		end = max(end, r.Times.End)
	}
	return Run{Summary: c.Summary(end.Seconds())}
}

func timelineOf(r Run) Chart { return sessionTimeline(r, barsOf(r)) }

// bars are the bars of a series as row, from and to in milliseconds.
func bars(c *Chart, name string) (all []string) {
	for _, s := range c.Series {
		for i := range s.X {
			if s.Name == name {
				all = append(all, fmt.Sprintf("%s %.0f–%.0f", c.Rows[int(s.Y[i]/s.Thick)], s.X[i]*1000, s.To[i]*1000))
			}
		}
	}
	return all
}

func TestSessionTimelineHasTheTurnsAndWhatIsBetweenThem(t *testing.T) {
	k := talk{sessions: 2, turns: 2, gap: 300 * ms, each: func(r *record.Record) {
		if r.Index == 1 && r.Turn == 1 {
			r.Session.Agent = "sub"
			r.Result.Class, r.Answer.Chunks, r.Times.Last = record.Status, record.Stamps{}, 0
		}
	}}
	run := k.run()
	c := timelineOf(run)
	for name, want := range map[string][]string{
		"waits for a session slot": {"session s0 0–20", "session s1 0–20"},
		"person's gap":             {"session s0 175–475", "session s1 sub 175–475"},
		"tool's gap":               {"session s1 630–930"},
		"queue (client)":           {"session s0 20–25", "session s0 475–480", "session s1 20–25", "session s1 930–935", "session s1 sub 475–480"},
		"prefill":                  {"session s0 25–75", "session s0 480–530", "session s1 25–75", "session s1 935–985"},
		"decode":                   {"session s0 75–175", "session s0 530–630", "session s1 75–175", "session s1 985–1085"},
		"failed":                   {"session s1 sub 480–630"},
	} {
		if diff := cmp.Diff(want, bars(&c, name)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if want := "2 of 2 sessions, at even steps from the shortest to the longest. Each agent has a row."; c.Note != want {
		t.Errorf("note %q, want %q", c.Note, want)
	}
	if c.Y.Max != 3 || c.X.Max < 1.085 {
		t.Errorf("axes %+v, %+v", c.X, c.Y)
	}
	if got := timelineOf(usual.run(metrics.Header{})); got.Series != nil {
		t.Errorf("requests without sessions have %+v", got.Series)
	}
}

// However many sessions, turns and agents there are, the chart stays small.
func TestSessionTimelineIsBounded(t *testing.T) {
	for _, k := range []struct {
		talk
		rows, bars int
		left       string
	}{
		{talk{sessions: 1, turns: 1}, 1, 1, ""},
		{talk{sessions: 100, turns: 1}, 24, 1018, "turns beyond 62 of a session"},
		{talk{sessions: 10, turns: 400}, 6, 1500, "turns beyond 250 of a session"},
		{talk{sessions: 3, turns: 9, each: func(r *record.Record) { r.Session.Agent = fmt.Sprint(r.Turn) }}, 15, 15, "agents beyond 5"},
	} {
		c := timelineOf(k.run())
		if n := len(bars(&c, "prefill")); n != k.bars || len(c.Rows) != k.rows || !strings.Contains(c.Note, k.left) || k.left == "" && strings.Contains(c.Note, "leaves out") {
			t.Errorf("%d × %d: %d bars in %d rows, want %d in %d; %s", k.sessions, k.turns, n, len(c.Rows), k.bars, k.rows, c.Note)
		}
	}
}

// The shortest and the longest session are shown, and the others at even steps between them.
func TestSessionTimelineShowsAllLengths(t *testing.T) {
	c := timelineOf(talk{sessions: 100, turns: 1}.run())
	if got := []string{c.Rows[0], c.Rows[1], c.Rows[12], c.Rows[23]}; !slices.Equal(got, []string{"session s0", "session s4", "session s51", "session s99"}) {
		t.Errorf("%q", got)
	}
}

func TestJobTimesHaveTheirParts(t *testing.T) {
	k := talk{sessions: 4, turns: 2, gap: 300 * ms, each: func(r *record.Record) {
		if r.Index == 2 && r.Turn == 3 { // a session that broke has no job time
			r.Result.Class, r.Answer.Chunks, r.Times.Last = record.Status, record.Stamps{}, 0
		}
	}}
	c := named(sessionCharts([]Run{k.run()}), "job-parts")
	for name, want := range map[string][]string{
		"prefill":                  {"session 1 of 3 0–100", "session 2 of 3 0–150", "session 3 of 3 0–250"},
		"decode":                   {"session 1 of 3 100–300", "session 2 of 3 150–450", "session 3 of 3 250–750"},
		"person's gap":             {"session 1 of 3 300–600", "session 2 of 3 450–750", "session 3 of 3 750–1650"},
		"tool's gap":               {"session 2 of 3 750–1050", "session 3 of 3 1650–1950"},
		"waits for a session slot": {"session 1 of 3 600–620", "session 2 of 3 1050–1070", "session 3 of 3 1950–1970"},
		"queue (client)":           {"session 1 of 3 620–630", "session 2 of 3 1070–1085", "session 3 of 3 1970–1995"},
	} {
		if diff := cmp.Diff(want, bars(c, name)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if c.Y.Max != 100 || c.X.Max < 1.995 {
		t.Errorf("axes %+v, %+v", c.X, c.Y)
	}
}

// Many sessions are in groups from the shortest to the longest, whose bars are means.
func TestManyJobTimesAreInGroups(t *testing.T) {
	c := named(sessionCharts([]Run{talk{sessions: 80, turns: 1}.run()}), "job-parts")
	if len(c.Rows) != mostJobs || c.Rows[0] != "sessions from 1 to 2 of 80" || c.Rows[39] != "sessions from 79 to 80 of 80" || !strings.HasPrefix(c.Note, "80 sessions in 40 groups. ") {
		t.Errorf("%q, %s", c.Rows, c.Note)
	}
	// Of one and of two turns, with 50 ms each until the first token.
	if got := bars(c, "prefill"); got[0] != "sessions from 1 to 2 of 80 0–75" || got[39] != "sessions from 79 to 80 of 80 0–3975" {
		t.Errorf("%q", got)
	}
	c = named(sessionCharts([]Run{talk{sessions: 50, turns: 1}.run()}), "job-parts")
	members := 0
	for _, name := range c.Rows {
		var from, to, of int
		if _, err := fmt.Sscanf(name, "sessions from %d to %d of %d", &from, &to, &of); err != nil || from != members+1 || to < from || of != 50 {
			t.Errorf("%q after %d: %v", name, members, err)
		}
		members = to
	}
	if members != 50 {
		t.Errorf("%d of 50 sessions in %q", members, c.Rows)
	}
}

func TestTurnsHaveALineByNumber(t *testing.T) {
	k := talk{sessions: 2, turns: 4, each: func(r *record.Record) {
		r.Tokens.Cached, r.Tokens.Uncached, r.Tokens.InAsked = 50*r.Turn, r.Turn == 0, r.Tokens.In
		r.Session.Reusable = 80 * r.Turn
		first := r.Times.Sent + time.Duration(50+10*r.Turn)*ms
		r.Answer.Chunks = record.Stamps{}
		r.Answer.Chunks.Append(first)
		r.Answer.Chunks.Append(r.Times.Last)
	}}
	run := k.run()
	charts := sessionCharts([]Run{run})
	ttft, cached := named(charts, "turns-ttft"), named(charts, "turns-cached")
	if diff := cmp.Diff([]string{"1", "2", "3–4", "5–8"}, ttft.X.Names); diff != "" {
		t.Error(diff)
	}
	near := cmpopts.EquateApprox(0, 1e-9)
	if diff := cmp.Diff(Numbers{50, 60, 75, 90}, ttft.Series[0].Y, near); diff != "" || ttft.Series[1].Name != "P99" {
		t.Error(diff)
	}
	// Of prompts of 100, 200, 300 and 400, and 500 tokens.
	if diff := cmp.Diff(Numbers{0, 25, 100 * 250.0 / 700, 40}, cached.Series[0].Y, near); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(Numbers{0, 40, 100 * 400.0 / 700, 64}, cached.Series[1].Y, near); diff != "" {
		t.Error(diff)
	}
	other := talk{sessions: 1, turns: 2}.run()
	other.Summary.Header.Config.Model, other.Labels, run.Labels = "b", []metrics.KV{{Key: "arm", Value: "new"}}, []metrics.KV{{Key: "arm", Value: "old"}}
	charts = sessionCharts([]Run{run, other, usual.run(metrics.Header{})})
	if ttft := named(charts, "turns-ttft"); len(charts) != 2 || len(ttft.Series) != 2 || ttft.Series[0].Name != "old" || ttft.Series[1].Name != "new" || len(ttft.X.Names) != 4 || ttft.Title != "TTFT by turn: median" {
		t.Errorf("%d charts, %+v", len(charts), ttft)
	}
	if cached := named(charts, "turns-cached"); len(cached.Series) != 1 {
		t.Errorf("a server that says nothing of its cache has a line: %+v", cached.Series)
	}
	if charts := sessionCharts([]Run{usual.run(metrics.Header{})}); len(charts) != 0 {
		t.Errorf("requests without sessions have %v", charts)
	}
}
