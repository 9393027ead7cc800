package metrics

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/servebench/servebench/metrics/cost"
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

	Latency    string  // whose statistic it is, as Summary.Latency takes it; empty for other numbers
	Percentile float64 // of the latency; 0 for its mean, and for other numbers
	statistic  func(*Distribution) float64
	decisive   bool // of Summary.Decisive
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

// Few reports that the number is a percentile of too few samples of a run to decide anything. A median
// never is, and neither is a percentile of which the samples are not known, as in a result block.
func (n *Number) Few(s *Summary) bool {
	if s == nil || n.Percentile == 0 || n.Percentile == 50 {
		return false
	}
	d := n.distribution(s)
	return d != nil && d.Len() > 0 && TailSize{Percentile: n.Percentile, N: d.Len()}.Few()
}

// A statistic is a figure of a Latency.
type statistic struct {
	name, label string
	percentile  float64 // 0 for the mean
	of          func(*Distribution) float64
}

// statistics are in the catalogue. There is any other percentile, too: see NumberNamed.
var statistics = []statistic{
	{"mean", "mean", 0, (*Distribution).Mean}, {"median", "median", 50, (*Distribution).Median},
	percentile(90), percentile(99),
}

func percentile(p float64) statistic {
	text := FormatPercentile(p)
	return statistic{"p" + text, "P" + text, p, func(d *Distribution) float64 { return d.Percentile(p) }}
}

// number is the number that a statistic of a latency is, in milliseconds.
func (l Latency) number(of statistic) Number {
	name := of.name + "_" + l.Name
	label := of.label + " " + l.Label
	n := Number{
		Name: name, Key: name + "_ms", Label: strings.ToUpper(label[:1]) + label[1:], Head: label + " ms",
		Unit: UnitMilliseconds, Better: Lower, About: l.Long + ": " + l.About,
		Latency: l.Name, Percentile: of.percentile, statistic: of.of,
	}
	n.Of = n.ofLatency
	return n
}

// ofLatency is the number of a run. It is NaN for a latency without samples, whose statistics are 0 in vLLM.
func (n Number) ofLatency(s *Summary) float64 {
	d := n.distribution(s)
	if d == nil {
		return math.NaN()
	}
	if v := n.statistic(d); v != 0 || d.Len() > 0 {
		return v
	}
	return math.NaN()
}

// distribution is the latency of a run; nil if the run does not have it.
func (n *Number) distribution(s *Summary) *Distribution {
	if n.decisive {
		d, _ := s.Decisive(n.Latency)
		return d
	}
	return s.Latency(n.Latency)
}

// Decisive is the statistic n of Summary.Decisive.
func (n Number) Decisive() Number {
	n.decisive = true
	n.Of = n.ofLatency
	return n
}

// Numbers is the catalogue: all numbers of a run, except further percentiles and the numbers of adapters, for
// which see NumberNamed.
var Numbers = sync.OnceValue(func() []Number { return slices.Concat(ofCounts(), ofLatencies()) })

func ofCounts() []Number {
	return []Number{
		{Name: "completed", Key: "completed", Label: "Completed", Head: "completed",
			About: "requests that were answered", Of: func(s *Summary) float64 { return float64(s.Completed) }},
		{Name: "failed", Key: "failed", Label: "Failed", Head: "failed", Better: Lower,
			About: "requests that were not", Of: func(s *Summary) float64 { return float64(s.Failed) }},
		{Name: "duration", Key: "duration_s", Label: "Duration", Head: "s", Unit: UnitSeconds,
			About: "from the start of the load to the end of the last request",
			Of:    func(s *Summary) float64 { return s.Seconds }},
		{Name: "request_throughput", Key: "requests_per_s", Label: "Request throughput", Head: "req/s",
			Unit: RequestsPerSecond, Better: Higher, About: "completed requests / duration",
			Of: func(s *Summary) float64 { return s.RequestThroughput }},
		{Name: "output_throughput", Key: "output_tokens_per_s", Label: "Output throughput", Head: "output tok/s",
			Unit: TokensPerSecond, Better: Higher, About: "output tokens of completed requests / duration",
			Of: func(s *Summary) float64 { return s.OutputThroughput }},
		{Name: "total_throughput", Key: "total_tokens_per_s", Label: "Total throughput", Head: "total tok/s",
			Unit: TokensPerSecond, Better: Higher, About: "prompt and output tokens of completed requests / duration",
			Of: func(s *Summary) float64 { return s.TotalThroughput }},
		{Name: "input_sequence_throughput", Key: "inputs_per_s", Label: "Input throughput", Head: "inputs/s",
			Unit: InputsPerSecond, Better: Higher, About: "inputs of a pooling endpoint / duration",
			Of: func(s *Summary) float64 {
				if s.InputRate > 0 {
					return s.InputRate
				}
				return math.NaN()
			}},
		{Name: "goodput", Key: "good_requests_per_s", Label: "Goodput", Head: "good req/s",
			Unit: RequestsPerSecond, Better: Higher, About: "completed requests that kept every limit of --goodput / duration",
			Of: func(s *Summary) float64 { return s.Goodput }},
		{Name: "session_throughput", Key: "sessions_per_s", Label: "Session throughput", Head: "sessions/s",
			Unit: SessionsPerSecond, Better: Higher, About: "completed sessions / duration",
			Of: ofSessions(func(s *Sessions) float64 { return s.Throughput })},
		{Name: "session_goodput", Key: "good_sessions_per_s", Label: "Session goodput", Head: "good sessions/s",
			Unit: SessionsPerSecond, Better: Higher,
			About: "completed sessions that kept every limit of --goodput / duration",
			Of:    ofSessions(func(s *Sessions) float64 { return s.Goodput })},
		{Key: "median_job_s", Label: "Median job time", Head: "median job s", Unit: UnitSeconds, Better: Lower,
			About: "the median job time, as median_job_ms",
			Of: ofSessions(func(s *Sessions) float64 {
				if s.JobTime.Len() == 0 && s.JobTime.Quoted == nil {
					return math.NaN()
				}
				return s.JobTime.Median() / 1000
			})},
		{Key: "cached_percent", Label: "Cached prompt tokens", Head: "cached %", Unit: Percent, Better: Higher,
			About: "prompt tokens of sessions that the server found in its prefix cache",
			Of:    ofSessions(func(s *Sessions) float64 { return 100 * s.Cache.CachedShare() })},
		{Key: "mean_power_w", Label: "Mean power", Head: "W", Unit: Watts, Better: Lower,
			About: "energy of the GPUs / duration", Of: ofEnergy(func(e *cost.Energy, _ *Summary) float64 { return e.Watts() })},
		{Name: "joules_per_output_token", Key: "joules_per_output_token", Label: "Energy per output token",
			Head: "J/output tok", Unit: Joules, Better: Lower, About: "energy of the GPUs / output tokens of completed requests",
			Of: ofEnergy(func(e *cost.Energy, s *Summary) float64 { return e.PerToken(s.TotalOutput) })},
		{Name: "joules_per_token", Key: "joules_per_token", Label: "Energy per token", Head: "J/tok",
			Unit: Joules, Better: Lower, About: "energy of the GPUs / prompt and output tokens of completed requests",
			Of: ofEnergy(func(e *cost.Energy, s *Summary) float64 { return e.PerToken(s.Tokens()) })},
		{Key: "output_tokens_per_joule", Label: "Output tokens per joule", Head: "output tok/s/W",
			Unit: TokensPerJoule, Better: Higher, About: "output tokens of completed requests / energy of the GPUs",
			Of: ofEnergy(func(e *cost.Energy, s *Summary) float64 { return e.TokensPerJoule(s.TotalOutput) })},
		{Name: "usd_per_million_input_tokens", Key: "usd_per_million_input_tokens", Label: "Price of a million input tokens",
			Head: "$/M input", Unit: Dollars, Better: Lower, About: "cost by --price / prompt tokens · 10⁶",
			Of: ofMoney(func(s *Summary) int { return s.TotalInput })},
		{Name: "usd_per_million_output_tokens", Key: "usd_per_million_output_tokens",
			Label: "Price of a million output tokens", Head: "$/M output", Unit: Dollars, Better: Lower,
			About: "cost by --price / output tokens · 10⁶", Of: ofMoney(func(s *Summary) int { return s.TotalOutput })},
		{Name: "usd_per_million_tokens", Key: "usd_per_million_tokens", Label: "Price of a million tokens", Head: "$/M tok",
			Unit: Dollars, Better: Lower, About: "cost by --price / prompt and output tokens · 10⁶",
			Of: ofMoney((*Summary).Tokens)},
		{Name: "wake_ready", Key: "wake_ready_ms", Label: "Wake until ready", Head: "wake ready ms",
			Unit: UnitMilliseconds, Better: Lower, About: "from waking a sleeping server until it was awake",
			Of: ofWake(func(w *Wake) time.Duration { return w.Ready })},
		{Name: "wake_first_token", Key: "wake_first_token_ms", Label: "Wake to first token", Head: "wake first token ms",
			Unit: UnitMilliseconds, Better: Lower, About: "from waking a sleeping server to the first chunk of the next request",
			Of: ofWake(func(w *Wake) time.Duration { return w.FirstToken })},
	}
}

// ofLatencies are the statistics of all latencies.
func ofLatencies() (all []Number) {
	for _, l := range Latencies {
		for _, of := range statistics {
			all = append(all, l.number(of))
		}
	}
	return all
}

// ofSessions is a number of a run's sessions, NaN without sessions.
func ofSessions(number func(*Sessions) float64) func(*Summary) float64 {
	return func(s *Summary) float64 {
		if s.Sessions == nil {
			return math.NaN()
		}
		return number(s.Sessions)
	}
}

// ofEnergy is a number of the energy of a run, NaN if the GPUs were not sampled.
func ofEnergy(number func(*cost.Energy, *Summary) float64) func(*Summary) float64 {
	return func(s *Summary) float64 {
		e := s.Energy()
		if e == nil {
			return math.NaN()
		}
		return number(e, s)
	}
}

// ofMoney is the price of a million of the run's tokens, NaN without a price.
func ofMoney(tokens func(*Summary) int) func(*Summary) float64 {
	return func(s *Summary) float64 { return cost.PerMillion(s.Dollars(), tokens(s)) }
}

// ofWake is a time of a server's wake in milliseconds, NaN if it did not sleep before the run.
func ofWake(took func(*Wake) time.Duration) func(*Summary) float64 {
	return func(s *Summary) float64 {
		if s.Header.Wake == nil {
			return math.NaN()
		}
		return Milliseconds(took(s.Header.Wake))
	}
}

var percentileName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^p(\d+(?:\.\d+)?)_(\w+)$`) })

// NumberNamed is the number of that name or key: one of Numbers, or any percentile of a latency, as p95_ttft.
// The name of a LoRA adapter may precede it, as in sql/p95_ttft.
func NumberNamed(name string) (n Number, known bool) {
	if adapter, of := cutAdapter(name); adapter != "" {
		if n, known = NumberNamed(of); known {
			return n.ofAdapter(adapter)
		}
		return n, false
	}
	for _, n := range Numbers() {
		if name != "" && (n.Name == name || n.Key == name) {
			return n, true
		}
	}
	if found := percentileName().FindStringSubmatch(strings.TrimSuffix(name, "_ms")); found != nil {
		p, err := strconv.ParseFloat(found[1], 64)
		if l, known := LatencyNamed(found[2]); known && err == nil && p <= 100 {
			return l.number(percentile(p)), true
		}
	}
	return n, false
}

// ofAdapter is the number of the requests to one LoRA adapter, whose name is the adapter's, a slash and n's.
// It is false for a number that adapters do not have.
func (n Number) ofAdapter(adapter string) (Number, bool) {
	rate := map[string]func(*Adapter) float64{
		"request_throughput": func(a *Adapter) float64 { return a.RequestThroughput },
		"output_throughput":  func(a *Adapter) float64 { return a.OutputThroughput },
		"goodput":            func(a *Adapter) float64 { return a.Goodput },
	}[n.Name]
	_, latency := new(Adapter).latencies()[n.Latency]
	switch {
	case latency:
		n.Latency = adapter + "/" + n.Latency
		n.Of = n.ofLatency
	case rate != nil:
		n.Of = func(s *Summary) float64 {
			if a := adapterOf(s, adapter); a != nil {
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

// Chosen chooses numbers when they are first asked for.
func Chosen(names ...string) func() []Number {
	return sync.OnceValue(func() []Number { return Choose(names...) })
}

// Choose are the numbers of these names or keys. It panics for an unknown one: the names are constants.
func Choose(names ...string) []Number {
	var all []Number
	for _, name := range names {
		n, known := NumberNamed(name)
		if !known {
			panic("no number is called " + name)
		}
		all = append(all, n)
	}
	return all
}
