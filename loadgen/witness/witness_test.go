package witness

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/loadgen/repeats"
	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect"
	"github.com/servebench/servebench/metrics/evidence"
	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/samples"
	"github.com/servebench/servebench/metrics/scrape"
)

// testified is what becomes of a run of 10 s after a warm-up on a server that
// counted so before, after, and when it was asked once more. The run sent a request of
// so many tokens.
func testified(warmUp time.Duration, sent int, before scrape.Counters, later ...scrape.Counters) *metrics.Summary {
	w := Witness{Before: []scrape.Counters{before}, requests: 1, tokens: sent}
	w.Counters = func(context.Context) []scrape.Counters {
		now := later[0]
		later = append(later[1:], now)
		return []scrape.Counters{now}
	}
	s := aspect.Collector(&metrics.Header{WarmUp: warmUp}).Summary(10)
	s.Evidence = new(evidence.Evidence)
	w.Report(context.Background(), s, w.Most(0, 1))
	return s
}

// The server counts what it does for the warm-up, too.
func TestThroughputThatTheServerCountsIsOverTheWarmUpToo(t *testing.T) {
	after := scrape.Counters{DenoisingSteps: 40, CanvasPositions: 400, CommittedTokens: 200}
	for warmUp, want := range map[time.Duration]float64{0: 20, 10 * time.Second: 10} {
		if d := testified(warmUp, 0, scrape.Counters{}, after).Printed.Diffusion; d == nil || d.CommittedThroughput != want {
			t.Errorf("after %v of warm-up %+v, want %v tokens/s", warmUp, d, want)
		}
	}
}

// cached are counters of a process that looked up and found so many tokens.
func cached(start, queries, hits float64) scrape.Counters {
	return scrape.Counters{
		PrefixQueries: int64(queries), PrefixHits: int64(hits), Drafts: int64(queries), DraftTokens: int64(queries),
		Sample: samples.Server{Start: &start, PrefixQueries: &queries, PrefixHits: &hits},
	}
}

func TestCountersOfAnotherProcessOrLoadAreNotHeldAgainstARun(t *testing.T) {
	before := cached(1, 1000, 500)
	for name, c := range map[string]struct {
		later []scrape.Counters
		mixed string
	}{
		"its own":            {[]scrape.Counters{cached(1, 1100, 503)}, ""},
		"with a template":    {[]scrape.Counters{cached(1, 1250, 503)}, ""},
		"another start":      {[]scrape.Counters{cached(2, 1100, 503)}, "it comes from processes that started at 1970-01-01T00:00:01.000000Z and at 1970-01-01T00:00:02.000000Z"},
		"another start next": {[]scrape.Counters{cached(1, 1100, 503), cached(2, 1100, 503)}, "it comes from processes that started at "},
		"back":               {[]scrape.Counters{cached(1, 100, 3)}, "its count of prompt tokens looked up in the prefix cache went back from 1000 to 100"},
		"back next":          {[]scrape.Counters{cached(1, 1100, 503), cached(1, 1099, 503)}, "its count of prompt tokens looked up in the prefix cache went back from 1100 to 1099"},
		"beyond":             {[]scrape.Counters{cached(1, 1251, 900)}, "251 prompt tokens were looked up in the prefix cache, and this run sent 100"},
	} {
		s := testified(0, 100, before, c.later...)
		e, known := s.Evidence, c.mixed == ""
		if !strings.HasPrefix(e.Server.Mixed, c.mixed) || (e.Server.Mixed == "") != known || (e.Server.PrefixQueries > 0) != known || (e.Server.PrefixHits > 0) != known || (s.Printed.SpecDecode != nil) != known {
			t.Errorf("%s: %d of %d, %+v, %q", name, e.Server.PrefixHits, e.Server.PrefixQueries, s.Printed.SpecDecode, e.Server.Mixed)
		}
		if several := !known && name != "beyond"; (e.Server.Restarted != "") != several {
			t.Errorf("%s: it restarted: %q", name, e.Server.Restarted)
		}
	}
}

// A process that began after the run did has replaced another one. Of two replicas behind a load
// balancer, both had begun before.
func TestAProcessThatBeganDuringARunIsARestart(t *testing.T) {
	for name, c := range map[string]struct {
		epoch int64
		later []scrape.Counters
		want  string
	}{
		"a restart":         {50, []scrape.Counters{cached(60, 10, 3)}, "its process began 10.0 s after the run did"},
		"two replicas":      {500, []scrape.Counters{cached(60, 10, 3)}, "it comes from processes that started at 1970-01-01T00:00:01.000000Z and at 1970-01-01T00:01:00.000000Z"},
		"a replica, second": {50, []scrape.Counters{cached(60, 10, 3), cached(1, 1100, 503)}, "it comes from processes that started at"},
		"one process":       {50, []scrape.Counters{cached(1, 1100, 503)}, ""},
	} {
		w := Witness{Before: []scrape.Counters{cached(1, 1000, 500)}, requests: 1, tokens: 100}
		later := c.later
		w.Counters = func(context.Context) []scrape.Counters {
			now := later[0]
			later = append(later[1:], now)
			return []scrape.Counters{now}
		}
		s := aspect.Collector(&metrics.Header{Epoch: time.Unix(c.epoch, 0)}).Summary(10)
		s.Evidence = new(evidence.Evidence)
		w.compare(t.Context(), s, 1000)
		if got := s.Evidence.Server.Restarted; !strings.HasPrefix(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// Times of another load divide no waterfall.
func TestTheServersTimesAreOfThisRun(t *testing.T) {
	before, after := cached(1, 1000, 500), cached(1, 1100, 503)
	before.Times.Queue, after.Times.Queue = samples.Total{Seconds: 1, Requests: 10}, samples.Total{Seconds: 3, Requests: 14}
	want := samples.Totals{Queue: samples.Total{Seconds: 2, Requests: 4}}
	if got := testified(0, 100, before, after).Evidence.Server.Times; got == nil || *got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	more := cached(1, 2000, 503)
	more.Times = after.Times
	if got := testified(0, 100, before, more).Evidence.Server.Times; got != nil {
		t.Errorf("a server under another load: %+v", got)
	}
	if got := testified(0, 100, cached(1, 1000, 500), cached(1, 1100, 503)).Evidence.Server.Times; got != nil {
		t.Errorf("a server without histograms: %+v", got)
	}
}

func TestWhatCanBeLookedUpFollowsWhatWasSent(t *testing.T) {
	w := Witness{Prompts: repeats.History{}}
	for _, rec := range []*record.Record{{Tokens: record.Tokens{In: 100}}, {Tokens: record.Tokens{In: 300}, Attempts: 3}, {Tokens: record.Tokens{In: 600}, Attempts: 1}} {
		w.Send(rec)
	}
	// 1,600 tokens in 5 requests, with a half more and 100 each.
	for beside, want := range map[int]int64{0: 2900, 5: 5800} {
		if got := w.Most(beside, 1); got != want {
			t.Errorf("%d, want %d", got, want)
		}
	}
	if got := w.Most(0, 4); got != 4*2900 {
		t.Errorf("%d of all four shards", got)
	}
}

// Each answer of a request looks up the prompt.
func TestEachAnswerLooksUpThePrompt(t *testing.T) {
	w := Witness{Answers: 2, Prompts: repeats.History{}}
	w.Send(&record.Record{Tokens: record.Tokens{In: 1000}})
	if got := w.Most(0, 1); got != 2*1600 {
		t.Errorf("%d, want 3200", got)
	}
}

// Prompts of blocks are the same if their blocks are.
func TestRepeatedPromptsOfBlocksAreCounted(t *testing.T) {
	w := Witness{Prompts: repeats.History{}}
	turn := func(tail uint64, ids ...uint64) *dataset.Conversation {
		c := &dataset.Conversation{Turns: []dataset.Turn{{Tail: dataset.Block{ID: tail, Tokens: 3}}}}
		for _, id := range ids {
			c.Turns[0].Blocks = append(c.Turns[0].Blocks, dataset.Block{ID: id, Tokens: 16})
		}
		return c
	}
	all := []*dataset.Conversation{turn(1, 7, 8), turn(1, 8, 7), turn(2, 7, 8), turn(1, 7), turn(1, 7, 8)}
	source := w.Prompts.Compare(func(yield func(*dataset.Conversation, error) bool) {
		for _, c := range all {
			if !yield(c, nil) {
				return
			}
		}
	}, false)
	index := 0
	for range source {
		w.Prompts.Send(&record.Record{Index: index})
		index++
	}
	if w.Prompts.Repeated != 1 {
		t.Errorf("%d prompts were sent again, want the last", w.Prompts.Repeated)
	}
}
