package counts

import (
	"testing"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/record"
)

const msec = time.Millisecond

// of is the aspect of a run of these requests.
func of(config metrics.Config, records ...*record.Record) *metrics.Summary {
	c := metrics.NewCollector(&metrics.Header{Config: config}, Kind)
	for _, r := range records {
		c.Add(r)
	}
	return c.Summary(1)
}

func TestWhoCountedTokens(t *testing.T) {
	for name, c := range map[string]struct {
		r         record.Record
		tokenizer string
		want      Counts
	}{
		"the server":                    {record.Record{Tokens: record.Tokens{Out: 1, OutAsked: 9}}, "", Counts{Of: 1}},
		"the tokenizer":                 {record.Record{Tokens: record.Tokens{Out: 7, OutAsked: 9, Uncounted: true}}, "gpt2", Counts{Of: 1, Tokenizer: 1}},
		"the tokenizer, one":            {record.Record{Tokens: record.Tokens{Out: 1, OutAsked: 9, Uncounted: true}}, "gpt2", Counts{Of: 1, Tokenizer: 1}},
		"a tokenizer that has no name":  {record.Record{Tokens: record.Tokens{Out: 7, OutAsked: 9, Uncounted: true}}, "", Counts{Of: 1, Tokenizer: 1}},
		"no prompt tokens":              {record.Record{Tokens: record.Tokens{Out: 1, OutAsked: 9, InAsked: 30}}, "", Counts{Of: 1, NoInput: 1, Lost: 30}},
		"nobody":                        {record.Record{Tokens: record.Tokens{Out: 1, OutAsked: 9, Uncounted: true}}, "", Counts{Of: 1, Nobody: 1}},
		"nobody, of unknown length":     {record.Record{Tokens: record.Tokens{Out: 1, Uncounted: true}}, "", Counts{Of: 1, Nobody: 1}},
		"nobody, and there is only one": {record.Record{Tokens: record.Tokens{Out: 1, OutAsked: 1, Uncounted: true}}, "", Counts{Of: 1}},
	} {
		c.r.Answer.Chunks.Append(msec)
		if got := Of(of(metrics.Config{Tokenizer: c.tokenizer}, &c.r)); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

// A server's counts that vLLM's client does not take are compared with what it takes instead.
func TestCountsThatDifferFromTheServersAreCounted(t *testing.T) {
	counted := func(ours, theirs int, each ...int) *record.Record {
		r := &record.Record{Tokens: record.Tokens{Out: ours, Uncounted: true, WithOutput: &record.Count{Out: theirs}, PerChunk: each}}
		r.Answer.Chunks.Append(msec)
		r.Answer.Chunks.Append(2 * msec)
		r.Times.Last = r.Answer.Chunks.Last()
		return r
	}
	s := of(metrics.Config{}, counted(1, 16), counted(15, 16), counted(16, 16), counted(40, 16, 20, -4), counted(2, 1))
	if n := Of(s); n.Apart != 2 || n.Ours != 41 || n.Theirs != 32 {
		t.Errorf("%+v", n)
	}
}
