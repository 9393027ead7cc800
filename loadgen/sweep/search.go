package sweep

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/servebench/servebench/metrics"
)

// A Search looks for the highest value of a flag at which all limits hold. It
// takes for granted that what fails at one value fails at all higher ones.
type Search struct {
	Flag     string // request-rate or max-concurrency
	From, To float64
	Step     float64 // between the values that are tried; above 0
	Limits   []Limit
	Confirm  int // more runs at the value found that have to hold
}

// A Limit is the most that a latency may be. A run in which requests failed
// holds no limit.
type Limit struct {
	Metric string  // ttft, tpot, itl, e2el
	Of     string  // mean, median, or a percentile as p99
	Most   float64 // in milliseconds
}

// A Probe is one run of a search.
type Probe struct {
	Value float64
	Held  bool
}

// Next is the value to be tried after those of history, in order. When the
// search is over there is none, and best is what it found: NaN when not even the
// lowest value held.
func (s *Search) Next(history []Probe) (value, best float64, over bool) {
	low, high := -1, s.steps() // low holds, as far as is known, and high does not
	held := map[int]int{}      // how often each value has
	for _, probe := range history {
		i := s.index(probe.Value)
		if probe.Held {
			low = max(low, i)
			held[i]++
			continue
		}
		high = min(high, i)
	}
	if low >= high { // it held once and failed later: what is below it counts
		low = -1
		for i := range held {
			if i < high {
				low = max(low, i)
			}
		}
	}
	switch {
	case high-low > 1 && low < 0:
		return s.value((high - 1) / 2), 0, false
	case high-low > 1:
		return s.value((low + high) / 2), 0, false
	case low < 0:
		return 0, math.NaN(), true
	case held[low] <= s.Confirm:
		return s.value(low), 0, false
	}
	return 0, s.value(low), true
}

// steps is how many values there are.
func (s *Search) steps() int { return int(math.Floor((s.To-s.From)/s.Step+1e-9)) + 1 }

// Top is the highest value that is tried.
func (s *Search) Top() float64 { return s.value(s.steps() - 1) }

func (s *Search) value(i int) float64 { return s.From + float64(i)*s.Step }

func (s *Search) index(value float64) int { return int(math.Round((value - s.From) / s.Step)) }

// Most is how many probes a search takes when no confirmation fails.
func (s *Search) Most() int { return int(math.Ceil(math.Log2(float64(s.steps()+1)))) + s.Confirm }

// Args is a value as a command line has it.
func (s *Search) Args(value float64) []string {
	return []string{"--" + s.Flag + "=" + strconv.FormatFloat(value, 'f', -1, 64)}
}

// Holds says whether a run kept the limits on every target, and which one it
// broke by how much.
func (s *Search) Holds(sums ...*metrics.Summary) (ok bool, why string) {
	for _, sum := range sums {
		if why := s.broken(sum); why != "" {
			switch {
			case sum.Header.Solo:
				why = sum.Header.Target + " alone: " + why
			case sum.Header.Target != "":
				why = sum.Header.Target + ": " + why
			}
			return false, why
		}
	}
	return true, ""
}

// broken is the limit that a run on one target broke, by how much.
func (s *Search) broken(sum *metrics.Summary) string {
	if sum.Failed > 0 {
		return fmt.Sprintf("%d of %d requests failed", sum.Failed, sum.Failed+sum.Completed)
	}
	for _, l := range s.Limits {
		if got := l.value(sum); !(got <= l.Most) {
			return fmt.Sprintf("%s %s is %.2f ms, above %g ms", l.Of, strings.ToUpper(l.Metric), got, l.Most)
		}
	}
	return ""
}

func (l Limit) value(sum *metrics.Summary) float64 {
	d := sum.Metric(l.Metric)
	switch l.Of {
	case "mean":
		return d.Mean()
	case "median":
		return d.Median()
	}
	p, err := strconv.ParseFloat(l.Of[1:], 64)
	if err != nil {
		return math.NaN()
	}
	return d.Percentile(p)
}

// until reads a search.
func (p *parser) until(node *yaml.Node) error {
	s := &Search{Step: 1, Confirm: 1}
	err := fields(node, "until", map[string]any{
		"flag": &s.Flag, "from": &s.From, "to": &s.To, "step": &s.Step, "confirm": &s.Confirm, "slo": s.limits,
	})
	switch {
	case err != nil:
		return err
	case s.Flag != "request-rate" && s.Flag != "max-concurrency":
		return at(node, "until: flag: %q: it must be request-rate or max-concurrency", s.Flag)
	case !(s.From > 0 && s.To > s.From && s.Step > 0) || math.IsInf(s.To, 1) || math.IsInf(s.Step, 1) || (s.To-s.From)/s.Step > 1e6:
		return at(node, "until: from, to and step must be numbers above 0, to above from, at most a million steps")
	case s.Flag == "max-concurrency" && (s.From != math.Floor(s.From) || s.Step != math.Floor(s.Step)):
		return at(node, "until: the steps of max-concurrency must be whole numbers")
	case s.Confirm < 0 || s.Confirm > 20:
		return at(node, "until: confirm: it must be from 0 to 20")
	case s.Limits == nil:
		return at(node, "until must have an slo, such as {p99-ttft: 200}")
	}
	p.plan.Search = s
	return nil
}

// limits reads `p99-ttft: 200`, in milliseconds.
func (s *Search) limits(node *yaml.Node) error {
	return entries(node, "slo", func(key, value *yaml.Node) error {
		l := Limit{}
		l.Of, l.Metric, _ = strings.Cut(key.Value, "-")
		if !slices.Contains([]string{"ttft", "tpot", "itl", "e2el"}, l.Metric) || !isStatistic(l.Of) {
			return at(key, "%s: a limit must be a statistic and a latency, such as p99-ttft, mean-tpot, median-itl or p99.9-e2el", key.Value)
		}
		if value.Decode(&l.Most) != nil || !(l.Most >= 0) || math.IsInf(l.Most, 1) {
			return at(value, "%s must be a number of milliseconds", key.Value)
		}
		s.Limits = append(s.Limits, l)
		return nil
	})
}

// isStatistic says whether text names one.
func isStatistic(text string) bool {
	digits, isPercentile := strings.CutPrefix(text, "p")
	p, err := strconv.ParseFloat(digits, 64)
	return text == "mean" || text == "median" || isPercentile && err == nil && p >= 0 && p <= 100
}
