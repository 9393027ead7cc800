package loadgen

import (
	"github.com/servebench/servebench/dataset/kinds"
	"github.com/servebench/servebench/metrics"
)

// traitsOf is what a report of the run needs to know of its API and of its workload.
func traitsOf(p *Plan) (t metrics.Traits) {
	s, w := &p.Sampling, &p.Workload
	if api := p.Server.API(); api != nil {
		t = api.Traits()
	}
	t.CountsLast = t.CountsLast || s.Drops("stream_options")
	t.OwnLength, t.Answers = s.OwnLength(&p.Server), s.Answers()
	t.CountsEach = s.UsageAlways || s.Continuous()
	t.Rendered = w.Has(kinds.Renders) && (!w.SkipTemplate || !w.CanSkipTemplate())
	t.SharedPrefixes = w.Has(kinds.SharesPrefixes) || w.Random.PrefixLen > 0 || t.Templated && s.Sends(beforePrompts...)
	t.Fewer, t.Socket = w.NoOversample, p.Server.Socket != ""
	t.Piped = p.Keep.Records != nil && !p.Keep.Records.Ours()
	t.Alone = p.Repeat > 1 || p.SoloFirst || p.Pairs
	t.SessionSlots, t.Shorter = w.Sessions.SlotsFlag, w.Shorter()
	return t
}

// beforePrompts are members of a body that a chat template puts before the prompt.
var beforePrompts = []string{"tools", "functions", "documents", "system", "instructions"}
