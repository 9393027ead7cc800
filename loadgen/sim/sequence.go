package sim

import (
	"cmp"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/servebench/servebench/loadgen/sim/kvcache"
	"github.com/servebench/servebench/loadgen/sim/spans"
)

// Finish reasons, as vLLM names them.
const (
	finishLength = "length"
	finishStop   = "stop"
	finishAbort  = "abort"
)

// A sequence is a request inside the engine. Its handler reads its outlet. After submit, everything
// else belongs to the engine.
type sequence struct {
	id      string
	session string // x-session-id
	number  int64
	prompt  int        // tokens
	want    int        // output tokens it will have, unless aborted
	finish  string     // its finish reason then
	drafts  *rand.Rand // decides which draft tokens are accepted; nil without speculation
	kv      kvcache.Holding
	added   spans.Added
	found   int // prompt tokens that were in the cache when it was first admitted

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

func newSequence(cfg *Config, a *reply, r *http.Request) *sequence {
	return &sequence{
		added:   cfg.Slow,
		id:      r.Header.Get("X-Request-Id"),
		number:  a.query.number,
		session: r.Header.Get("X-Session-Id"),
		prompt:  len(a.query.prompt),
		want:    a.text.left,
		finish:  a.text.finish,
		outlet:  newOutlet(),
	}
}

// filled is how many tokens need no prefill. If that is all of them, decoding begins with the last.
func (s *sequence) filled() int { return s.prompt + s.out - s.unfilled }

// computed is how many of its tokens are in the KV cache: all that are filled, except the newest
// output token, which the next step computes.
func (s *sequence) computed() int {
	if s.unfilled > 0 {
		return s.filled()
	}
	return s.filled() - 1
}

// restart makes the engine compute a sequence from the start.
func (s *sequence) restart() {
	s.unfilled, s.chunk, s.decoding = s.prompt+s.out, 0, false
}

// before orders arrivals: by instant, then by request id (a number at its end counts as a number),
// then by size, so that requests without ids are ordered as far as they differ.
func (s *sequence) before(o *sequence) int {
	if c := s.at.arrived.Compare(o.at.arrived); c != 0 {
		return c
	}
	name, number := splitID(s.id)
	otherName, otherNumber := splitID(o.id)
	return cmp.Or(
		strings.Compare(name, otherName),
		cmp.Compare(number, otherNumber),
		cmp.Compare(s.prompt, o.prompt),
		cmp.Compare(s.want, o.want),
	)
}

const digits = "0123456789"

// splitID splits an id into a prefix and the number at its end, which is -1 if there is none. An id that
// ends in -a2 is of the second attempt at a request, and has the request's number.
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

// scheduled, firstToken and lastToken are when that happened, as the server tells it: with the time
// added. They are valid once it has happened.
func (s *sequence) scheduled() time.Time  { return s.at.admitted.Add(s.added.Queue) }
func (s *sequence) firstToken() time.Time { return s.at.first.Add(s.added.Token(0, s.want)) }
func (s *sequence) lastToken() time.Time  { return s.at.last.Add(s.added.Token(s.want-1, s.want)) }

func (s *sequence) trace(at time.Time, reason string) Trace {
	return Trace{
		ID: s.id, Session: s.session, PromptTokens: s.prompt, Found: s.found,
		Arrived: s.at.arrived, Admitted: s.at.admitted,
		Tokens: s.tokens, Finished: at, Finish: reason,
	}
}
