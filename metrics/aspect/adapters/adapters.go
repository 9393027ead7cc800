// Package adapters has the figures of the requests that asked for each LoRA adapter.
package adapters

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/record"
)

// An Adapter has the figures of the measured requests that asked for one LoRA adapter. Latencies are
// of completed requests, and approximate once the run's are.
type Adapter struct {
	Name      string
	Completed int // requests
	Failed    int // requests
	Input     int // prompt tokens of completed requests
	Output    int // output tokens of completed requests
	Good      int // completed requests that met every SLO

	RequestThroughput float64 // completed requests a second
	OutputThroughput  float64 // tokens a second
	Goodput           float64 // good requests a second; NaN without an SLO

	TTFT metrics.Distribution
	TPOT metrics.Distribution
	E2EL metrics.Distribution

	arrived int // output tokens that arrived in the part of the run that the row is of
}

// latencies are the Distributions of the adapter by their names.
func (a *Adapter) latencies() map[string]*metrics.Distribution {
	return map[string]*metrics.Distribution{"ttft": &a.TTFT, "tpot": &a.TPOT, "e2el": &a.E2EL}
}

// Requests to all adapters but the first hundred have a row together.
const (
	others = "(others)"
	most   = 100
)

// adapters are the LoRA adapters that requests asked for. Requests without an adapter are in none of them.
type adapters struct {
	// All are the adapters in the order of their names; nil for none.
	All []Adapter

	config *metrics.Config
	rows   map[string]*Adapter // by name
	part   bool                // the rows are of a part of the run
	// limit is how many completed requests have exact latencies, at most, and kept how many have any so far.
	// A limit of 0 is metrics.RequestCap.
	limit, kept int
}

// Kind is the aspect as the list has it. Its figures are not in the object "truth", but in a list next to it.
var Kind = &metrics.Kind{
	Name: "adapters", New: func(h *metrics.Header) metrics.Aspect { return &adapters{config: &h.Config} },
}

// Of are the adapters of a run; nil for none.
func Of(s *metrics.Summary) []Adapter { return metrics.View[adapters](s).All }

// Give gives a run adapters that do not come from its requests.
func Give(s *metrics.Summary, all []Adapter) { s.Give(Kind, &adapters{All: all}) }

// Number is a number of the requests to one adapter, whose name is the adapter's, a slash and n's. It is false for
// a number that adapters do not have.
func Number(n metrics.Number, adapter string) (metrics.Number, bool) {
	rate := map[string]func(*Adapter) float64{
		"request_throughput": func(a *Adapter) float64 { return a.RequestThroughput },
		"output_throughput":  func(a *Adapter) float64 { return a.OutputThroughput },
		"goodput":            func(a *Adapter) float64 { return a.Goodput },
	}[n.Name]
	_, latency := new(Adapter).latencies()[n.Latency]
	switch {
	case latency:
		n.Latency = adapter + "/" + n.Latency
		name := n.Latency
		n = n.OfLatency(func(s *metrics.Summary) *metrics.Distribution { return s.Latency(name) })
	case rate != nil:
		n.Of = func(s *metrics.Summary) float64 {
			if a := metrics.View[adapters](s).named(adapter); a != nil {
				return rate(a)
			}
			return math.NaN()
		}
	default:
		return n, false
	}
	for _, text := range []*string{&n.Name, &n.Key, &n.Label, &n.Head} {
		*text = adapter + "/" + *text
	}
	return n, true
}

// Cut cuts a name into the adapter's, which is empty for none, and the latency's or the number's.
func Cut(name string) (adapter, of string) {
	i := strings.LastIndex(name, "/")
	return name[:max(i, 0)], name[i+1:]
}

// Latency is a latency of one adapter, as sql/ttft for the requests to the adapter sql; nil for others.
func (a *adapters) Latency(name string) *metrics.Distribution {
	adapter, of := Cut(name)
	if row := a.named(adapter); row != nil {
		return row.latencies()[of]
	}
	return nil
}

// named is the adapter of that name; nil if the run has none.
func (a *adapters) named(name string) *Adapter {
	i := slices.IndexFunc(a.All, func(a Adapter) bool { return a.Name == name })
	if i < 0 {
		return nil
	}
	return &a.All[i]
}

// Distributions are the latencies of all adapters.
func (a *adapters) Distributions() (all []*metrics.Distribution) {
	for i := range a.All {
		all = append(all, &a.All[i].TTFT, &a.All[i].TPOT, &a.All[i].E2EL)
	}
	return all
}

// Bound lets the adapters together keep the exact latencies of so many requests.
func (a *adapters) Bound(requests int) { a.limit = requests }

// of is the row of an adapter, nil for no adapter.
func (a *adapters) of(name string) *Adapter {
	if name == "" {
		return nil
	}
	row, room := a.rows[name], most
	if a.rows[others] != nil {
		room++
	}
	if row == nil && name != others && len(a.rows) >= room {
		name = others
		row = a.rows[name]
	}
	if row == nil {
		if a.rows == nil {
			a.rows = map[string]*Adapter{}
		}
		row = &Adapter{Name: name}
		a.rows[name] = row
	}
	return row
}

// count counts a request without its latencies.
func (a *adapters) count(row *Adapter, r *record.Record) {
	if r.Result.Class != record.OK {
		row.Failed++
		return
	}
	row.Completed++
	row.Input += r.Tokens.In
	row.Output += r.Tokens.Out
	if metrics.Good(r, a.config.Goodput) {
		row.Good++
	}
}

// Add adds a request to its adapter, if it has one. Beyond the limit, only histograms are kept.
func (a *adapters) Add(r *record.Record) {
	row := a.of(r.Adapter)
	if row == nil {
		return
	}
	if a.count(row, r); r.Result.Class != record.OK {
		return
	}
	ttft, e2el := r.TTFT().Seconds(), r.E2EL().Seconds()
	row.E2EL.Add(e2el)
	if !r.Answer.Unstreamed {
		row.TTFT.Add(ttft)
	}
	if !r.Answer.Unstreamed && r.Tokens.Out > 1 {
		row.TPOT.Add((e2el - ttft) / float64(r.Tokens.Out-1))
	}
	a.kept++
	a.bound()
}

// AddPart adds what came of a request within a part of the run: its tokens, and its first chunk or its end if it was
// in progress at an edge.
func (a *adapters) AddPart(r *record.Record, w metrics.Window) {
	a.part = true
	done, completed, chunks := r.Done(), r.Result.Class == record.OK, &r.Answer.Chunks
	sentInside := w.Holds(r.Times.Sent)
	if r.Adapter == "" {
		return
	}
	if !sentInside || !w.Holds(done) {
		if completed && !r.Answer.Unstreamed && chunks.Len() > 0 && sentInside && w.Holds(chunks.First()) {
			a.of(r.Adapter).TTFT.Add(r.TTFT().Seconds())
		}
		if w.Holds(done) {
			a.count(a.of(r.Adapter), r)
		}
	}
	if !completed {
		return
	}
	tokens := record.Attribute(r)
	for at, n := range tokens.Arrivals(r) {
		if w.Holds(at) {
			a.of(r.Adapter).arrived += n
		}
	}
}

// bound drops the exact values of all adapters if there are too many.
func (a *adapters) bound() {
	if a.kept <= cmp.Or(a.limit, metrics.RequestCap) {
		return
	}
	for _, row := range a.rows {
		for _, d := range row.latencies() {
			if d.Len() > 0 {
				d.Drop()
			}
		}
	}
}

// Merge adds another shard's requests, of its adapters in the order of their names.
func (a *adapters) Merge(o metrics.Aspect) {
	other := o.(*adapters)
	a.limit = cmp.Or(a.limit, other.limit)
	for _, name := range slices.Sorted(maps.Keys(other.rows)) {
		theirs := other.rows[name]
		row := a.of(theirs.Name)
		row.Completed += theirs.Completed
		row.Failed += theirs.Failed
		row.Input += theirs.Input
		row.Output += theirs.Output
		row.Good += theirs.Good
		latencies := theirs.latencies()
		for name, d := range row.latencies() {
			d.Merge(latencies[name])
		}
	}
	a.kept += other.kept
	a.bound()
}

// Sum is the aspect of a run that took so many seconds.
func (a *adapters) Sum(seconds float64) metrics.Aspect {
	sum := new(adapters)
	for _, name := range slices.Sorted(maps.Keys(a.rows)) {
		one := *a.rows[name]
		if a.part {
			one.Output = one.arrived
		}
		one.RequestThroughput = metrics.Rate(float64(one.Completed), seconds)
		one.OutputThroughput = metrics.Rate(float64(one.Output), seconds)
		if a.config.Traits.Pooled {
			one.OutputThroughput = math.NaN()
		}
		one.Goodput = math.NaN()
		if a.config.LimitsRequests() {
			one.Goodput = metrics.Rate(float64(one.Good), seconds)
		}
		sum.All = append(sum.All, one)
	}
	return sum
}
