package prompts

import (
	"testing"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/record"
)

const msec = time.Millisecond

// runOf is the aspect of a run of these requests.
func runOf(config metrics.Config, records ...*record.Record) *metrics.Summary {
	c := metrics.NewCollector(&metrics.Header{Config: config}, Kind)
	for _, r := range records {
		c.Add(r)
	}
	return c.Summary(1)
}

func TestPromptsAreComparedWithTheDataset(t *testing.T) {
	read := func(in, asked int, set ...func(*record.Record)) *record.Record {
		r := &record.Record{Tokens: record.Tokens{In: in, InAsked: asked, Out: 1}}
		r.Answer.Chunks.Append(msec)
		for _, f := range set {
			f(r)
		}
		return r
	}
	for _, c := range []struct {
		name   string
		record *record.Record
		want   Prompts
	}{
		{"as asked", read(100, 100), Prompts{Of: 1}},
		{"with a special token", read(5, 4), Prompts{Of: 1}},
		{"encoded again", read(91, 100), Prompts{Of: 1}},
		{"cut", read(89, 100), Prompts{Of: 1, Shorter: 1, Asked: 100, Read: 89}},
		{"cut at a window", read(2048, 8000), Prompts{Of: 1, Shorter: 1, Asked: 8000, Read: 2048}},
		{"with a template", read(150, 100), Prompts{Of: 1, Longer: 1, Asked: 100, Read: 150}},
		{"five times", read(500, 100), Prompts{Of: 1, Longer: 1, Beyond: 1, Asked: 100, Read: 500}},
		{"five times a short one", read(20, 4), Prompts{Of: 1, Longer: 1, Asked: 4, Read: 20}},
		{"not counted", read(0, 100), Prompts{}},
		{"of unknown length", read(100, 0), Prompts{}},
		{"of a dataset that cannot count", read(100, 1), Prompts{}},
		{"a later turn", read(500, 100, func(r *record.Record) { r.Turn = 1 }), Prompts{}},
		{"with a picture", read(500, 100, func(r *record.Record) { r.Payload = &record.Payload{Images: 1} }), Prompts{}},
		{"of a body that is counted", read(500, 100, func(r *record.Record) { r.Payload = &record.Payload{Bytes: 99} }), Prompts{Of: 1, Longer: 1, Beyond: 1, Asked: 100, Read: 500}},
		{"of many inputs", read(132, 100, func(r *record.Record) { r.Payload = &record.Payload{Inputs: 4} }), Prompts{Of: 1}},
		{"failed", read(5, 100, func(r *record.Record) { r.Result.Class = record.Reset }), Prompts{}},
	} {
		got := *of(runOf(metrics.Config{}, c.record))
		if apart := c.record.Tokens.In - c.record.Tokens.InAsked; c.want.Of > 0 {
			c.want.Least, c.want.Most = apart, apart
		}
		if got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
	both := *of(runOf(metrics.Config{}, read(5, 100), read(2000, 100)))
	if want := (Prompts{Of: 2, Shorter: 1, Longer: 1, Beyond: 1, Asked: 200, Read: 2005, Least: -95, Most: 1900}); both != want {
		t.Errorf("together %+v, want %+v", both, want)
	}
}
