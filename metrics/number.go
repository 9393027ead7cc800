package metrics

import (
	"math"
	"strings"

	"github.com/servebench/servebench/metrics/stats"
)

// A Unit is what the values of a Number count, as it is written behind them. It is empty for a count.
type Unit string

// The units of all numbers.
const (
	Count             Unit = ""
	UnitSeconds       Unit = "s"
	UnitMilliseconds  Unit = "ms"
	RequestsPerSecond Unit = "req/s"
	TokensPerSecond   Unit = "tok/s"
	InputsPerSecond   Unit = "inputs/s"
	SessionsPerSecond Unit = "sessions/s"
	Watts             Unit = "W"
	Joules            Unit = "J"
	TokensPerJoule    Unit = "tok/s/W"
	Dollars           Unit = "$"
	Percent           Unit = "%"
	Times             Unit = "×"
)

// Decimals is how many decimals values have: two, and four of energy and money, of which a token
// takes little.
func (u Unit) Decimals() int {
	switch u {
	case Count:
		return 0
	case Joules, TokensPerJoule, Dollars:
		return 4
	}
	return 2
}

// Better says in which direction a Number improves.
type Better int8

// The directions.
const (
	Neither Better = iota
	Lower
	Higher
)

// A Number is one number of a run. It exists once, as a row of the catalogue: tables, files, charts,
// comparisons, gates and tests choose it by a name, and know nothing else about it.
type Number struct {
	Name   string // in comparisons and gates: median_ttft
	Key    string // in CSV and JSON, with its unit: median_ttft_ms
	Label  string // in words: Median TTFT
	Head   string // at the head of a column: median TTFT ms
	Unit   Unit
	Better Better
	About  string                 // what it is, in words that follow a colon
	Of     func(*Summary) float64 // NaN if the run does not have it

	// Samples are how many samples a percentile has; nil for other numbers, also for means and medians.
	Samples func(*Summary) stats.TailSize

	Latency    string  // whose statistic it is, by the name of the Latency; empty for other numbers
	Percentile float64 // 0 for a mean, and for other numbers
	statistic  func(*Distribution) float64
	latency    Latency
	of         func(*Summary) *Distribution // the latency of a run; nil if the run does not have it
}

// Value is the number of a run. It is NaN if the run does not have it, and without a run.
func (n *Number) Value(s *Summary) float64 {
	if s == nil {
		return math.NaN()
	}
	return n.Of(s)
}

// Statistic is the number's statistic of another Distribution than a run's, such as FromContent.
func (n *Number) Statistic(d *Distribution) float64 { return n.statistic(d) }

// Text is a value for people, without its unit.
func (n *Number) Text(v float64) string { return Readable(v, n.Unit.Decimals()) }

// Few reports that the number is a percentile of too few samples of a run to decide anything. It is false
// if the samples are not known, as in a result block.
func (n *Number) Few(s *Summary) bool {
	if s == nil || n.Samples == nil {
		return false
	}
	size := n.Samples(s)
	return size.N > 0 && size.Few()
}

// Distribution is the latency whose statistic the number is; nil if the run does not have it.
func (n *Number) Distribution(s *Summary) *Distribution {
	if n.of == nil {
		return nil
	}
	return n.of(s)
}

// A statistic is a figure of a Latency.
type statistic struct {
	name, label string
	percentile  float64 // 0 for the mean
	of          func(*Distribution) float64
}

// statistics are in the catalogue. There is any other percentile, too: see Number.At.
var statistics = []statistic{
	{"mean", "mean", 0, (*Distribution).Mean}, {"median", "median", 50, (*Distribution).Median},
	percentile(90), percentile(99),
}

func percentile(p float64) statistic {
	text := FormatPercentile(p)
	return statistic{"p" + text, "P" + text, p, func(d *Distribution) float64 { return d.Percentile(p) }}
}

// Numbers are the statistics of a latency in the catalogue.
func (l Latency) Numbers() (all []Number) {
	for _, of := range statistics {
		all = append(all, l.number(of))
	}
	return all
}

// At is the p-th percentile of the latency whose statistic n is, p from 0 to 100.
func (n Number) At(p float64) Number { return n.latency.number(percentile(p)) }

// number is the number that a statistic of a latency is, in milliseconds.
func (l Latency) number(of statistic) Number {
	name := of.name + "_" + l.Name
	label := of.label + " " + l.Label
	n := Number{
		Name: name, Key: name + "_ms", Label: strings.ToUpper(label[:1]) + label[1:], Head: label + " ms",
		Unit: UnitMilliseconds, Better: Lower, About: l.Long + ": " + l.About,
		Latency: l.Name, Percentile: of.percentile, statistic: of.of, latency: l,
	}
	return n.OfLatency(l.Of)
}

// OfLatency is the statistic n of another latency, which is nil for a run that does not have it. It is NaN for a
// latency without samples, whose statistics are 0 in vLLM.
func (n Number) OfLatency(of func(*Summary) *Distribution) Number {
	n.of = of
	n.Of = func(s *Summary) float64 {
		if d := of(s); d != nil {
			if v := n.statistic(d); v != 0 || d.Len() > 0 {
				return v
			}
		}
		return math.NaN()
	}
	if n.Percentile > 0 && !strings.HasPrefix(n.Name, "median_") {
		n.Samples = func(s *Summary) stats.TailSize {
			size := stats.TailSize{Metric: n.Latency, Percentile: n.Percentile}
			if d := of(s); d != nil {
				size.N = d.Len()
			}
			return size
		}
	}
	return n
}

// Decisive is the statistic n of Summary.Decisive.
func (n Number) Decisive() Number {
	return n.OfLatency(func(s *Summary) *Distribution {
		d, _ := s.Decisive(n.Latency)
		return d
	})
}
