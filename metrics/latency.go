package metrics

import (
	"cmp"
	"math"
	"slices"
)

// A Latency names one Distribution of a Summary as vLLM's flags and files do.
type Latency struct {
	Name  string // as in --percentile-metrics and in the keys of result files
	Label string // for people
	Long  string // the same in full
	About string // what its values are
	// Of is nil for a run that does not have it.
	Of func(*Summary) *Distribution
}

// Latencies are all latencies of a run, in the order of tables.
var Latencies = []Latency{
	{"ttft", "TTFT", "Time to first token", "from sending a request to its first chunk",
		func(s *Summary) *Distribution { return &s.TTFT }},
	{"ttfo", "TTFO", "Time to first output", "from sending a request to the first output that is not reasoning",
		(*Summary).TTFO},
	{"tpot", "TPOT", "Time per output token", "(E2EL − TTFT) / (output tokens − 1) of a request",
		func(s *Summary) *Distribution { return &s.TPOT }},
	{"itl", "ITL", "Inter-token latency", "from one chunk to the next",
		func(s *Summary) *Distribution { return &s.ITL }},
	{"e2el", "E2EL", "End-to-end latency", "from sending a request to its last chunk",
		func(s *Summary) *Distribution { return &s.E2EL }},
	{"client_queue_time", "QUEUE", "Client-side queueing", "from when a request was due until it had a slot",
		func(s *Summary) *Distribution { return &s.Client.Queue }},
	{"e2el_including_client_queue", "QUEUE+E2EL", "Queue-inclusive end-to-end latency",
		"queue and E2EL of a request together", func(s *Summary) *Distribution { return &s.Client.QueuedE2EL }},
	{"job", "job time", "Job time", "from when a session was first due to the end of its last response", jobTime},
}

// Metrics are the Latencies that vLLM reports, in its order. Every run has them.
var Metrics = slices.DeleteFunc(slices.Clone(Latencies),
	func(l Latency) bool { return l.Name == "ttfo" || l.Name == "job" })

// LatencyNamed is the latency of that name.
func LatencyNamed(name string) (l Latency, known bool) {
	if i := slices.IndexFunc(Latencies, func(l Latency) bool { return l.Name == name }); i >= 0 {
		return Latencies[i], true
	}
	return l, false
}

// Label is the Label of the latency of that name.
func Label(latency string) string {
	l, _ := LatencyNamed(latency)
	return l.Label
}

// Latency is the distribution of that name, as ttft, or as sql/ttft for the requests to the adapter sql.
// It is nil for an unknown name, and if the run does not have it.
func (s *Summary) Latency(name string) *Distribution {
	if l, known := LatencyNamed(name); known {
		return l.Of(s)
	}
	return s.views.latency(name)
}

// FromContent is TTFT up to the first content, or TPOT from there on, by their names:
// what a user sees, if vLLM's take an empty chunk for a token. It is nil for other latencies, and
// unless it is known for 99 in 100 completed requests.
func (s *Summary) FromContent(latency string) *Distribution {
	d := s.views.latency("content_" + latency)
	if d == nil || d.Len() == 0 || d.Len()*100 < s.Latency(latency).Len()*99 {
		return nil
	}
	return d
}

// TTFO is the time to the first output that is not reasoning, of completed requests that got any. It is
// nil unless an answer of the run began with reasoning: TTFT to the first content is the same then.
func (s *Summary) TTFO() *Distribution { return s.views.latency("ttfo") }

// jobTime is the time that completed sessions took; nil without sessions.
func jobTime(s *Summary) *Distribution { return s.views.latency("job") }

// Decisive is the latency to decide by: FromContent if it is known, and then the words for its
// difference from vLLM's. Without reasoning, ttfo is TTFT to the first content; its statistics
// are NaN if that is not known.
func (s *Summary) Decisive(latency string) (d *Distribution, words string) {
	if latency == "ttfo" {
		return cmp.Or(s.TTFO(), s.FromContent("ttft"), &Distribution{Quoted: NewQuote()}), ""
	}
	d = s.Latency(latency)
	content := s.FromContent(latency)
	const rounding = 1e-6 // from rounding single values to nanoseconds
	if content == nil || math.Abs(content.Mean()-d.Mean()) <= rounding*d.Mean() {
		return d, ""
	}
	return content, map[string]string{"ttft": "to the first content", "tpot": "from the first content"}[latency]
}
