package report

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/servebench/servebench/metrics"
)

// A fact is one line of the truth section. A text of "" leaves it out.
type fact struct {
	label string
	text  func(*metrics.Summary) string
}

// facts are all that there are, in order.
var facts = []fact{
	{"Shards", shards},
	{"First requests of the shards", firstSends},
	{"Clocks of the shards", clocks},
	{"Latencies defined as by", definitions},
	{"vLLM's client counts otherwise", otherwise},
	{"Tokens in a chunk", chunkTokens},
	{"Answers against those asked for", answers},
	{"Connecting, inside TTFT", connecting},
	{"Connections opened", connections},
	{"Sent again after failures", resent},
	{"Sent anew over a new connection", sentAnew},
	{"Found in the prefix cache", prefixHits},
	{"Peak output throughput", peakTokens},
	{"Requests in flight", inFlight},
	{"Starting ramp", ramp},
	{"Request rate", pace},
	{"Slot held after the last chunk", held},
	{"Newest bytes lay unread for", socketAge},
	{"Writing records was blocked for", writeBlocked},
	{"Values beyond the percentile", samples},
}

// definitions are said of a chat alone, as those of completions never changed.
func definitions(s *metrics.Summary) string {
	d := s.Header.InForce()
	if d == "" {
		return ""
	}
	return d.String() + ", " + map[metrics.Definitions]string{
		metrics.Definitions033: "from the first output to the last",
		metrics.Definitions030: "from the first chunk, which may hold a role alone, to the last",
		metrics.Definitions029: "from the first chunk, which may hold a role alone, to the usage",
	}[d]
}

// otherwiseTexts are the reasons in words.
var otherwiseTexts = map[string]string{
	metrics.OtherwiseOutput: "all output has names that it does not know", metrics.OtherwiseLineEnd: "lines end in CR",
	metrics.OtherwiseLines: "events of several data: lines",
	metrics.OtherwiseEvent: "event: lines", metrics.OtherwiseSpace: "no space after data:", metrics.OtherwiseCut: "cut after [DONE]",
	metrics.OtherwiseUnended: "no end came", metrics.OtherwiseError: "an error came after output", metrics.OtherwiseUnfinished: "the server gave up",
}

func otherwise(s *metrics.Summary) string {
	o := s.Truth.Otherwise
	var parts, whys []string
	if n := o.Sound(); n > 0 {
		parts = append(parts, counted(n, "complete answer")+" may have failed there")
	}
	if n := o.Broken(); n > 0 {
		parts = append(parts, counted(n, "failed answer")+" would be complete there")
	}
	for _, why := range metrics.ByCount(o) {
		whys = append(whys, fmt.Sprintf("%d %s", o[why], cmp.Or(otherwiseTexts[why], why)))
	}
	if parts == nil {
		return ""
	}
	return strings.Join(parts, ", ") + ": " + strings.Join(whys, ", ")
}

func chunkTokens(s *metrics.Summary) string {
	t := s.Truth.Tokens
	switch {
	case !t.Differ():
		return ""
	case t.Bundles():
		return fmt.Sprintf("%.2f tokens in the mean; of single chunks it is not known", t.Mean())
	}
	return fmt.Sprintf("%.2f tokens in the mean, %d tokens at most", t.Mean(), t.Largest)
}

func answers(s *metrics.Summary) string {
	l := s.Truth.Lengths
	var parts []string
	if l.Short > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d short, by %s together", l.Short, l.Of, counted(l.Missing, "token")))
	}
	if l.Long > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d long, by %s together", l.Long, l.Of, counted(l.Extra, "token")))
	}
	return strings.Join(parts, "; ")
}

func connecting(s *metrics.Summary) string {
	c := s.Truth.Connecting
	if c.Requests == 0 {
		return ""
	}
	var parts []string
	for _, part := range []struct {
		name string
		took time.Duration
	}{{"DNS", c.DNS}, {"TCP", c.Connect}, {"proxy", c.Proxy}, {"TLS", c.TLS}} {
		if part.took > 0 {
			parts = append(parts, fmt.Sprintf("%s %.2f ms", part.name, milliseconds(part.took/time.Duration(c.Requests))))
		}
	}
	return fmt.Sprintf("%d of %d requests: %s", c.Requests, c.Of, strings.Join(parts, ", "))
}

func connections(s *metrics.Summary) string {
	e := s.Evidence
	switch {
	case e == nil || e.Opened == 0 && e.Warmed == 0:
		return ""
	case e.Warmed == 0:
		return fmt.Sprintf("%d during the run", e.Opened)
	}
	return fmt.Sprintf("%d during the run, %d beforehand", e.Opened, e.Warmed)
}

func resent(s *metrics.Summary) string {
	n := s.Resent
	if n.Requests == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d requests, %d times", n.Requests, s.Completed+s.Failed, n.Times)
}

func sentAnew(s *metrics.Summary) string {
	n := s.Resent.Anew
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d requests", n, s.Completed+s.Failed)
}

func prefixHits(s *metrics.Summary) string {
	hits, of := s.PrefixCache()
	if of <= 0 {
		return ""
	}
	return fmt.Sprintf("%.2f %% of the prompt tokens, %d of %d", float64(hits)/float64(of)*100, hits, of)
}

func peakTokens(s *metrics.Summary) string {
	if s.Truth.PeakTokens == 0 {
		return ""
	}
	return fmt.Sprintf("%d tokens in the busiest second", s.Truth.PeakTokens)
}

func inFlight(s *metrics.Summary) string {
	if s.Truth.PeakConcurrency == 0 {
		return ""
	}
	return fmt.Sprintf("%d at most, %.2f in the mean", s.Truth.PeakConcurrency, s.Truth.MeanConcurrency)
}

func ramp(s *metrics.Summary) string {
	r := s.Truth.Ramp
	if r.Requests == 0 {
		return ""
	}
	return fmt.Sprintf("%d sent within %.2f ms", r.Requests, milliseconds(r.Took))
}

func pace(s *metrics.Summary) string {
	p := s.Truth.Pace
	if p.Asked() == 0 || p.Achieved() == 0 {
		return ""
	}
	return fmt.Sprintf("%.2f req/s, scheduled %.2f req/s", p.Achieved(), p.Asked())
}

func held(s *metrics.Summary) string {
	h := s.Truth.Held
	if h.Mean < time.Microsecond {
		return ""
	}
	text := fmt.Sprintf("%.3f ms a request, %.2f %% of E2EL", milliseconds(h.Mean), h.Share*100)
	if h.Unread >= time.Microsecond {
		text += fmt.Sprintf("; %.3f ms of it may be late reading", milliseconds(h.Unread))
	}
	return text
}

func socketAge(s *metrics.Summary) string {
	if s.Age.Len() == 0 {
		return ""
	}
	return fmt.Sprintf("median %.3f ms, P99 %.3f ms, longest %.3f ms", s.Age.Median(), s.Age.Percentile(99), s.Age.Percentile(100))
}

// samples says how many values lie beyond the highest percentile that is
// reported, since that is the one that rests on the fewest.
func samples(s *metrics.Summary) string {
	highest := 0.0
	for _, sample := range s.TailSizes() {
		if sample.Percentile < 100 {
			highest = max(highest, sample.Percentile)
		}
	}
	var parts []string
	for _, sample := range s.TailSizes() {
		if sample.Percentile == highest && highest > 0 {
			parts = append(parts, fmt.Sprintf("%s %.1f", strings.ToUpper(short(sample.Metric)), sample.Beyond()))
		}
	}
	if parts == nil {
		return ""
	}
	return "P" + metrics.FormatPercentile(highest) + ": " + strings.Join(parts, ", ") + " values"
}

// short names a metric in few characters.
func short(metric string) string {
	switch metric {
	case "client_queue_time":
		return "queue"
	case "e2el_including_client_queue":
		return "queue+e2el"
	}
	return metric
}

// writeBlocked is for how long records waited to be written.
func writeBlocked(s *metrics.Summary) string {
	if s.Evidence == nil || s.Evidence.WriteBlocked == 0 {
		return ""
	}
	return fmt.Sprintf("%.2f s, in which requests went on", s.Evidence.WriteBlocked.Seconds())
}
