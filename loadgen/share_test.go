package loadgen

import (
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/metrics"
)

func TestLoadIsTheShardsShare(t *testing.T) {
	shard := func(p *Plan) { p.Shard = Shard{Shard: dataset.Shard{Index: 1, Of: 4}, RunID: "a"} }
	for _, row := range []struct {
		changes                         []with
		concurrency, atOnce, soon, warm int
	}{
		{[]with{slots(10)}, 3, 3, 0, 3},
		{[]with{slots(10), warmedUp(time.Second), rate(5)}, 3, 3, 2, 2},
		{[]with{slots(10), rate(5)}, 3, 3, 4, 3},
		{[]with{rate(20)}, 0, 0, 7, 7},
		{[]with{rate(0.1)}, 0, 0, 0, 1},
		{nil, 0, 101, 0, 101},
	} {
		p := plan(t, append(row.changes, prompts(402), shard)...)
		b := unreached(p, 402)
		load, err := b.load()
		if err != nil || load.Concurrency != row.concurrency || load.Shard != p.Shard.Shard {
			t.Errorf("%+v: %d at once of shard %v, %v", row, load.Concurrency, load.Shard, err)
		}
		if b.atOnce() != row.atOnce || b.warmable(row.soon) != row.warm {
			t.Errorf("%+v: %d at once, %d worth opening", row, b.atOnce(), b.warmable(row.soon))
		}
		last := 0
		for range load.Schedule {
			last++
		}
		if last != 402 {
			t.Errorf("%+v: the times are of %d requests, want those of all shards", row, last)
		}
	}
	b := unreached(plan(t, prompts(9), along(t, "steps:0=1,9=0"), shard), 9)
	b.numbers.begun = 2
	if said := b.unsent(new(metrics.Summary)); said != nil {
		t.Errorf("a shard that sent all was said to lack some: %q", said)
	}
	b.numbers.begun = 1
	if said := b.unsent(new(metrics.Summary)); len(said) != 1 || !strings.HasSuffix(said[0], "1 of Workload.NumPrompts 2 were sent") {
		t.Errorf("a shard that sent one of two: %q", said)
	}
}

func TestStreamIsOfTheWholeRunAndTheBlockOfThePart(t *testing.T) {
	behind := -2 * time.Second
	p := plan(t, prompts(50), slots(20), rate(40), func(p *Plan) {
		p.Report.Label, p.Report.Metadata = "night", []metrics.KV{{Key: "a", Value: "b"}}
		p.Shard = Shard{Shard: dataset.Shard{Index: 5, Of: 8}, RunID: "slurm-12-3", StartAt: time.Unix(1763777700, 500_000_000), ClockOffset: &behind}
	})
	b := unreached(p, 50)
	whole, part := b.streamed(), b.header
	if c := whole.Config; c.NumPrompts != 50 || c.MaxConcurrency != 20 || c.RequestRate != 40 || c.Label != "night" || len(c.Metadata) != 1 {
		t.Errorf("the run line has %+v", c)
	}
	if whole.Run != "slurm-12-3" || whole.Shard != 5 || whole.Shards != 8 || whole.Host == "" || whole.ClockOffset != -2*time.Second || whole.ClockError != 0 {
		t.Errorf("the run line is of %+v", whole)
	}
	want := b.config
	want.NumPrompts, want.MaxConcurrency, want.RequestRate, want.Label = 6, 2, 5, "night-shard5"
	want.Metadata = []metrics.KV{{Key: "a", Value: "b"}, {Key: "shard", Value: "5/8"}}
	if diff := cmp.Diff(want, part.Config); diff != "" || part.Shards != 0 {
		t.Errorf("-want +got:\n%s", diff)
	}
	if at := p.Shard.Start(); at.UnixNano() != 1763777698_500000000 {
		t.Errorf("it starts at %v by its own clock, which is 2 s behind", at)
	}
}

func TestRateWithoutEndStaysSo(t *testing.T) {
	p := plan(t, func(p *Plan) { p.Shard.Shard = dataset.Shard{Index: 5, Of: 8} })
	if c := p.Shard.Part(p.Config()); !math.IsInf(c.RequestRate, 1) || c.NumPrompts != 125 || c.MaxConcurrency != 0 || c.Label != "openai-shard5" {
		t.Errorf("%+v", c)
	}
}

func TestConnectionsAreOpenedShortlyBeforeTheStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		ahead, said := 10*time.Second, new(remarks)
		p := &Plan{Shard: Shard{StartAt: begin.Add(time.Hour).UTC(), ClockOffset: &ahead}}
		b := unreached(p, 0)
		b.observer = said
		s := &measure{targets: []*measurement{b}}
		if err := s.ready(t.Context(), []int{4000}); err != nil {
			t.Fatal(err)
		}
		if waited := time.Since(begin); waited != time.Hour+10*time.Second-warmLead {
			t.Errorf("waited for %v", waited)
		}
		if want := "ready: the load begins at 2000-01-01T01:00:10Z, in 3610.0 s\n"; said.String() != want {
			t.Errorf("said %q, want %q", said, want)
		}
		time.Sleep(time.Hour)
		said.Reset()
		if err := s.ready(t.Context(), []int{4000}); err != nil {
			t.Fatal(err)
		}
		if waited := time.Since(begin); waited != 2*time.Hour+8*time.Second || said.Len() > 0 {
			t.Errorf("a past start was waited for, until %v: %s", waited, said.String())
		}
	})
}

func TestLateStartIsSaid(t *testing.T) {
	shard := Shard{Shard: dataset.Shard{Index: 5, Of: 8}, StartAt: time.Unix(1763777700, 0)}
	for late, want := range map[time.Duration]string{
		0: "", 1234 * time.Millisecond: "shard 5 began 1.2 s after Shard.StartAt", 250 * time.Microsecond: "shard 5 began 0.2 ms after Shard.StartAt",
	} {
		if got := strings.Join(shard.Late(shard.StartAt.Add(late), nil), "; "); got != want {
			t.Errorf("%v late: %q, want %q", late, got, want)
		}
	}
}
