// Package loading is how long requests waited until their server had a runner with the model, where the server says so.
//
// Ollama loads a model for the first request that asks for it, and again after it was idle for a while or gave way to
// another one. The wait is a part of TTFT, and has nothing to do with how fast the model answers. A busy server takes
// some time to find a runner that has the model, too: only a long wait is a load.
package loading

import (
	"fmt"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/record"
)

// A request waited for a load if it took at least this long, and at least this share of its E2EL. Ollama 0.17.4 reports
// 30 ms for a model that it has, and up to 0.64 s if 20 requests at once keep both cores busy.
const (
	leastWait  = time.Second
	leastShare = 0.1
)

// waits are of completed requests whose server said how long it loaded its model.
type waits struct {
	Times   metrics.Distribution // of all of them
	Waited  int                  // requests that waited
	Longest time.Duration        // of these
}

// Kind is the aspect as the list has it.
var Kind = &metrics.Kind{
	Name:    "loading",
	New:     func(*metrics.Header) metrics.Aspect { return &waits{Times: metrics.PerRequest()} },
	Numbers: latency.Numbers,
	Facts: func(s *metrics.Summary) []metrics.Fact {
		return metrics.Some("requests_waiting_for_model", metrics.View[waits](s).Waited)
	},
}

// latency is the time until the model was loaded.
var latency = metrics.Latency{
	Name: "model_load", Label: "model load", Long: "Model load",
	About: "until the server had a runner with the model, by the server",
	Of:    func(s *metrics.Summary) *metrics.Distribution { return &metrics.View[waits](s).Times },
}

// Note says that requests waited for the model; empty if none did.
func Note(s *metrics.Summary) string {
	l := metrics.View[waits](s)
	if l.Waited == 0 {
		return ""
	}
	return fmt.Sprintf("%s waited until the server had loaded the model, %.1f s at most, and their latencies have the "+
		"wait: load it first (--num-warmups), and have the server keep it",
		metrics.Counted(l.Waited, "request"), l.Longest.Seconds())
}

// Add adds a request.
func (l *waits) Add(r *record.Record) {
	if !r.Answered() || r.Server == nil || r.Server.LoadMS == nil {
		return
	}
	took := time.Duration(*r.Server.LoadMS * float64(time.Millisecond))
	l.Times.Add(took.Seconds())
	if took >= leastWait && float64(took) >= leastShare*float64(r.E2EL()) {
		l.Waited++
		l.Longest = max(l.Longest, took)
	}
}

// Merge adds another shard's requests.
func (l *waits) Merge(o metrics.Aspect) {
	other := o.(*waits)
	l.Times.Merge(&other.Times)
	l.Waited, l.Longest = l.Waited+other.Waited, max(l.Longest, other.Longest)
}

// Distributions are settled and condensed with the Summary's.
func (l *waits) Distributions() []*metrics.Distribution { return []*metrics.Distribution{&l.Times} }
