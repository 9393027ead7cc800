package trust

import (
	"strings"
	"testing"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect"
	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/verdict"
)

// inOne is a run like clean whose answers came whole, 240 ms after their requests, and whose requests
// each opened a connection for 6 ms.
func inOne(lag time.Duration) *metrics.Summary {
	c := aspect.Collector(&metrics.Header{Config: metrics.Config{
		RequestRate: 100, Whole: true, Metrics: []string{"e2el"}, Percentiles: []float64{99}, Dataset: "random",
	}})
	for i := range 200 {
		r := &record.Record{Index: i, Conn: record.Conn{New: true, Connect: 6 * msec}, Times: record.Times{Due: time.Duration(i) * 10 * msec}, Tokens: record.Tokens{Out: 20}, Answer: record.Answer{Unstreamed: true}}
		r.Times.Slot, r.Times.Sent = r.Times.Due, r.Times.Due+lag
		r.Times.Last = r.Times.Sent + 240*msec
		r.Times.FirstContent, r.Times.End = r.Times.Last, r.Times.Last
		r.Answer.Chunks.Append(r.Times.Last)
		c.Add(r)
	}
	s := c.Summary(2.5)
	s.Evidence = clean().Evidence
	return s
}

// A lag and the time to connect are held against the E2EL of answers that came whole.
func TestWholeAnswersAreJudgedByTheirE2EL(t *testing.T) {
	for _, test := range []struct {
		lag  time.Duration
		fine bool // 10 % of 240 ms
	}{{20 * msec, true}, {30 * msec, false}} {
		s := inOne(test.lag)
		Judge(s)
		found := 0
		for _, c := range s.Trust.Checks {
			switch c.Name {
			case "lag":
				found++
				if c.Fine() != test.fine {
					t.Errorf("a lag of %v: %+v", test.lag, c)
				}
			case "connecting":
				found++
				if !c.Fine() || c.Figure < 2.4 || c.Figure > 2.6 || !strings.Contains(c.Text, "inside E2EL") {
					t.Errorf("connecting: %+v", c)
				}
			case "send delay", verdict.FirstToken, "lumpy", "socket age":
				t.Errorf("whole answers are judged by %+v", c)
			}
		}
		if found != 2 {
			t.Errorf("%d of 2 checks: %+v", found, s.Trust.Checks)
		}
	}
}
