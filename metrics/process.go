package metrics

import (
	"cmp"
	"fmt"
	"strings"
	"time"
)

// Contradicts says why it cannot be one process that said s and, after that, later:
// it restarted, or there are several replicas behind one URL. It is "" where it may
// be one.
func (s *ServerSample) Contradicts(later *ServerSample) string {
	if s.Start != nil && later.Start != nil && *s.Start != *later.Start {
		return fmt.Sprintf("it comes from processes that started at %s and at %s", instant(*s.Start), instant(*later.Start))
	}
	for _, c := range []struct {
		name          string
		before, after *float64
	}{
		{"prompt tokens looked up in the prefix cache", s.PrefixQueries, later.PrefixQueries},
		{"prompt tokens found in the prefix cache", s.PrefixHits, later.PrefixHits},
		{"tokens generated", s.Generated, later.Generated},
		{"preemptions", s.Preemptions, later.Preemptions},
	} {
		if c.before != nil && c.after != nil && *c.after < *c.before {
			return fmt.Sprintf("its count of %s went back from %.0f to %.0f", c.name, *c.before, *c.after)
		}
	}
	return ""
}

// instant is a time in seconds of Unix time, as a text.
func instant(seconds float64) string {
	return time.UnixMilli(int64(seconds * 1000)).UTC().Format("2006-01-02T15:04:05.000Z")
}

// processes follow what was said at each URL. The zero value is ready.
type processes struct {
	last map[string]*ServerSample // by Sample.From; of counters the last that were told, nil where nothing was
}

// add takes a sample, those of one URL in order, and says why it cannot be of the
// process that the one before was of; "" where it may be.
func (p *processes) add(s *Sample) string {
	if s.Server == nil && s.From == "" {
		return "" // it is of GPUs, or there is nothing
	}
	if p.last == nil {
		p.last = map[string]*ServerSample{}
	}
	before := p.last[s.From]
	switch {
	case s.Server == nil:
		p.last[s.From] = before
		return ""
	case before == nil:
		p.last[s.From] = s.Server
		return ""
	}
	p.last[s.From] = &ServerSample{
		Preemptions:   cmp.Or(s.Server.Preemptions, before.Preemptions),
		PrefixQueries: cmp.Or(s.Server.PrefixQueries, before.PrefixQueries),
		PrefixHits:    cmp.Or(s.Server.PrefixHits, before.PrefixHits),
		Generated:     cmp.Or(s.Server.Generated, before.Generated),
		Start:         cmp.Or(s.Server.Start, before.Start),
	}
	why := before.Contradicts(s.Server)
	if why != "" && s.From != "" {
		why = "at " + s.From + " " + why
	}
	return why
}

// started is when the process started whose text of metrics has such series, in
// seconds of Unix time: as it says, or, from Prometheus' Python client, when its
// first counter was made. It is nil where nothing says so.
func (t totals) started() *float64 {
	if said := t.first("process_start_time_seconds"); said != nil {
		return said
	}
	var first *float64
	for name, series := range t {
		if strings.HasSuffix(name, "_created") && (first == nil || series.least < *first) {
			first = new(series.least)
		}
	}
	return first
}

// generated are the names under which servers count output tokens.
var generated = []string{"vllm:generation_tokens_total", "sglang:generation_tokens_total", "llamacpp:tokens_predicted_total"}

// Plus is what c and other count together.
func (c Counters) Plus(other Counters) Counters {
	sum := Counters{
		Drafts: c.Drafts + other.Drafts, DraftTokens: c.DraftTokens + other.DraftTokens, AcceptedTokens: c.AcceptedTokens + other.AcceptedTokens,
		AcceptedAt:     map[int]int64{},
		DenoisingSteps: c.DenoisingSteps + other.DenoisingSteps, CanvasPositions: c.CanvasPositions + other.CanvasPositions,
		CommittedTokens: c.CommittedTokens + other.CommittedTokens,
		PrefixQueries:   c.PrefixQueries + other.PrefixQueries, PrefixHits: c.PrefixHits + other.PrefixHits,
	}
	for _, counts := range []map[int]int64{c.AcceptedAt, other.AcceptedAt} {
		for at, n := range counts {
			sum.AcceptedAt[at] += n
		}
	}
	return sum
}

// mixed says why the server's /metrics are not of one process under this load alone;
// "" where they may be.
func (s *Summary) mixed() string {
	if s.Evidence != nil && s.Evidence.Mixed != "" {
		return s.Evidence.Mixed
	}
	return s.Mixed
}

// noteMixed says why nothing rests on what the server's /metrics count.
func (j *judge) noteMixed() string {
	why := j.mixed()
	if why == "" {
		return ""
	}
	return "the server's /metrics is not that of one process under this load alone: " + why + ". Nothing that it says is used. " +
		"Behind a load balancer or router, name each replica: --server-metrics http://REPLICA1:8000,http://REPLICA2:8000"
}
