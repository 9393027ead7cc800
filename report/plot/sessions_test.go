package plot

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/servebench/servebench/metrics"
)

const ms = time.Millisecond

// A talk is sessions whose times are known beforehand. Session number i is due at i seconds, waits
// for a place for 20 ms, and has i turns more than the first. Each turn is ready once the one before
// has ended, waits for its gap and 5 ms for a slot, has its first token after 50 ms and its last
// 100 ms later. The third is a tool's.
type talk struct {
	sessions, turns int
	gap             time.Duration
	each            func(r *metrics.Record)
}

func (k talk) records() (all []metrics.Record) {
	for i := range k.sessions {
		begun := time.Duration(i) * time.Second
		ready, due := begun, begun
		for turn := range k.turns + i {
			r := metrics.Record{Index: i, Turn: turn, Attempts: 1, Due: due, In: 100 * (turn + 1), Out: 11, Status: 200,
				Step: &metrics.Step{Session: fmt.Sprint("s", i), Turns: k.turns + i, Ready: ready, Gap: k.gap, Place: begun + 20*ms, Tool: turn == 2}}
			if turn == 0 {
				r.Step.Gap, due = 0, begun+20*ms
			} else {
				r.Step.Waits = []int{turn - 1}
			}
			r.Slot = due + 5*ms
			r.Sent = r.Slot
			r.Chunks.Append(r.Sent + 50*ms)
			r.Chunks.Append(r.Sent + 150*ms)
			r.Last, r.End = r.Chunks.Last(), r.Chunks.Last()
			ready, due = r.End, r.End+k.gap
			if k.each != nil {
				k.each(&r)
			}
			all = append(all, r)
		}
	}
	slices.SortStableFunc(all, func(a, b metrics.Record) int { return int(a.End - b.End) })
	return all
}

func (k talk) run() Run {
	c := metrics.NewCollector(&metrics.Header{Run: "talk"})
	c.KeepTrace = true
	end := time.Duration(0)
	for _, r := range k.records() {
		c.Add(&r)
		end = max(end, r.End)
	}
	return Run{Summary: c.Summary(end.Seconds())}
}

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
	k := talk{sessions: 2, turns: 2, gap: 300 * ms, each: func(r *metrics.Record) {
		if r.Index == 1 && r.Turn == 1 {
			r.Step.Agent = "sub"
			r.Class, r.Chunks, r.Last = metrics.Status, metrics.Stamps{}, 0
		}
	}}
	run := k.run()
	c := sessionTimeline(run)
	for name, want := range map[string][]string{
		"waits for a place": {"session s0 0–20", "session s1 0–20"},
		"person's gap":      {"session s0 175–475", "session s1 sub 175–475"},
		"tool's gap":        {"session s1 630–930"},
		"queue (client)":    {"session s0 20–25", "session s0 475–480", "session s1 20–25", "session s1 930–935", "session s1 sub 475–480"},
		"prefill":           {"session s0 25–75", "session s0 480–530", "session s1 25–75", "session s1 935–985"},
		"decode":            {"session s0 75–175", "session s0 530–630", "session s1 75–175", "session s1 985–1085"},
		"failed":            {"session s1 sub 480–630"},
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
	if got := sessionTimeline(usual.run(metrics.Header{})); got.Series != nil {
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
		{talk{sessions: 3, turns: 9, each: func(r *metrics.Record) { r.Step.Agent = fmt.Sprint(r.Turn) }}, 15, 15, "agents beyond 5"},
	} {
		c := sessionTimeline(k.run())
		if n := len(bars(&c, "prefill")); n != k.bars || len(c.Rows) != k.rows || !strings.Contains(c.Note, k.left) || k.left == "" && strings.Contains(c.Note, "leaves out") {
			t.Errorf("%d × %d: %d bars in %d rows, want %d in %d; %s", k.sessions, k.turns, n, len(c.Rows), k.bars, k.rows, c.Note)
		}
	}
}

// The shortest and the longest session are shown, and the others at even steps between them.
func TestSessionTimelineShowsAllLengths(t *testing.T) {
	c := sessionTimeline(talk{sessions: 100, turns: 1}.run())
	if got := []string{c.Rows[0], c.Rows[1], c.Rows[12], c.Rows[23]}; !slices.Equal(got, []string{"session s0", "session s4", "session s51", "session s99"}) {
		t.Errorf("%q", got)
	}
}
