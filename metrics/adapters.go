package metrics

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
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

	TTFT Distribution
	TPOT Distribution
	E2EL Distribution
}

// otherAdapters is the name of the Adapter with the requests to all adapters but the first hundred.
const (
	otherAdapters = "(others)"
	mostAdapters  = 100
)

// latencies are the Distributions of the adapter by their names.
func (a *Adapter) latencies() map[string]*Distribution {
	return map[string]*Distribution{"ttft": &a.TTFT, "tpot": &a.TPOT, "e2el": &a.E2EL}
}

// adapterLatencies are the Distributions of all adapters by the names of their histograms.
func adapterLatencies(all []Adapter) map[string]*Distribution {
	named := map[string]*Distribution{}
	for i := range all {
		for name, d := range all[i].latencies() {
			named[fmt.Sprintf("adapter_%d_%s", i, name)] = d
		}
	}
	return named
}

// adapterOf is the Adapter of that name, nil if the run has none.
func adapterOf(s *Summary, name string) *Adapter {
	i := slices.IndexFunc(s.Adapters, func(a Adapter) bool { return a.Name == name })
	if i < 0 {
		return nil
	}
	return &s.Adapters[i]
}

// adapters collects the figures of adapters by their names.
type adapters struct {
	rows map[string]*Adapter
	kept int // completed requests with exact latencies
}

// of is the row of an adapter, nil for no adapter.
func (a *adapters) of(name string) *Adapter {
	if name == "" {
		return nil
	}
	row, most := a.rows[name], mostAdapters
	if a.rows[otherAdapters] != nil {
		most++
	}
	if row == nil && name != otherAdapters && len(a.rows) >= most {
		name = otherAdapters
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

// count counts a request without its latencies; good says that it met every SLO.
func (a *Adapter) count(o *Outcome, good bool) {
	if !o.Success {
		a.Failed++
		return
	}
	a.Completed++
	a.Input += o.In
	a.Output += o.Out
	if good {
		a.Good++
	}
}

// add adds a request to an adapter, if it has one. Beyond most requests, only histograms are kept.
func (a *adapters) add(name string, o *Outcome, good bool, most int) {
	row := a.of(name)
	if row == nil {
		return
	}
	if row.count(o, good); !o.Success {
		return
	}
	row.E2EL.Add(o.Latency)
	if !o.Unstreamed {
		row.TTFT.Add(o.TTFT)
	}
	if !o.Unstreamed && o.Out > 1 {
		row.TPOT.Add(o.TPOT())
	}
	a.kept++
	a.bound(most)
}

// bound drops the exact values of all adapters if there are too many.
func (a *adapters) bound(most int) {
	if a.kept <= most {
		return
	}
	for _, row := range a.rows {
		for _, d := range row.latencies() {
			if d.Len() > 0 {
				d.drop()
			}
		}
	}
}

// merge adds another's requests, of its adapters in the order of their names.
func (a *adapters) merge(other *adapters, most int) {
	for _, name := range slices.Sorted(maps.Keys(other.rows)) {
		theirs := other.rows[name]
		row := a.of(theirs.Name)
		row.Completed += theirs.Completed
		row.Failed += theirs.Failed
		row.Input += theirs.Input
		row.Output += theirs.Output
		row.Good += theirs.Good
		others := theirs.latencies()
		for name, d := range row.latencies() {
			d.Merge(others[name])
		}
	}
	a.kept += other.kept
	a.bound(most)
}

// result are the adapters in the order of their names, for a run that has taken so many seconds.
// limited says that it has an SLO.
func (a *adapters) result(seconds float64, limited bool) []Adapter {
	var all []Adapter
	for _, row := range slices.SortedFunc(maps.Values(a.rows),
		func(x, y *Adapter) int { return strings.Compare(x.Name, y.Name) }) {
		one := *row
		one.RequestThroughput = rate(float64(one.Completed), seconds)
		one.OutputThroughput = rate(float64(one.Output), seconds)
		one.Goodput = math.NaN()
		if limited {
			one.Goodput = rate(float64(one.Good), seconds)
		}
		all = append(all, one)
	}
	return all
}
