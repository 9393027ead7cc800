package metrics

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/servebench/servebench/metrics/numpy"
	"github.com/servebench/servebench/metrics/record"
)

// maxSlices is the most parts that a run can be cut into.
const maxSlices = 100_000

// A Slice is one of equal parts of a run. A value counts in the slice in which it was complete. A
// slice includes its beginning but not its end, except for the last slice.
type Slice struct {
	Window
	Sent, Completed, Failed int     // requests
	InFlight                float64 // measured requests, mean over the slice
	Input                   int     // prompt tokens of the requests completed
	Output                  int     // output tokens of requests that completed then or later

	// Latencies are of requests that completed. TTFT counts in the slice of the first chunk, ITL in
	// the slice of each chunk, TPOT and E2EL in the slice of the last chunk.
	TTFT, TPOT, ITL, E2EL Spread
	Seen                  Seen // what the server reported during the slice
}

// A Spread is a latency within a Slice, in milliseconds; NaN without values.
type Spread struct {
	N         int
	Mean, P99 float64
}

// Slice cuts the measured part of the run into parts of that width, using the Trace; the last part
// may be shorter. Requests without single chunk times have no ITL. Without a Trace or a duration
// there are no slices; too many slices are an error.
func (s *Summary) Slice(width time.Duration) ([]Slice, error) {
	whole := s.Whole()
	took := whole.To - whole.From
	if s.Trace == nil || took <= 0 {
		return nil, nil
	}
	n := (took-1)/width + 1
	if n > maxSlices {
		return nil, fmt.Errorf("%s make %d slices of %s: at most %d are allowed, so take %s or more", took, n, width,
			maxSlices, (took-1)/maxSlices+1)
	}
	c := slicer{whole: whole, width: width, slices: make([]Slice, n)}
	for i := range c.slices {
		from := whole.From + time.Duration(i)*width
		c.slices[i].Window = Window{from, min(from+width, whole.To)}
	}
	c.fill(s)
	return c.slices, nil
}

// A slicer fills Slices.
type slicer struct {
	whole  Window
	width  time.Duration
	slices []Slice
	values [4][][]float64 // of TTFT, TPOT, ITL and E2EL in each slice, in seconds
	busy   []time.Duration
	full   []int // change in the requests in flight throughout a slice
}

func (c *slicer) fill(s *Summary) {
	n := len(c.slices)
	c.busy, c.full = make([]time.Duration, n), make([]int, n+1)
	for i := range c.values {
		c.values[i] = make([][]float64, n)
	}
	for r := range s.Measured() {
		c.take(r)
	}
	throughout := 0
	for i := range c.slices {
		slice := &c.slices[i]
		throughout += c.full[i]
		slice.InFlight = float64(throughout) + c.busy[i].Seconds()/slice.Seconds()
		for k, spread := range []*Spread{&slice.TTFT, &slice.TPOT, &slice.ITL, &slice.E2EL} {
			*spread = spreadOf(c.values[k][i])
		}
	}
	c.see(s.Trace.Samples, s.WhyMixed() == "")
	for i := range c.slices {
		slice := &c.slices[i]
		if e := s.power.Energy(slice.From, slice.To); len(s.power) > 0 && e.Unknown == "" {
			slice.Seen.GPUEnergy = &e.Joules
		}
	}
}

// at is the slice of a time; a time outside the run is in the nearest slice.
func (c *slicer) at(t time.Duration) int {
	return min(max(int((t-c.whole.From)/c.width), 0), len(c.slices)-1)
}

func (c *slicer) put(kind int, at, latency time.Duration) {
	i := c.at(at)
	c.values[kind][i] = append(c.values[kind][i], latency.Seconds())
}

func (c *slicer) take(r *record.Record) {
	c.slices[c.at(r.Times.Sent)].Sent++
	c.stay(r.Times.Sent, r.Times.End)
	done := c.at(doneAt(r))
	if r.Result.Class != record.OK {
		c.slices[done].Failed++
		return
	}
	c.slices[done].Completed++
	c.slices[done].Input += r.Tokens.In
	a := record.Attribute(r)
	for at, tokens := range a.Arrivals(r) {
		c.slices[c.at(at)].Output += tokens
	}
	c.put(3, doneAt(r), r.E2EL())
	if r.Answer.Unstreamed {
		return
	}
	c.put(0, r.Answer.Chunks.First(), r.TTFT())
	if r.Tokens.Out > 1 {
		c.put(1, doneAt(r), r.TPOT())
	}
	at := r.Answer.Chunks.First()
	for gap := range r.Answer.Chunks.Gaps() {
		at += gap
		c.put(2, at, gap)
	}
}

// stay counts a request as in flight from one time to another.
func (c *slicer) stay(from, to time.Duration) {
	first, last := c.at(from), c.at(to)
	for _, i := range slices.Compact([]int{first, last}) {
		if here := c.slices[i].Meet(Window{from, to}); here.From < here.To {
			c.busy[i] += here.To - here.From
		}
	}
	if last > first+1 {
		c.full[first+1]++
		c.full[last]--
	}
}

// spreadOf sorts the values, which are in seconds.
func spreadOf(values []float64) Spread {
	slices.Sort(values)
	return Spread{N: len(values), Mean: numpy.Mean(values) * 1000, P99: numpy.Percentile(values, 99) * 1000}
}

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
