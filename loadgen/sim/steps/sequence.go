package steps

import (
	"cmp"
	"context"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/servebench/servebench/loadgen/sim/kvcache"
	"github.com/servebench/servebench/loadgen/sim/spans"
)

// Finish reasons, as vLLM names them.
const (
	Length = "length"
	Stop   = "stop"
	Abort  = "abort"
)

// A Trace is what the engine did for one request. On a perfect network, the client sees each chunk
// at the instant of its last token.
type Trace struct {
	ID           string // x-request-id; empty when the request had none
	Session      string // x-session-id; empty when the request had none
	PromptTokens int
	Found        int         // of these, in the prefix cache when the request was first admitted
	Arrived      time.Time   // handed to the engine
	Admitted     time.Time   // taken into the batch; zero if it never was
	Tokens       []time.Time // when each output token appeared
	Finished     time.Time   // left the engine
	Finish       string      // length, stop or abort
}

// A Request says what an engine is to do for one request.
type Request struct {
	ID      string // x-request-id; empty if it has none
	Session string // x-session-id; empty if it has none
	Number  int64  // it decides which of its tokens are held back
	Prompt  int    // tokens
	Want    int    // output tokens that it will have, unless aborted
	Finish  string // its finish reason then

	// Blocks names the whole blocks of its prompt and output; nil without sharing of prefixes.
	Blocks []uint64
	// Chance decides which draft tokens are accepted; nil without speculation.
	Chance *rand.Rand
	// Added is the time that is added to what it says about its times.
	Added spans.Added
	// Read says that somebody reads its tokens; otherwise they are not kept.
	Read bool
}

// A Sequence is a request inside an engine. Its handler may call Next until the sequence has ended, and what
// says when it did what after that. From Submit on, everything else belongs to the engine.
type Sequence struct {
	Request
	kv    kvcache.Holding
	found int // prompt tokens that were in the cache when it was first admitted

	at     instants
	outlet outlet

	unfilled int  // tokens to prefill: of the prompt and, after a preemption, of the output
	chunk    int  // of these, prefilled in the current step
	decoding bool // produces a token in the current step
	out      int  // output tokens so far
	held     int  // of these, not pushed yet
	tokens   []time.Time
}

// instants are when a sequence arrived at the engine, was taken into the batch, and had its first and its
// newest token; zero before that.
type instants struct {
	arrived, admitted, first, last time.Time
}

// NewSequence makes a sequence for Submit.
func NewSequence(r Request) *Sequence {
	s := &Sequence{Request: r, kv: kvcache.Holding{Blocks: r.Blocks}}
	if r.Read {
		s.outlet = newOutlet()
	}
	return s
}

// filled is how many tokens need no prefill. If that is all of them, decoding begins with the last.
func (s *Sequence) filled() int { return s.Prompt + s.out - s.unfilled }

// computed is how many of its tokens are in the KV cache: all that are filled, except the newest
// output token, which the next step computes.
func (s *Sequence) computed() int {
	if s.unfilled > 0 {
		return s.filled()
	}
	return s.filled() - 1
}

// restart makes the engine compute a sequence from the start.
func (s *Sequence) restart() {
	s.unfilled, s.chunk, s.decoding = s.Prompt+s.out, 0, false
}

// before orders arrivals: by instant, then by request id (a number at its end counts as a number),
// then by size, so that requests without ids are ordered as far as they differ.
func (s *Sequence) before(o *Sequence) int {
	if c := s.at.arrived.Compare(o.at.arrived); c != 0 {
		return c
	}
	name, number := splitID(s.ID)
	otherName, otherNumber := splitID(o.ID)
	return cmp.Or(
		strings.Compare(name, otherName),
		cmp.Compare(number, otherNumber),
		cmp.Compare(s.Prompt, o.Prompt),
		cmp.Compare(s.Want, o.Want),
	)
}

const digits = "0123456789"

// Number is the number at the end of a request's id; -1 if there is none. An id that ends in -a2 is of the
// second attempt at a request, and has the request's number.
func Number(id string) int64 {
	_, n := splitID(id)
	return n
}

// splitID splits an id into a prefix and the number at its end.
func splitID(id string) (string, int64) {
	name := strings.TrimRight(id, digits)
	if request, again := strings.CutSuffix(name, "-a"); again && len(name) < len(id) &&
		strings.TrimRight(request, digits) != request {
		id, name = request, strings.TrimRight(request, digits)
	}
	n, err := strconv.ParseInt(id[len(name):], 10, 64)
	if err != nil {
		return id, -1
	}
	return name, n
}

// Next waits for tokens and returns what each step made since the last call, in buf's memory, and why
// the sequence has ended, empty if it has not. It returns ctx's error.
func (s *Sequence) Next(ctx context.Context, buf []Output) (steps []Output, ended string, err error) {
	return s.outlet.next(ctx, buf)
}

// Outputs are what the steps made that nobody has read, for Settings.Over.
func (s *Sequence) Outputs() []Output {
	return append(s.outlet.ready, Output{s.held, s.at.last})
}

// Found is how many tokens of its prompt were in the cache when it was first admitted.
func (s *Sequence) Found() int { return s.found }

// Out is how many output tokens it has.
func (s *Sequence) Out() int { return s.out }

// Arrived is when it was submitted.
func (s *Sequence) Arrived() time.Time { return s.at.arrived }

// Scheduled is when it was taken into the batch. Like FirstToken and LastToken, it is as the server tells
// it, with the time added, and valid once it has happened.
func (s *Sequence) Scheduled() time.Time { return s.at.admitted.Add(s.Added.Queue) }

// FirstToken is when it had its first token.
func (s *Sequence) FirstToken() time.Time { return s.at.first.Add(s.Added.Token(0, s.Want)) }

// LastToken is when it had its last token.
func (s *Sequence) LastToken() time.Time { return s.at.last.Add(s.Added.Token(s.Want-1, s.Want)) }

func (s *Sequence) trace(at time.Time, reason string) Trace {
	return Trace{
		ID: s.ID, Session: s.Session, PromptTokens: s.Prompt, Found: s.found,
		Arrived: s.at.arrived, Admitted: s.at.admitted,
		Tokens: s.tokens, Finished: at, Finish: reason,
	}
}
