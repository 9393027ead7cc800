package trust

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect"
	"github.com/servebench/servebench/metrics/aspect/connecting"
	"github.com/servebench/servebench/metrics/evidence"
	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/verdict"
)

// burst are 1024 requests at once to a server that takes 50.2 ms for each. sent says how each was
// sent, by its share of the burst.
func burst(sent func(r *record.Record, share float64)) *metrics.Summary {
	c := aspect.Collector(&metrics.Header{Config: metrics.Config{RequestRate: math.Inf(1), Percentiles: []float64{99}}})
	for i := range 1024 {
		r := record.Record{Index: i, Tokens: record.Tokens{Out: 2}}
		sent(&r, float64(i)/1023)
		wrote := metrics.Milliseconds(r.Times.Wrote)
		c.Add(arrived(r, wrote+50.2, wrote+70.2))
	}
	return c.Summary(0.1)
}

// Who has opened connections beforehand is not told to do so.
func TestWhatToDoAboutConnecting(t *testing.T) {
	for want, seen := range map[string]evidence.Evidence{
		"use --warm-connections": {},
		"raise the server's time limit on idle connections, which it may have closed": {Connections: evidence.Connections{Warmed: 1}},
		"have the server keep connections open, which it closes after its answers":    {Connections: evidence.Connections{Warmed: 1, Closed: 1}},
	} {
		s := clean()
		s.Evidence = &seen
		*metrics.View[connecting.Connecting](s) = connecting.Connecting{Requests: 200, Of: 200, Connect: time.Hour}
		Judge(s)
		if failed := s.Trust.Failed(); len(failed) != 1 || failed[0].Remedy != want {
			t.Errorf("%+v, want %q", failed, want)
		}
	}
}

func TestTTFTWithOurOwnSendDelayIsNotValid(t *testing.T) {
	for name, c := range map[string]struct {
		sent func(r *record.Record, share float64)
		says string // "" for a VALID run
	}{
		"written at once": {func(r *record.Record, _ float64) { r.Times.Wrote = 50 * time.Microsecond }, ""},
		"each behind the earlier ones": {func(r *record.Record, share float64) { r.Times.Wrote = 1 + durationMS(16*share) },
			"15.8 ms of P99 TTFT 66.0 ms is our own delay between the start of a request and its last byte written (limit 3.30 ms)"},
		"most of them": {func(r *record.Record, share float64) { r.Times.Wrote = durationMS(6) },
			"6.00 ms of mean TTFT 56.2 ms is our own delay"},
		"while they connected": {func(r *record.Record, share float64) {
			r.Conn, r.Times.Wrote = record.Conn{New: true, DNS: msec, Connect: 2 * msec, Proxy: 3 * msec, TLS: 4 * msec}, 10*msec+msec/4
		}, ""},
		"after they had connected": {func(r *record.Record, share float64) {
			r.Conn, r.Times.Wrote = record.Conn{New: true, Connect: 2 * msec}, 2*msec+durationMS(16*share)
		}, "of P99 TTFT 68.0 ms is our own delay between the start of a request and its last byte written, not counting the time to connect"},
		"to a server that reads slowly": {func(r *record.Record, share float64) { r.Times.Wrote, r.Times.Waited = 30*msec, 30*msec }, ""},
		"again after a failure":         {func(r *record.Record, share float64) { r.Times.Wrote, r.Attempts = 30*msec, 2 }, ""},
	} {
		s := burst(c.sent)
		Judge(s)
		failed := slices.DeleteFunc(s.Trust.Failed(), func(c verdict.Check) bool { return c.Name == "connecting" })
		switch {
		case c.says == "" && len(failed) > 0:
			t.Errorf("%s: %+v", name, failed)
		case c.says != "" && (len(failed) != 1 || failed[0].Name != "send delay" || !strings.Contains(failed[0].Text, c.says) || failed[0].Remedy != "use more cores, or --shard and --run-id, or fewer requests at once (--max-concurrency)"):
			t.Errorf("%s: %+v, want %q", name, failed, c.says)
		}
	}
}
