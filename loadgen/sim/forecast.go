package sim

import (
	"time"

	"github.com/servebench/servebench/loadgen/sim/kvcache"
	"github.com/servebench/servebench/loadgen/sim/speed"
	"github.com/servebench/servebench/loadgen/sim/steps"
)

// A Forecast is what a dry run comes to.
type Forecast struct {
	Servers            int // that there were
	Sessions, Requests int // that were begun, and that have ended
	Refused            int // requests that are too long for the model
	Unsent             int // turns of the sessions that these ended
	Prompt, Found, Out int // tokens of the requests; see Dried
	Preempted          int // times that a request lost its blocks to another

	// Length is the time from the first due request to the last end. Busy is the share of it that a
	// server spent in steps, on average.
	Length time.Duration
	Busy   float64

	// Offered is the time from the first due request to the last one, if every answer came at once.
	Offered time.Duration

	// Needs is how many such servers keep up with the requests: the work that comes in a second,
	// over the work that a server does in a second when it always has enough of it. With fewer, the
	// queue grows as long as the load lasts. With more, it ends, though peaks may wait.
	//
	// The work is the time of the steps that all the requests of this run need in the best case. A
	// step has B decoding requests, an equal part of the prompt tokens that were not found in the
	// cache, and the mean contexts. There are as many steps as the output tokens need at B a step,
	// or as all tokens need within Limits.NumBatchedTokens if that is more. B is the number from 1 to
	// Limits.NumSeqs with which the work is least, of those whose mean contexts the KV cache holds. The
	// time that the work comes in is Offered. Needs is 0 if that is 0, as without times in the
	// source.
	//
	// The cache hits are this run's. If Needs is above Servers, a run with more servers has
	// other hits: while a session waits in a long queue, its prefix may be forgotten. See Enough.
	Needs float64

	busy       time.Duration // steps of all servers
	total      speed.Batch   // of all their steps
	turns      int           // of the sessions begun
	first, end time.Duration
}

// offer counts a session that begins.
func (f *Forecast) offer(s *drySession, absolute bool) {
	if f.Sessions == 0 {
		f.first = s.due
	}
	f.Sessions++
	f.turns += len(s.Turns)
	ends := make([]time.Duration, len(s.Turns)) // if every answer came at once
	for i := range s.Turns {
		ready := s.due
		for _, w := range s.WaitsOf(i) {
			ready = max(ready, ends[w.Turn])
		}
		ends[i] = s.dueOf(i, ready, absolute)
		f.Offered = max(f.Offered, ends[i]-f.first)
	}
	if s.Due == nil {
		f.Offered = 0
	}
}

// add counts a request that has ended.
func (f *Forecast) add(r *pending) {
	f.Requests++
	f.end = max(f.end, r.End)
	if r.Refused {
		f.Refused++
		return
	}
	f.Prompt += r.Prompt
	f.Found += r.Found
	f.Out += r.Out
}

// work counts a step.
func (f *Forecast) work(b speed.Batch, took time.Duration) {
	f.busy += took
	f.total.Add(b)
}

func (f *Forecast) finish(d *dry) {
	f.Unsent = f.turns - f.Requests
	for _, r := range d.replicas {
		f.Preempted += r.Preemptions()
	}
	if f.Length = f.end - f.first; f.Length > 0 {
		f.Busy = f.busy.Seconds() / f.Length.Seconds() / float64(d.bounds.Servers)
	}
	if f.Offered > 0 {
		f.Needs = f.least(&d.cfg) / float64(f.Offered)
	}
}

// least is the time in nanoseconds that one server needs for all steps at the best batch.
func (f *Forecast) least(cfg *Config) float64 {
	most := cfg.Limits.NumSeqs
	if tokens := cfg.Cache.Blocks * kvcache.BlockSize; tokens > 0 && f.total.Context > 0 {
		most = max(1, min(most, int(float64(tokens)*f.total.Decoding/f.total.Context)))
	}
	best := f.with(1, cfg)
	for batch := 2; batch <= most; batch++ {
		best = min(best, f.with(batch, cfg))
	}
	return best
}

// with is the time in nanoseconds of all steps if n requests decode in a step.
func (f *Forecast) with(n int, cfg *Config) float64 {
	t, budget := f.total, float64(cfg.Limits.NumBatchedTokens)
	decoding := t.Decoding / float64(n)
	if cfg.Profile.PrefillFirst {
		prompts := t.Prompt / budget
		return f.steps(prompts, speed.Batch{Prompt: t.Prompt, Attended: t.Attended}, cfg.Profile) +
			f.steps(decoding, speed.Batch{Decoding: t.Decoding, Context: t.Context, Far: t.Far}, cfg.Profile)
	}
	return f.steps(max(decoding, (t.Prompt+t.Decoding*float64(1+cfg.Speculative.Tokens))/budget), t, cfg.Profile)
}

// steps is the time in nanoseconds of n steps that share work equally.
func (f *Forecast) steps(n float64, work speed.Batch, p *speed.Profile) float64 {
	if n == 0 {
		return 0
	}
	return n * p.Mean(work.Split(n))
}

// An agendaEvent is what a dry run does at an instant: a sequence arrives at a replica, a request is
// due, a replica's step ends or is composed, or there may be room for more.
type agendaEvent struct {
	at      time.Duration
	order   int // in which they were planned, to break ties
	of      *dry
	replica *replica
	seq     *steps.Sequence
	request *pending
	ends    bool
}

// An agenda is a heap of events, the next one first.
type agenda struct {
	list    []agendaEvent
	planned int
}

func (a *agenda) before(i, j int) bool {
	x, y := &a.list[i], &a.list[j]
	return x.at < y.at || x.at == y.at && x.order < y.order
}

func (a *agenda) push(h agendaEvent) {
	a.planned++
	h.order = a.planned
	a.list = append(a.list, h)
	for i := len(a.list) - 1; i > 0; {
		parent := (i - 1) / 2
		if !a.before(i, parent) {
			break
		}
		a.list[i], a.list[parent] = a.list[parent], a.list[i]
		i = parent
	}
}

func (a *agenda) pop() agendaEvent {
	h := a.list[0]
	last := len(a.list) - 1
	a.list[0] = a.list[last]
	a.list[last] = agendaEvent{}
	a.list = a.list[:last]
	for i := 0; ; {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < last; child++ {
			if a.before(child, least) {
				least = child
			}
		}
		if least == i {
			return h
		}
		a.list[i], a.list[least] = a.list[least], a.list[i]
		i = least
	}
}
