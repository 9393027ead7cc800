package catalogue

import (
	"math"
	"slices"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect/gpus"
	"github.com/servebench/servebench/metrics/aspect/sessions"
	"github.com/servebench/servebench/metrics/cost"
	"github.com/servebench/servebench/metrics/stats"
)

// core are the numbers of every Summary, except latencies.
func core() []metrics.Number {
	return slices.Concat(requestNumbers(), sessionNumbers(), gpuNumbers(), wakeNumbers(), userNumbers())
}

// requestNumbers are of requests and tokens.
func requestNumbers() []metrics.Number {
	return []metrics.Number{
		{Name: "completed", Key: "completed", Label: "Completed", Head: "completed",
			About: "requests that were answered", Of: func(s *metrics.Summary) float64 { return float64(s.Completed) }},
		{Name: "failed", Key: "failed", Label: "Failed", Head: "failed", Better: metrics.Lower,
			About: "requests that were not", Of: func(s *metrics.Summary) float64 { return float64(s.Failed) }},
		{Name: "duration", Key: "duration_s", Label: "Duration", Head: "s", Unit: metrics.UnitSeconds,
			About: "from the start of the load to the end of the last request",
			Of:    func(s *metrics.Summary) float64 { return s.When.Seconds }},
		{Name: "request_throughput", Key: "requests_per_s", Label: "Request throughput", Head: "req/s",
			Unit: metrics.RequestsPerSecond, Better: metrics.Higher, About: "completed requests / duration",
			Of: func(s *metrics.Summary) float64 { return s.Rates.Requests }},
		{Name: "output_throughput", Key: "output_tokens_per_s", Label: "Output throughput", Head: "output tok/s",
			Unit: metrics.TokensPerSecond, Better: metrics.Higher, About: "output tokens of completed requests / duration",
			Of: func(s *metrics.Summary) float64 { return s.Rates.Output }},
		{Name: "total_throughput", Key: "total_tokens_per_s", Label: "Total throughput", Head: "total tok/s",
			Unit: metrics.TokensPerSecond, Better: metrics.Higher,
			About: "prompt and output tokens of completed requests / duration",
			Of:    func(s *metrics.Summary) float64 { return s.Rates.Total }},
		{Name: "input_sequence_throughput", Key: "inputs_per_s", Label: "Input throughput", Head: "inputs/s",
			Unit: metrics.InputsPerSecond, Better: metrics.Higher, About: "inputs of a pooling endpoint / duration",
			Of: func(s *metrics.Summary) float64 {
				if s.Rates.Sequences > 0 {
					return s.Rates.Sequences
				}
				return math.NaN()
			}},
		{Name: "goodput", Key: "good_requests_per_s", Label: "Goodput", Head: "good req/s",
			Unit: metrics.RequestsPerSecond, Better: metrics.Higher,
			About: "completed requests that kept every limit of --goodput / duration",
			Of:    func(s *metrics.Summary) float64 { return s.Rates.Goodput }},
	}
}

// sessionNumbers are of sessions.
func sessionNumbers() []metrics.Number {
	return []metrics.Number{
		{Name: "session_throughput", Key: "sessions_per_s", Label: "Session throughput", Head: "sessions/s",
			Unit: metrics.SessionsPerSecond, Better: metrics.Higher, About: "completed sessions / duration",
			Of: ofSessions(func(s *sessions.Sessions) float64 { return s.Throughput })},
		{Name: "session_goodput", Key: "good_sessions_per_s", Label: "Session goodput", Head: "good sessions/s",
			Unit: metrics.SessionsPerSecond, Better: metrics.Higher,
			About: "completed sessions that kept every limit of --goodput / duration",
			Of:    ofSessions(func(s *sessions.Sessions) float64 { return s.Goodput })},
		{Key: "median_job_s", Label: "Median job time", Head: "median job s", Unit: metrics.UnitSeconds,
			Better: metrics.Lower,
			About:  "the median job time, as median_job_ms",
			Of: ofSessions(func(s *sessions.Sessions) float64 {
				if s.JobTime.Len() == 0 && s.JobTime.Quoted == nil {
					return math.NaN()
				}
				return s.JobTime.Median() / 1000
			})},
		{Key: "cached_percent", Label: "Cached prompt tokens", Head: "cached %", Unit: metrics.Percent,
			Better: metrics.Higher,
			About:  "prompt tokens of sessions that the server found in its prefix cache",
			Of:     ofSessions(func(s *sessions.Sessions) float64 { return 100 * s.Cache.CachedShare() })},
	}
}

// gpuNumbers are of energy and money.
func gpuNumbers() []metrics.Number {
	return []metrics.Number{
		{Key: "mean_power_w", Label: "Mean power", Head: "W", Unit: metrics.Watts, Better: metrics.Lower,
			About: "energy of the GPUs / duration",
			Of:    ofEnergy(func(e *cost.Energy, _ *metrics.Summary) float64 { return e.Watts() })},
		{Name: "joules_per_output_token", Key: "joules_per_output_token", Label: "Energy per output token",
			Head: "J/output tok", Unit: metrics.Joules, Better: metrics.Lower,
			About: "energy of the GPUs / output tokens of completed requests",
			Of:    ofEnergy(func(e *cost.Energy, s *metrics.Summary) float64 { return e.PerToken(s.Totals.Output) })},
		{Name: "joules_per_token", Key: "joules_per_token", Label: "Energy per token", Head: "J/tok",
			Unit: metrics.Joules, Better: metrics.Lower,
			About: "energy of the GPUs / prompt and output tokens of completed requests",
			Of:    ofEnergy(func(e *cost.Energy, s *metrics.Summary) float64 { return e.PerToken(s.Tokens()) })},
		{Key: "output_tokens_per_joule", Label: "Output tokens per joule", Head: "output tok/s/W",
			Unit: metrics.TokensPerJoule, Better: metrics.Higher,
			About: "output tokens of completed requests / energy of the GPUs",
			Of:    ofEnergy(func(e *cost.Energy, s *metrics.Summary) float64 { return e.TokensPerJoule(s.Totals.Output) })},
		{Name: "usd_per_million_input_tokens", Key: "usd_per_million_input_tokens", Label: "Price of a million input tokens",
			Head: "$/M input", Unit: metrics.Dollars, Better: metrics.Lower, About: "cost by --price / prompt tokens · 10⁶",
			Of: ofMoney(func(s *metrics.Summary) int { return s.Totals.Input })},
		{Name: "usd_per_million_output_tokens", Key: "usd_per_million_output_tokens",
			Label: "Price of a million output tokens", Head: "$/M output", Unit: metrics.Dollars, Better: metrics.Lower,
			About: "cost by --price / output tokens · 10⁶",
			Of:    ofMoney(func(s *metrics.Summary) int { return s.Totals.Output })},
		{Name: "usd_per_million_tokens", Key: "usd_per_million_tokens", Label: "Price of a million tokens", Head: "$/M tok",
			Unit: metrics.Dollars, Better: metrics.Lower, About: "cost by --price / prompt and output tokens · 10⁶",
			Of: ofMoney((*metrics.Summary).Tokens)},
	}
}

// wakeNumbers are of a server that woke up.
func wakeNumbers() []metrics.Number {
	return []metrics.Number{
		{Name: "wake_ready", Key: "wake_ready_ms", Label: "Wake until ready", Head: "wake ready ms",
			Unit: metrics.UnitMilliseconds, Better: metrics.Lower, About: "from waking a sleeping server until it was awake",
			Of: ofWake(func(w *metrics.Wake) time.Duration { return w.Ready })},
		{Name: "wake_first_token", Key: "wake_first_token_ms", Label: "Wake to first token",
			Head: "wake first token ms",
			Unit: metrics.UnitMilliseconds, Better: metrics.Lower,
			About: "from waking a sleeping server to the first chunk of the next request",
			Of:    ofWake(func(w *metrics.Wake) time.Duration { return w.FirstToken })},
	}
}

// userNumbers are as a user and a GPU have them.
func userNumbers() []metrics.Number {
	return []metrics.Number{
		perUser(50), perUser(10), perUser(1),
		{Key: "output_tokens_per_s_per_user", Label: "Output throughput per user", Head: "output tok/s per user",
			Unit: metrics.TokensPerSecond, Better: metrics.Higher,
			About: "output throughput / users, who are --max-concurrency or the most requests in flight",
			Of:    func(s *metrics.Summary) float64 { return s.Rates.Output / s.Users() }},
		{Key: "output_tokens_per_s_per_gpu", Label: "Output throughput per GPU", Head: "output tok/s per GPU",
			Unit: metrics.TokensPerSecond, Better: metrics.Higher,
			About: "output throughput / GPUs, by --gpus or --metadata, or else 1",
			Of:    func(s *metrics.Summary) float64 { return s.Rates.Output / s.Header.Config.GPUs() }},
	}
}

// perUser is how many tokens a second p % of the users get at most, each from one request: 1 / TPOT.
func perUser(p float64) metrics.Number {
	text := metrics.FormatPercentile(p)
	return metrics.Number{
		Key: "p" + text + "_user_tokens_per_s", Label: "P" + text + " user throughput", Head: "P" + text + " user tok/s",
		Unit: metrics.TokensPerSecond, Better: metrics.Higher, About: "1 / TPOT of a request", Percentile: p,
		Of: func(s *metrics.Summary) float64 {
			if tpot := s.TPOT.Percentile(100 - p); tpot > 0 {
				return 1000 / tpot
			}
			return math.NaN()
		},
		Samples: func(s *metrics.Summary) stats.TailSize { return stats.TailSize{Percentile: p, N: s.TPOT.Len()} },
	}
}

// ofSessions is a number of a run's sessions, NaN without sessions.
func ofSessions(number func(*sessions.Sessions) float64) func(*metrics.Summary) float64 {
	return func(s *metrics.Summary) float64 {
		of := sessions.Of(s)
		if of == nil {
			return math.NaN()
		}
		return number(of)
	}
}

// ofEnergy is a number of the energy of a run, NaN if the GPUs were not sampled.
func ofEnergy(number func(*cost.Energy, *metrics.Summary) float64) func(*metrics.Summary) float64 {
	return func(s *metrics.Summary) float64 {
		e := gpus.Energy(s)
		if e == nil {
			return math.NaN()
		}
		return number(e, s)
	}
}

// ofMoney is the price of a million of the run's tokens, NaN without a price.
func ofMoney(tokens func(*metrics.Summary) int) func(*metrics.Summary) float64 {
	return func(s *metrics.Summary) float64 { return cost.PerMillion(gpus.Dollars(s), tokens(s)) }
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
