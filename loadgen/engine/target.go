package engine

import (
	"context"
	"iter"
	"time"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/metrics"
)

// A Request is one turn, ready to be sent. It is read-only once made.
type Request struct {
	ID       string // x-request-id; empty sends none
	Body     []byte // the JSON body
	KeepText bool   // the generated text is wanted in Record.Text whatever happens
}

// A Chunk is one event of a streamed answer that has choices.
type Chunk struct {
	At time.Time // when its bytes reached this machine

	// Text is what the chunk adds to the generated text, which has neither reasoning
	// nor calls. It is valid until the next chunk.
	Text []byte

	Content bool // it carries text, reasoning, a call or a refusal

	// Blank says that vLLM's client does not take the chunk for output. Most often it
	// is a chat's role, or its end.
	Blank bool

	Tokens int // completion tokens so far, from continuous usage statistics; 0 when unknown
}

// A Sender sends one request and yields the chunks of its answer as they
// arrive. It fills rec's connection, status, finish, token, Last, Trailer, MaxAge,
// SharedReads, Server and Mangled fields, and Text when the request asks for it or the
// server reports no output count. In is InAsked before; Out stays 0 where vLLM's client
// finds no count. Times go into rec as offsets from epoch. The last pair
// it yields may be an error, as a *metrics.Failure; nothing follows it.
type Sender func(ctx context.Context, epoch time.Time, req *Request, rec *metrics.Record) iter.Seq2[Chunk, error]

// A Target is a server under test and how to speak to it.
type Target struct {
	Name string // in Records; may be empty when there is one

	// Encode makes the body of a turn. The engine calls it ahead of time.
	Encode func(c *dataset.Conversation, turn int) (*Request, error)

	Send Sender

	// Count gives the output tokens of a text when the server gives no count. A nil
	// Count gives 1.
	Count func(text string) int

	// CountAsks says that Count asks the server. The counts that came beside an answer
	// then go first.
	CountAsks bool

	Retry Retry // of the requests of a load
}

// A Schedule yields when each conversation is due, as an offset from the start
// of the run. It cannot see the server, so a slow server cannot slow it down. A
// nil Schedule starts a conversation whenever a slot is free (closed loop).
type Schedule = iter.Seq[time.Duration]

// A Load is what one target is put under.
type Load struct {
	Run         string // id that goes into its Records; may be empty
	Target      Target
	Source      dataset.Source
	Schedule    Schedule
	Concurrency int           // requests in flight at most; 0 means no limit
	Delay       time.Duration // added to every due time
	Lasts       time.Duration // how long it lasts at least, even if all requests end before

	// Stop ends the load at that time: no conversation starts that is due then or
	// later, or gets its slot then. Zero means no limit.
	Stop time.Duration

	// DrainLimit is how long requests in flight may go on once the last conversation
	// has begun, later turns included. Those that have not ended then are cut, with
	// class metrics.Overdue. Zero means no limit.
	DrainLimit time.Duration

	WarmUp WarmUp // what comes before
	Live   *Live  // kept up to date while the load goes on; may be nil

	// Shard is the part of Source, and of the warm-up's, that is sent. Each of its
	// conversations is due when the whole Schedule says. Concurrency limits the shard.
	Shard dataset.Shard
}

// A WarmUp is a load that goes before another one and hands over to it without
// draining: what it has in flight then goes on, in its slots. Its Records have the
// phase metrics.WarmUp. Due times, Lasts and Stop of the load count from its end.
type WarmUp struct {
	Lasts    time.Duration // from Delay on; 0 means no warm-up
	Source   dataset.Source
	Schedule Schedule
}

// A part is what a load consists of: its warm-up, or what is measured.
type part struct {
	source   dataset.Source
	schedule Schedule
	shard    dataset.Shard
	phase    metrics.Phase
	from     time.Duration // of the run: due times count from then
	stop     time.Duration // of the run: when sending ends; 0 means no limit
	lasts    time.Duration // from its beginning, at least
}

// parts are the load's, one after the other.
func (l *Load) parts() []part {
	var parts []part
	main := part{source: l.Source, schedule: l.Schedule, shard: l.Shard, phase: metrics.Main, from: l.Delay, lasts: l.Lasts}
	if w := l.WarmUp; w.Lasts > 0 {
		main.from += w.Lasts
		parts = append(parts, part{source: w.Source, schedule: w.Schedule, shard: l.Shard, phase: metrics.WarmUp, from: l.Delay, stop: main.from})
	}
	if l.Stop > 0 {
		main.stop, main.lasts = main.from+l.Stop, min(l.Lasts, l.Stop)
	}
	return append(parts, main)
}

// over says whether an instant of the run is past what the part sends.
func (p *part) over(at time.Duration) bool { return p.stop > 0 && at >= p.stop }
