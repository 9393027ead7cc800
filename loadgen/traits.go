package loadgen

import (
	"encoding/json"

	"github.com/servebench/servebench/dataset/kinds"
	"github.com/servebench/servebench/metrics"
)

// traitsOf is what a report of the run needs to know of its API and of its workload.
func traitsOf(p *Plan) (t metrics.Traits) {
	s, w := &p.Sampling, &p.Workload
	if api := p.Server.API(); api != nil {
		t = api.Traits()
	}
	t.CountsLast = t.CountsLast || s.drops("stream_options")
	t.OwnLength, t.Answers = s.ownLength(), s.answers()
	t.CountsEach = s.UsageAlways || s.continuous()
	t.Rendered = w.Has(kinds.Renders) && (!w.SkipTemplate || !w.canSkipTemplate())
	t.SharedPrefixes = w.Has(kinds.SharesPrefixes) || w.Random.PrefixLen > 0 || t.Templated && s.sends(beforePrompts...)
	t.Fewer, t.Socket = w.NoOversample, p.Server.Socket != ""
	t.Piped = p.Keep.Records != nil && !p.Keep.Records.Ours()
	t.Alone = p.Repeat > 1 || p.SoloFirst || p.Pairs
	t.SessionSlots, t.Shorter = w.Sessions.SlotsFlag, w.shorter()
	return t
}

// beforePrompts are members of a body that a chat template puts before the prompt.
var beforePrompts = []string{"tools", "functions", "documents", "system", "instructions"}

// continuous reports that the body given by the user asks for the count of tokens with every chunk.
func (s *Sampling) continuous() bool {
	given, _ := s.ExtraBody.Get("stream_options")
	text, err := json.Marshal(given)
	var options struct {
		Continuous bool `json:"continuous_usage_stats"`
	}
	return err == nil && json.Unmarshal(text, &options) == nil && options.Continuous
}
