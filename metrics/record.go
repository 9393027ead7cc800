package metrics

import (
	"iter"
	"time"
)

// A Phase says which part of a run a request belongs to.
type Phase string

const (
	Main   Phase = ""        // measured
	WarmUp Phase = "warm-up" // sent before the measured part
	Drain  Phase = "drain"   // still running when the run was asked to stop
)

// A Class names the way in which a request failed. The zero value is success.
type Class string

const (
	OK             Class = ""
	DNS            Class = "dns"             // the server's name was not to be resolved
	Refused        Class = "refused"         // nobody listens at its address
	TLS            Class = "tls"             // the handshake failed, or the certificate is not to be trusted
	Connect        Class = "connect"         // no connection for another reason: unreachable, a proxy, no descriptor
	ConnectTimeout Class = "connect-timeout" // no connection within the limit set
	FirstByte      Class = "first-byte"      // no first byte of the answer within the limit set
	Stall          Class = "stall"           // the reply stood still for longer than the limit set
	Timeout        Class = "timeout"         // not finished within the limit set for one request
	Overdue        Class = "overdue"         // not finished within the limit set for what is in flight after the last send
	Deadline       Class = "deadline"        // in flight when the time set for the whole run was over
	Status         Class = "status"          // an HTTP status other than 200
	InStream       Class = "in-stream"       // an error object inside a 200 stream
	Unfinished     Class = "unfinished"      // the server itself says that it did not finish: a finish reason of error or abort
	Reset          Class = "reset"           // the connection was reset
	Truncated      Class = "truncated"       // the stream ended in the middle
	Empty          Class = "empty"           // 200, but no chunk at all
	Malformed      Class = "malformed"       // a reply, or a request, that is not what the protocol allows
	Cancelled      Class = "cancelled"       // cut by us when the run was stopped
)

// Classes are all ways to fail, in the order in which they can strike a request.
var Classes = []Class{
	DNS, Refused, TLS, Connect, ConnectTimeout, FirstByte, Stall, Timeout, Overdue, Deadline,
	Status, InStream, Unfinished, Reset, Truncated, Empty, Malformed, Cancelled,
}

// Cut says that the load generator cut the request because the run was over:
// whether the server would have answered it is not known.
func (c Class) Cut() bool { return c == Cancelled || c == Deadline }

// A Record is what one request did. All times are offsets from the start of
// the run; zero in Wrote, FirstByte, FirstContent and Last means "never". A
// Record is owned by whoever received it; nothing changes it afterwards.
type Record struct {
	Run      string `json:"-"`                  // id of the run, the same in every line of its stream
	Target   string `json:"target,omitempty"`   // name of the target, empty when there is only one
	ID       string `json:"id,omitempty"`       // x-request-id as sent, empty when none was
	Index    int    `json:"i"`                  // position in the dataset
	Turn     int    `json:"turn,omitempty"`     // position in the conversation
	Attempts int    `json:"attempts,omitempty"` // times the request was sent; above 1 tries to connect count, too, and what follows is of the last, but for Sent
	Anew     int    `json:"anew,omitempty"`     // of those, sendings over a new connection because the used one had died before a byte of the answer; not retries
	Phase    Phase  `json:"phase,omitempty"`

	Due          time.Duration `json:"due,omitempty"`           // when the schedule wanted it sent
	Slot         time.Duration `json:"slot,omitempty"`          // when it held a concurrency slot
	Sent         time.Duration `json:"sent,omitempty"`          // just before it was handed to the HTTP client
	Wrote        time.Duration `json:"wrote,omitempty"`         // when the write of its last byte returned; on HTTP/2, and where no reply came, when that was handed to be written
	FirstByte    time.Duration `json:"first_byte,omitempty"`    // when the reply's first byte came
	FirstContent time.Duration `json:"first_content,omitempty"` // arrival of the first chunk that carries text, reasoning, a call or a refusal
	Last         time.Duration `json:"last,omitempty"`          // arrival of the last of Chunks
	Trailer      time.Duration `json:"trailer,omitempty"`       // arrival of the last event of a chat without choices, as that with the usage
	End          time.Duration `json:"end,omitempty"`           // when the reply was read to its end, or failed
	Chunks       Stamps        `json:"chunks,omitzero"`         // arrival of each chunk that vLLM's client takes for output
	Blank        Stamps        `json:"blank,omitzero"`          // arrival of each other chunk with choices: a chat's role, its end

	Conn        Conn          `json:"conn,omitzero"`
	MaxAge      time.Duration `json:"max_age,omitempty"`      // longest time that a chunk's bytes may have lain unread: no stamp is later than its arrival, with the line ends and the framing behind it, by more; 0 where the connection gives no kernel stamps
	SharedReads int           `json:"shared_reads,omitempty"` // chunks with content that came in one read with an earlier chunk with content

	In       int `json:"in,omitempty"`        // prompt tokens: the server's count when it gave one, else InAsked
	InAsked  int `json:"in_asked,omitempty"`  // prompt tokens by the dataset's count
	Cached   int `json:"cached,omitempty"`    // prompt tokens that the server had in its prefix cache, as its usage says; 0 where it does not
	Out      int `json:"out,omitempty"`       // output tokens: the server's count where vLLM's client looks for it, else the tokenizer's, else that of Beside, else 1
	OutAsked int `json:"out_asked,omitempty"` // output tokens asked for

	Uncounted bool    `json:"uncounted,omitempty"`  // Out is not the server's count
	Beside    *Tokens `json:"beside,omitempty"`     // the server's counts that came with output, where vLLM's client does not look; nil where it gave others
	Until032  *Tokens `json:"until_0_32,omitempty"` // what releases up to 0.32.0 count; nil where that is the same
	Otherwise string  `json:"otherwise,omitempty"`  // why vLLM's client fails this answer, or takes it for complete where it failed here: Otherwise…; empty where it does neither

	// TokensPerChunk holds the tokens of each chunk, from continuous usage
	// statistics. It is nil when the server gave none or each chunk held one.
	TokensPerChunk []int `json:"tokens_per_chunk,omitempty"`

	Server *ServerTimes `json:"server,omitempty"` // what the server says of its own times; nil where it says nothing

	Finish string `json:"finish,omitempty"` // finish reason as the server gave it
	Status int    `json:"status,omitempty"` // HTTP status, 0 when no reply came
	Class  Class  `json:"class,omitempty"`
	Error  string `json:"error,omitempty"` // the server's own message where there is one
	Text   string `json:"text,omitempty"`  // generated text, where it was asked to be kept
}

// Conn says how the request got its connection. Its times follow one another;
// through a proxy they are together what opening the connection took.
type Conn struct {
	New     bool          `json:"new,omitempty"` // opened for this request
	DNS     time.Duration `json:"dns,omitempty"`
	Connect time.Duration `json:"connect,omitempty"`
	Proxy   time.Duration `json:"proxy,omitempty"` // until the proxy had opened the way to the server; 0 without one, and on HTTP/2, where it is not known
	TLS     time.Duration `json:"tls,omitempty"`   // with the proxy, too, where that is spoken to over TLS
}

// Tokens are counts of one request.
type Tokens struct {
	In  int `json:"in"`  // prompt tokens
	Out int `json:"out"` // output tokens
}

// TTFT is the time to first token as vLLM's client defines it since 0.33.0:
// arrival of the first of Chunks, less Sent. On completions any chunk with choices
// is one of them, whatever it carries. Connecting is inside. It is 0 for a request
// without chunks.
func (r *Record) TTFT() time.Duration {
	if r.Chunks.Len() == 0 {
		return 0
	}
	return r.Chunks.First() - r.Sent
}

// TPOT is the time per output token after the first,
// (E2EL − TTFT) / (Out − 1), as vLLM's client defines it. It is 0 when
// there is no second token.
func (r *Record) TPOT() time.Duration {
	if r.Out < 2 || r.Chunks.Len() == 0 {
		return 0
	}
	return (r.E2EL() - r.TTFT()) / time.Duration(r.Out-1)
}

// E2EL is the end-to-end latency as vLLM's client defines it since 0.30.0: Last
// less Sent. Usage that comes later is not waited for. It is 0 for a failed
// request.
func (r *Record) E2EL() time.Duration {
	if r.Class != OK || r.Last == 0 {
		return 0
	}
	return r.Last - r.Sent
}

// Queue is the time spent waiting for a free concurrency slot.
func (r *Record) Queue() time.Duration { return r.Slot - r.Due }

// Lag is how late the load generator itself was: Sent less the later of Due
// and Slot.
func (r *Record) Lag() time.Duration { return r.Sent - max(r.Due, r.Slot) }

// Shift moves all times of r by d, from one run's clock to another's.
func (r *Record) Shift(d time.Duration) {
	for _, at := range []*time.Duration{&r.Due, &r.Slot, &r.Sent} {
		*at += d
	}
	for _, at := range []*time.Duration{&r.Wrote, &r.FirstByte, &r.FirstContent, &r.Last, &r.Trailer, &r.End} {
		if *at != 0 {
			*at += d
		}
	}
	r.Chunks.shift(d)
	r.Blank.shift(d)
}

// final is when the last event came that was noticed.
func (r *Record) final() time.Duration { return max(r.Last, r.Blank.last, r.Trailer) }

// ServerTimes are what a server says of one request in the "metrics" object of its
// answer: vLLM does with --enable-per-request-metrics. They are milliseconds, exactly
// as the server wrote them. A nil field is a time that it did not give.
type ServerTimes struct {
	QueueMS *float64 `json:"queue_ms,omitempty"` // in the engine's queue, until it was scheduled
	TTFTMS  *float64 `json:"ttft_ms,omitempty"`  // from then until the first token, so without queueing and front end
}

// LatencyNames are those that Latencies yields.
var LatencyNames = []string{"ttft", "tpot", "itl", "e2el", "queue", "lag"}

// Latencies yields the values of r that count in the Distributions of a Summary,
// with their names: those of a request that completed, its inter-token latencies
// one by one, and how late it was sent, completed or not. A warm-up's request has none,
// and one whose answer came before it was sent has its lag alone.
func (r *Record) Latencies() iter.Seq2[string, time.Duration] {
	return func(yield func(string, time.Duration) bool) {
		if r.Phase == Main && !yield("lag", r.Lag()) {
			return
		}
		if r.Phase == WarmUp || r.Class != OK || r.impossible() || !yield("queue", r.Queue()) || !yield("ttft", r.TTFT()) || !yield("e2el", r.E2EL()) {
			return
		}
		if r.Out > 1 && !yield("tpot", r.TPOT()) {
			return
		}
		for gap := range r.Chunks.Gaps() {
			if !yield("itl", gap) {
				return
			}
		}
	}
}

// errImpossible is the Error of a request whose times cannot be.
const errImpossible = "its answer is stamped before it was sent"

// impossible says that a chunk of r came before r was sent. No latency of such a
// request means anything: a clock was set, or its line is damaged.
func (r *Record) impossible() bool {
	first := r.Chunks.Len() > 0 && r.Chunks.First() < r.Sent
	return first || r.Last != 0 && r.Last < r.Sent
}

// possible is r, or r as a failed request where its times cannot be, and whether
// that is so. It does not change r.
func (r *Record) possible() (*Record, bool) {
	if r.Class != OK || !r.impossible() {
		return r, true
	}
	refused := *r
	refused.Class, refused.Error = Malformed, errImpossible
	return &refused, false
}
