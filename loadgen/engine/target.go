package engine

import (
	"context"
	"encoding/json"
	"iter"
	"strconv"
	"time"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/metrics/record"
)

// A Request is one turn, ready to send. After it is made, only Body and Once change.
type Request struct {
	ID       string // x-request-id of the first attempt; empty sends none
	Attempt  int    // which attempt at the request this is, from 2 on; 0 for the first
	Session  string // the id of its session, for routers; empty sends none
	Body     []byte // the JSON body
	Once     bool   // it is sent once: the Sender drops Body when it cannot need it again
	KeepText bool   // keep the generated text in Record.Text in any case
	NoText   bool   // drop the text: nobody would count its tokens

	// KeepAnswer keeps what the next turn needs to go on from this answer, for Target.Answer:
	// Record.Text and Record.Calls.
	KeepAnswer bool

	Asked   json.RawMessage // goes into Record.Asked
	Adapter string          // goes into Record.Adapter
	Payload *record.Payload // goes into Record.Payload
}

// AttemptID is the x-request-id of this attempt: the request's own for the first, and ID-a2, ID-a3
// and so on for later ones. Servers and proxies log by this id, and some answer an id only once.
// Empty if the request has no id.
func (r *Request) AttemptID() string {
	if r.ID == "" || r.Attempt < 2 {
		return r.ID
	}
	return r.ID + "-a" + strconv.Itoa(r.Attempt)
}

// A Chunk is one event of a streamed answer that has choices.
type Chunk struct {
	At time.Time // when its bytes reached this machine

	// Late is how much earlier they may have arrived, because the chunk has the stamp of a later
	// one. It is 0 if the stamp is the chunk's.
	Late time.Duration

	// Text is what the chunk adds to the generated text, without reasoning and calls. It is valid
	// until the next chunk.
	Text []byte

	Content   bool // it carries text, reasoning, a call or a refusal
	Reasoning bool // of these, it carries reasoning alone

	// Blank says that vLLM's client does not count the chunk as output. Most often it is a chat's
	// role, or its end.
	Blank bool

	Tokens int // completion tokens so far, from continuous usage statistics; 0 if unknown
}

// A Sender sends one request and yields the chunks of its answer as they arrive. It fills the
// fields of rec for connection, status, finish, tokens, Last, Trailer, MaxAge, SharedReads, Server
// and Mangled, and Text if the request asks for it or the server reports no output count. Before
// the call, In is InAsked; Out stays 0 if vLLM's client finds no count. Times in rec are offsets
// from epoch. The last pair may be an error, as a *record.Failure.
type Sender func(ctx context.Context, epoch time.Time, req *Request, rec *record.Record) iter.Seq2[Chunk, error]

// A Target is a server under test, and says how to speak to it.
type Target struct {
	Name string // in Records; may be empty for a single target

	// Encode makes the request of a turn, a new one at each call. The engine calls it ahead of time, for
	// several turns at the same time. said has the answers to earlier turns, by turn, if Answer is set.
	Encode func(c *dataset.Conversation, turn int, said []json.RawMessage) (*Request, error)

	// Answer makes of a Record what the prompts of later turns have of its answer, as an assistant's
	// message. It may drop from the Record what only it needs. It is not called for sessions whose prompts
	// have no earlier answers. A nil Answer sends the recorded answers, so that prompts do not depend
	// on the server.
	Answer func(rec *record.Record) json.RawMessage

	Send Sender

	// Count returns the output tokens of a text if the server sends no count. A nil Count returns
	// 1.
	Count func(text string) int

	// CountAsks says that Count asks the server. Counts that came with an answer then take
	// precedence.
	CountAsks bool

	// Pooling says that answers are numbers for a prompt: they have no output tokens to count.
	Pooling bool

	Retry Retry // of the requests of a load
}

// A Schedule yields when each conversation is due, as an offset from the start of the run. It
// cannot see the server, so a slow server cannot slow it down. With a nil Schedule, a conversation
// starts whenever a slot is free (closed loop).
type Schedule = iter.Seq[time.Duration]

// A Load is what one target receives.
type Load struct {
	Run         string // id that goes into its Records; may be empty
	Target      Target
	Source      dataset.Source
	Schedule    Schedule
	Concurrency int           // requests in flight at most; 0 means no limit
	Sessions    int           // conversations begun and not over at most; 0 means no limit
	Delay       time.Duration // added to every due time
	Lasts       time.Duration // least duration, even if all requests end earlier

	// Breadth gives a slot to a first turn before a later turn, if both wait for one. Without it,
	// sessions that have begun go before.
	Breadth bool

	// Absolute sends a later turn when its recording did, or when what it waits for is answered,
	// whichever is later. Without it, a later turn waits for its gap.
	Absolute bool

	// Reusable, if set, returns how many tokens of a prompt a prefix cache without limit has, −1 if
	// it does not know. It is called just before each turn is sent, and is safe for concurrent use.
	// Each Record then has a Session.
	Reusable func(c *dataset.Conversation, turn int) int

	// Stop ends the load at that time: a conversation that is due then or later, or gets its slot
	// then or later, does not start. Zero means no limit.
	Stop time.Duration

	// DrainLimit is how long requests in flight may go on after the last conversation has begun,
	// later turns included. The rest are cut, with class metrics.Overdue. Zero means no limit.
	DrainLimit time.Duration

	// Ahead, if set, is called a second before a conversation is due, if that is after the start,
	// with the number of conversations that are due until then and have not started. It may open a
	// connection. Calls overlap. ctx ends when the last conversation has started.
	Ahead func(ctx context.Context, waiting int)

	WarmUp WarmUp // runs before the load
	Live   *Live  // updated during the load; may be nil

	// Shard is the part of Source, and of the warm-up's Source, to send. Each of its conversations
	// is due when the whole Schedule says. Concurrency limits the shard.
	Shard dataset.Shard
}

// A WarmUp is a load that runs before another load. It hands over without draining: its requests in
// flight go on, in their slots. Its Records have the phase metrics.WarmUp. Due times, Lasts and
// Stop of the load count from the end of the warm-up.
type WarmUp struct {
	Lasts    time.Duration // from Delay on; 0 means no warm-up
	Source   dataset.Source
	Schedule Schedule
}

// A stage of a load is its warm-up or its measured part.
type stage struct {
	source   dataset.Source
	schedule Schedule
	shard    dataset.Shard
	phase    record.Phase
	from     time.Duration // of the run: due times count from here
	stop     time.Duration // of the run: when sending ends; 0 means no limit
	lasts    time.Duration // least duration of the stage
}

// stages are the load's stages, one after the other.
func (l *Load) stages() []stage {
	var all []stage
	main := stage{source: l.Source, schedule: l.Schedule, shard: l.Shard, phase: record.Main, from: l.Delay,
		lasts: l.Lasts}
	if w := l.WarmUp; w.Lasts > 0 {
		main.from += w.Lasts
		all = append(all, stage{source: w.Source, schedule: w.Schedule, shard: l.Shard, phase: record.WarmUp, from: l.Delay,
			stop: main.from})
	}
	if l.Stop > 0 {
		main.stop, main.lasts = main.from+l.Stop, min(l.Lasts, l.Stop)
	}
	return append(all, main)
}

// over reports whether the stage sends nothing at that instant of the run or later.
func (p *stage) over(at time.Duration) bool { return p.stop > 0 && at >= p.stop }
