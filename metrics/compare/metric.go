package compare

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/cost"
)

// A Metric is a number by which runs are compared.
type Metric struct {
	Name   string // as output_throughput or median_ttft
	Unit   string
	Higher bool                           // more is better
	Of     func(*metrics.Summary) float64 // NaN if the run does not have it

	latency    string                              // of metrics.Metrics, ttfo or job; or empty
	statistic  func(*metrics.Distribution) float64 // of it
	percentile float64                             // its percentile, 0 for others
}

// Metrics are the compared numbers in the order of the output.
var Metrics = slices.Concat([]Metric{
	{Name: "request_throughput", Unit: "req/s", Higher: true,
		Of: func(s *metrics.Summary) float64 { return s.RequestThroughput }},
	{Name: "output_throughput", Unit: "tok/s", Higher: true,
		Of: func(s *metrics.Summary) float64 { return s.OutputThroughput }},
	{Name: "total_throughput", Unit: "tok/s", Higher: true,
		Of: func(s *metrics.Summary) float64 { return s.TotalThroughput }},
	{Name: "input_sequence_throughput", Unit: "inputs/s", Higher: true,
		Of: func(s *metrics.Summary) float64 { return s.InputRate }},
	{Name: "goodput", Unit: "req/s", Higher: true, Of: func(s *metrics.Summary) float64 { return s.Goodput }},
}, latencies("ttft"), latencies(ttfo), latencies("tpot"), latencies("itl"), latencies("e2el"), []Metric{
	{Name: "session_throughput", Unit: "sessions/s", Higher: true,
		Of: ofSessions(func(s *metrics.Sessions) float64 { return s.Throughput })},
	{Name: "session_goodput", Unit: "sessions/s", Higher: true,
		Of: ofSessions(func(s *metrics.Sessions) float64 { return s.Goodput })},
}, latencies(job), []Metric{
	{Name: "joules_per_output_token", Unit: "J", Of: ofEnergy(func(s *metrics.Summary) int { return s.TotalOutput })},
	{Name: "joules_per_token", Unit: "J", Of: ofEnergy((*metrics.Summary).Tokens)},
	{Name: "usd_per_million_input_tokens", Unit: "$", Of: ofMoney(func(s *metrics.Summary) int { return s.TotalInput })},
	{Name: "usd_per_million_output_tokens", Unit: "$", Of: ofMoney(func(s *metrics.Summary) int { return s.TotalOutput })},
	{Name: "usd_per_million_tokens", Unit: "$", Of: ofMoney((*metrics.Summary).Tokens)},
	{Name: "wake_ready", Unit: "ms", Of: ofWake(func(w *metrics.Wake) time.Duration { return w.Ready })},
	{Name: "wake_first_token", Unit: "ms", Of: ofWake(func(w *metrics.Wake) time.Duration { return w.FirstToken })},
}, slowdownMetrics())

// ofEnergy is the energy for each of the run's tokens, NaN if it is unknown.
func ofEnergy(tokens func(*metrics.Summary) int) func(*metrics.Summary) float64 {
	return func(s *metrics.Summary) float64 {
		e := s.Energy()
		if e == nil {
			return math.NaN()
		}
		return e.PerToken(tokens(s))
	}
}

// ofMoney is the price of a million of the run's tokens, NaN without a price.
func ofMoney(tokens func(*metrics.Summary) int) func(*metrics.Summary) float64 {
	return func(s *metrics.Summary) float64 { return cost.PerMillion(s.Dollars(), tokens(s)) }
}

// ttfo is the latency up to the first output that is not reasoning.
const ttfo = "ttfo"

// job is the latency of a whole session: its job time.
const job = "job"

// ofSessions is a number of a run's sessions, NaN without sessions.
func ofSessions(number func(*metrics.Sessions) float64) func(*metrics.Summary) float64 {
	return func(s *metrics.Summary) float64 {
		if s.Sessions == nil {
			return math.NaN()
		}
		return number(s.Sessions)
	}
}

// ofWake is a time of a server's wake in milliseconds, NaN if it did not sleep before the run.
func ofWake(took func(*metrics.Wake) time.Duration) func(*metrics.Summary) float64 {
	return func(s *metrics.Summary) float64 {
		if s.Header.Wake == nil {
			return math.NaN()
		}
		return metrics.Milliseconds(took(s.Header.Wake))
	}
}

// distribution is the latency of that name; nil if the run has none.
func distribution(s *metrics.Summary, latency string) *metrics.Distribution {
	adapter, of := cutAdapter(latency)
	switch {
	case adapter != "":
		if a := adapterOf(s, adapter); a != nil {
			return adapterLatency(of)(a)
		}
		return nil
	case latency == ttfo:
		return s.TTFO()
	case latency != job:
		return s.Metric(latency)
	case s.Sessions == nil:
		return nil
	}
	return &s.Sessions.JobTime
}

// latencies are the compared numbers of a latency, in milliseconds.
func latencies(name string) []Metric {
	median := latency("median_"+name, name, (*metrics.Distribution).Median)
	median.percentile = 50
	return []Metric{
		latency("mean_"+name, name, (*metrics.Distribution).Mean), median, percentile("p90_"+name, name, 90),
		percentile("p99_"+name, name, 99),
	}
}

func latency(name, latency string, statistic func(*metrics.Distribution) float64) Metric {
	return Metric{Name: name, Unit: "ms", Of: known(latency, statistic), latency: latency, statistic: statistic}
}

func percentile(name, of string, p float64) Metric {
	m := latency(name, of, func(d *metrics.Distribution) float64 { return d.Percentile(p) })
	m.percentile = p
	return m
}

// known is a number of a latency, NaN for a latency without samples. In vLLM its statistics are
// then 0.
func known(latency string, number func(*metrics.Distribution) float64) func(*metrics.Summary) float64 {
	return func(s *metrics.Summary) float64 {
		d := distribution(s, latency)
		if d == nil {
			return math.NaN()
		}
		v := number(d)
		if v == 0 && d.Len() == 0 {
			return math.NaN()
		}
		return v
	}
}

// Text is a value with the digits of a report: two decimals, and four of energy and money, of which a
// token takes little.
func (m *Metric) Text(v float64) string {
	if m.Unit == "J" || m.Unit == "$" {
		return metrics.Readable(v, 4)
	}
	return metrics.Readable(v, 2)
}

var percentileName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^p(\d+(?:\.\d+)?)_(ttft|ttfo|tpot|itl|e2el|job)$`)
})

// Find is the metric of that name: one of Metrics, or any percentile of a latency, as p95_ttft. The
// name of a LoRA adapter may precede it, as in sql/p95_ttft.
func Find(name string) (Metric, bool) {
	if adapter, of := cutAdapter(name); adapter != "" {
		m, ok := Find(of)
		if !ok {
			return m, false
		}
		return ofAdapter(adapter, m)
	}
	if i := slices.IndexFunc(Metrics, func(m Metric) bool { return m.Name == name }); i >= 0 {
		return Metrics[i], true
	}
	if found := percentileName().FindStringSubmatch(name); found != nil {
		if p, err := strconv.ParseFloat(found[1], 64); err == nil && p <= 100 {
			return percentile(name, found[2], p), true
		}
	}
	return Metric{}, false
}

// values are the values of the metric in all runs, nil if one has none.
func (m *Metric) values(runs []*Run) []float64 {
	var values []float64
	for _, r := range runs {
		v, known := r.Numbers[m.Name]
		if !known {
			return nil
		}
		values = append(values, v)
	}
	return values
}

// fewest is the smallest expected number of samples beyond the percentile in any run. It is NaN if it
// is unknown for a run.
func (m *Metric) fewest(sides ...[]*Run) float64 {
	least := math.Inf(1)
	for _, r := range slices.Concat(sides...) {
		least = min(least, m.beyond(r))
	}
	return least
}

// fewSamples is an expected number of samples in words, rounded down.
func fewSamples(n float64) string {
	if n < 1 {
		return "fewer than 1 sample"
	}
	return "only " + metrics.Counted(int(n), "sample")
}

// beyond is how many samples of a run are beyond the percentile, NaN if unknown. It is infinite if
// the metric is not a percentile, and for the least and the largest value, which are exact.
func (m *Metric) beyond(r *Run) float64 {
	if m.percentile <= 0 || m.percentile >= 100 {
		return math.Inf(1)
	}
	n := r.samples(m.latency)
	if n <= 0 {
		return math.NaN()
	}
	return metrics.TailSize{Metric: m.latency, Percentile: m.percentile, N: n}.Beyond()
}

// side is where the samples beyond the percentile are.
func (m *Metric) side() string {
	if m.percentile < 50 {
		return "below"
	}
	return "above"
}

// samples is how many samples of a latency a run has; if it does not say, the most that it can
// have: one for each completed request, and for ITL one before each of its tokens but the first.
// Of job times and adapters it is 0 then.
func (r *Run) samples(latency string) int {
	switch n := r.Values[latency]; {
	case n > 0 || latency == job || strings.Contains(latency, "/"):
		return n
	case latency == "itl":
		return r.Output - max(r.Completed, 0)
	}
	return r.Completed
}
