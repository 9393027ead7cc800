package lengths

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

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

// answered is a completed request of so many tokens, of which so many were asked for.
func answered(out, asked int, finish string) *record.Record {
	return &record.Record{Tokens: record.Tokens{Out: out, OutAsked: asked}, Answer: record.Answer{Finish: finish}}
}

// uncounted is a completed request whose tokens the server did not count, in so many chunks.
func uncounted(out, chunks, asked int) *record.Record {
	r := &record.Record{Tokens: record.Tokens{Out: out, OutAsked: asked, Uncounted: true}, Answer: record.Answer{Finish: "length"}}
	for i := range chunks {
		r.Answer.Chunks.Append(time.Duration(i+1) * msec)
	}
	return r
}

func TestAnswersAreComparedWithWhatWasAskedFor(t *testing.T) {
	records := []*record.Record{
		answered(128, 128, "length"), answered(100, 128, "stop"), answered(1, 9, "stop"), answered(5, 9, "length"), answered(5, 9, ""),
		answered(130, 128, "length"), answered(12, 9, "stop"),
		answered(7, 0, "stop"), // of a dataset that asks for no length
		{Tokens: record.Tokens{Out: 3, OutAsked: 9, Uncounted: true}, Answer: record.Answer{Finish: "stop"}},
		uncounted(50, 50, 16), // 48 chunks may carry tokens
		uncounted(50, 12, 16), // which is another tokenizer than the server's
		uncounted(1, 50, 16),  // nobody counted them, and chunks may be empty
		uncounted(17, 18, 16), // with a role and a finish reason
		{Tokens: record.Tokens{Out: 8, OutAsked: 9}, Answer: record.Answer{Finish: "length"}},                 // a token less is no cut
		{Tokens: record.Tokens{Out: 5, OutAsked: 9, OutReasoned: 2}, Answer: record.Answer{Finish: "length"}}, // its reasoning may not count
		{Tokens: record.Tokens{OutAsked: 9}, Answer: record.Answer{Finish: "error"}, Result: record.Result{Class: record.Unfinished}},
		{Tokens: record.Tokens{Out: 3, OutAsked: 9}, Answer: record.Answer{Finish: "stop"}, Phase: record.WarmUp},
	}
	want := Lengths{
		Of: 10, Short: 6, Missing: 28 + 8 + 4 + 4 + 1 + 4, Long: 3, Extra: 2 + 3 + 32, Cut: 1, CutBy: 4, Unsure: 4, Over: 1,
		Reasons: map[string]int{"stop": 2, "length": 3, "none": 1},
	}
	if diff := cmp.Diff(want, of(runOf(metrics.Config{IgnoreEOS: true}, records...))); diff != "" {
		t.Errorf("lengths\n%s", diff)
	}
	want = Lengths{Of: 10, Long: 3, Extra: 2 + 3 + 32, Cut: 1, CutBy: 4, Unsure: 4, Over: 1}
	if diff := cmp.Diff(want, of(runOf(metrics.Config{}, records...))); diff != "" {
		t.Errorf("without ignore_eos\n%s", diff)
	}
}

// More than was asked for is wrong with any flags, fewer where ignore_eos was sent.
func TestLengthsAgainstWhatWasAskedFor(t *testing.T) {
	both := Lengths{Of: 9, Short: 2, Missing: 5, Long: 3, Extra: 7, Reasons: map[string]int{"stop": 2}}
	for _, c := range []struct {
		config      metrics.Config
		short, long int
	}{
		{metrics.Config{IgnoreEOS: true}, 2, 3},
		{metrics.Config{}, 0, 3},
		{metrics.Config{Traits: metrics.Traits{OwnLength: true}}, 0, 0},
	} {
		if got := both.against(&c.config); got.Short != c.short || got.Long != c.long || (got.Reasons == nil) != (c.short == 0) {
			t.Errorf("%+v: %+v", c.config, got)
		}
	}
}
