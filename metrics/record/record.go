// Package record is what one request did. Everything that servebench measures is made of Records.
//
// A Record has a few parts. Its fields are described once, by a table: the lines of a stream, the packed form
// in memory and the tables of requests are loops over that table. A new field is a field of a part and a row.
//
// The package imports nothing of servebench. No part of it calls the clock.
package record

import (
	"cmp"
	"encoding/json"
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
	DNS            Class = "dns"              // the server's name could not be resolved
	Refused        Class = "refused"          // nobody listens at its address
	TLS            Class = "tls"              // the handshake failed, or the certificate is not trusted
	Connect        Class = "connect"          // no connection for another reason
	ConnectTimeout Class = "connect-timeout"  // no connection within the limit set
	FirstByte      Class = "first-byte"       // no first byte of the answer within the limit set
	Stall          Class = "stall"            // no byte of the reply for longer than the limit set
	Timeout        Class = "timeout"          // not finished within the limit set for one request
	Overdue        Class = "overdue"          // not finished in time after the last send
	Deadline       Class = "deadline"         // in flight at the deadline of the whole run
	Status         Class = "status"           // an HTTP status other than 200
	Overflow       Class = "context-overflow" // the server says that the prompt does not fit the model's context
	InStream       Class = "in-stream"        // an error object inside a 200 stream
	Unfinished     Class = "unfinished"       // its finish reason is error or abort
	Reset          Class = "reset"            // the connection was reset
	Truncated      Class = "truncated"        // the stream ended in the middle
	Empty          Class = "empty"            // 200, but no chunk at all
	Malformed      Class = "malformed"        // a reply, or a request, that breaks the protocol
	Cancelled      Class = "cancelled"        // cut by us when the run was stopped
)

// Classes are all ways to fail, in the order in which they can affect a request.
var Classes = []Class{
	DNS, Refused, TLS, Connect, ConnectTimeout, FirstByte, Stall, Timeout, Overdue, Deadline,
	Status, Overflow, InStream, Unfinished, Reset, Truncated, Empty, Malformed, Cancelled,
}

// Cut reports that the load generator cut the request because the run was over: whether the server
// would have answered it is unknown.
func (c Class) Cut() bool { return c == Cancelled || c == Deadline }

// A Record is what one request did: which request it is, and the parts that say how it went. Whoever receives a
// Record owns it; nothing changes it afterwards.
type Record struct {
	// Run is the id of the run, the same in every line of its stream.
	Run string
	// Target is the name of the target, empty if there is only one.
	Target string
	// ID is the x-request-id as sent, empty if none was sent.
	ID string
	// Index is the position in the dataset, Turn the position in the conversation.
	Index int
	Turn  int
	// Attempts is how often the request was sent; if above 1, it includes attempts to connect. The parts describe the
	// last attempt, except Sent, which is of the first.
	Attempts int
	// Reconnects is how many of the Attempts used a new connection because the used one had died before a
	// byte of the answer. These are not retries.
	Reconnects int
	// Phase is warm-up or drain; empty in the measured part.
	Phase Phase
	// Session says where the request stands in its session; nil if sessions have one request.
	Session *Turn

	// Adapter is the LoRA adapter that the request asked for in place of the model; empty for none.
	Adapter string
	// Payload is what the request carried apart from one prompt of text; nil for nothing.
	Payload *Payload
	// Asked is what was sent, as a line of a dataset that sends it again, if the run keeps it.
	Asked json.RawMessage

	Times  Times
	Conn   Conn
	Answer Answer
	Tokens Tokens
	Result Result
	// Server is what the server reports about its own times; nil if it reports nothing.
	Server *ServerTimes
}

// Times are when things happened to a request. All are offsets from the start of the run; zero in Wrote, FirstByte,
// FirstContent, FirstOutput, Last, Trailer and LastByte means "never".
type Times struct {
	// Due is when the schedule wanted the request sent, and Slot when it got a concurrency slot.
	Due  time.Duration
	Slot time.Duration
	// Sent is when it was handed to the HTTP client, from the start of the run.
	Sent time.Duration
	// Wrote is when the write of the request's last byte returned. On HTTP/2, and without a reply,
	// it is when that byte was handed over for writing.
	Wrote time.Duration
	// Waited is the part of the time from Sent to Wrote in which a request of more than 16 KiB may
	// have waited for the server to read it. On HTTP/2 it includes the wait for a connection that
	// another request opened.
	Waited time.Duration
	// FirstByte is when the first byte of the reply arrived.
	FirstByte time.Duration
	// FirstContent is when the first chunk with visible text, reasoning, a call or a refusal arrived.
	FirstContent time.Duration
	// FirstOutput is when the first chunk with text, a call or a refusal came after reasoning. It is 0 unless the
	// answer Reasoned.
	FirstOutput time.Duration
	// Last is when the last of the answer's Chunks arrived.
	Last time.Duration
	// Trailer is when the last event of a chat without choices arrived, such as its usage.
	Trailer time.Duration
	// LastByte is when the last byte of the reply arrived. The record stream does not have it.
	LastByte time.Duration
	// End is when the reply was read to its end, or failed.
	End time.Duration
}

// Conn says how the request got its connection. Its times follow one another; through a proxy,
// their sum is what opening the connection took.
type Conn struct {
	New     bool          // opened for this request
	DNS     time.Duration // time to look up the name
	Connect time.Duration // time to connect
	// Proxy is how long the proxy took to connect to the server. It is 0 without a proxy, and on
	// HTTP/2, where it is unknown.
	Proxy time.Duration
	// TLS is the time of the handshake, and of the handshake with an HTTPS proxy.
	TLS time.Duration
}

// Took is how long opening the connection took.
func (c *Conn) Took() time.Duration { return c.DNS + c.Connect + c.Proxy + c.TLS }

// An Answer is what came back, and how exactly its arrival is known.
type Answer struct {
	// Chunks are the arrivals of the chunks that vLLM's client counts as output.
	Chunks Stamps
	// Blank are the arrivals of the other chunks with choices: a chat's role, its end.
	Blank Stamps
	// Unstreamed says that the answer was not streamed. Its end is then the only one of Chunks, and it has no
	// TTFT, TPOT or ITL: TTFT is its E2EL.
	Unstreamed bool
	// Reasoned says that the first content was reasoning.
	Reasoned bool
	// Late marks the Chunks that shared a read with a later chunk while we read late: they have
	// the other's stamp, and may have arrived that much earlier.
	Late Marks
	// MaxAge bounds the error of the stamps: each chunk, with its line end and framing, arrived at
	// most MaxAge before its stamp. It is 0 if the kernel does not stamp.
	MaxAge time.Duration
	// SharedReads is how many chunks with content shared a read with an earlier chunk.
	SharedReads int
	// Finish is the finish reason as the server gave it.
	Finish string
	// Text is the generated text, if the run keeps it.
	Text string
	// Calls are the tool calls of a chat's answer as its message has them, put together from the
	// stream: a list of objects with id, type and function. It is nil without calls, and if the run
	// does not keep them.
	Calls json.RawMessage
	// Reply is the id that the server gave the answer, with which a request of the Responses API goes on
	// from it, if the run keeps it. The record stream does not have it.
	Reply string
	// Reasoning is the text that a model that reasons generates before its answer, if the run keeps it.
	Reasoning string
}

// withBlank are the Chunks and the Blank as one sequence, and Late for it. If only the ends of either are known, it
// also has only its ends, and no marks.
func (a *Answer) withBlank() (Stamps, Marks) {
	return together(a.Blank, a.Chunks), a.Late.among(a.Blank, a.Chunks)
}

// Tokens are a request's counts of tokens, and where they come from.
type Tokens struct {
	// In is the number of prompt tokens: the server's count if there is one, else InAsked.
	In int
	// InAsked is the dataset's count of prompt tokens.
	InAsked int
	// Cached is how many prompt tokens the server found in its prefix cache, by its usage, and 0 if it
	// does not say; Uncached says that it found none. vLLM leaves out a 0, others send it.
	Cached   int
	Uncached bool
	// Out is the number of output tokens: the server's count if it is where vLLM's client looks,
	// else the tokenizer's, else the count in WithOutput, else 1.
	Out int
	// OutReasoned is how many of Out are reasoning, by the server's usage; 0 if it does not say.
	OutReasoned int
	// OutAsked is how many output tokens were asked for.
	OutAsked int
	// Uncounted says that Out is not the server's count.
	Uncounted bool
	// WithOutput are the server's counts that came with output, where vLLM's client does not look; nil
	// if the server sent others.
	WithOutput *Count
	// Until032 is what releases up to 0.32.0 count; nil if that is the same.
	Until032 *Count
	// PerChunk holds the tokens of each chunk, from continuous usage statistics. It is nil if
	// the server sent none or each chunk held one.
	PerChunk []int
}

// A Count is one pair of counts of tokens.
type Count struct {
	In  int // prompt tokens
	Out int // output tokens
}

// MaxTokens is the largest number of tokens that a request may have, so that sums of counts fit into an
// int.
const MaxTokens = 1e12

// A Result is how a request ended.
type Result struct {
	// Status is the HTTP status, 0 without a reply.
	Status int
	// Class is the class of the failure; empty for none.
	Class Class
	// Error is the server's message if there is one.
	Error string
	// Differs is why vLLM's client fails this answer, or takes it for complete although it failed
	// here. It is empty if both agree.
	Differs string
}

// A Payload is what a request carried apart from one prompt of text.
type Payload struct {
	Bytes  int     // size of the request's body
	Inputs int     // sequences, of a request to a pooling endpoint
	Images int     // number of images
	Videos int     // number of videos
	Audio  float64 // seconds of sound
}

// Add adds what another request carried, nil for nothing.
func (p *Payload) Add(other *Payload) {
	if other != nil {
		p.Bytes += other.Bytes
		p.Inputs += other.Inputs
		p.Images += other.Images
		p.Videos += other.Videos
		p.Audio += other.Audio
	}
}

// ServerTimes are what a server reports about one request: vLLM in the "metrics" object of its answer, with
// --enable-per-request-metrics, exactly as it wrote them; Ollama at the end of each answer. They are milliseconds.
// A nil field is missing.
type ServerTimes struct {
	LoadMS  *float64 // until it had a runner with the model, before the queue
	QueueMS *float64 // time in the engine's queue, until it was scheduled
	TTFTMS  *float64 // from then until the first token

	GenerationMS *float64 // from then until the last token
	MeanITLMS    *float64 // that, per token after the first
}

// TTFT is the time to first token as vLLM's client defines it since 0.33.0: arrival of the first of
// Chunks, less Sent. On completions, any chunk with choices is one of them, whatever it carries. It
// includes connecting. It is 0 for a request without chunks, and means nothing for an answer that came whole.
func (r *Record) TTFT() time.Duration {
	if r.Answer.Chunks.Len() == 0 {
		return 0
	}
	return r.Answer.Chunks.First() - r.Times.Sent
}

// BlankChunks are how many chunks of an answer may carry no token: those with a role and with a finish reason.
const BlankChunks = 2

// TokenTolerance is by how many percent the counts of a text's tokens may differ and still be called the same.
const TokenTolerance = 10

// Done is when the last chunk came, or when the request failed.
func (r *Record) Done() time.Duration {
	if r.Result.Class != OK {
		return r.Times.End
	}
	return cmp.Or(r.Times.Last, r.Times.End)
}

// Answered reports that the request completed with a chunk.
func (r *Record) Answered() bool { return r.Result.Class == OK && r.Answer.Chunks.Len() > 0 }

// TTFO is the time to the first output that is not reasoning: text, a call or a refusal, of any
// choice. It is false for an answer without any, and for one that came whole.
func (r *Record) TTFO() (latency time.Duration, there bool) {
	first := r.Times.FirstContent
	if r.Answer.Reasoned {
		first = r.Times.FirstOutput
	}
	if first == 0 || r.Answer.Unstreamed {
		return 0, false
	}
	return first - r.Times.Sent, true
}

// TPOT is the time per output token after the first, (E2EL − TTFT) / (Out − 1), as vLLM's client
// defines it. It is 0 if there is no second token, or no stream.
func (r *Record) TPOT() time.Duration {
	if r.Tokens.Out < 2 || r.Answer.Chunks.Len() == 0 || r.Answer.Unstreamed {
		return 0
	}
	return (r.E2EL() - r.TTFT()) / time.Duration(r.Tokens.Out-1)
}

// E2EL is the end-to-end latency as vLLM's client defines it since 0.30.0: Last less Sent. It does
// not wait for later usage. It is 0 for a failed request.
func (r *Record) E2EL() time.Duration {
	if r.Result.Class != OK || r.Times.Last == 0 {
		return 0
	}
	return r.Times.Last - r.Times.Sent
}

// Queue is the time spent waiting for a free concurrency slot.
func (r *Record) Queue() time.Duration { return r.Times.Slot - r.Times.Due }

// Lag is how late the load generator itself was: Sent less the later of Due
// and Slot.
func (r *Record) Lag() time.Duration { return r.Times.Sent - max(r.Times.Due, r.Times.Slot) }

// SendDelay is our own delay from Sent to Wrote, which TTFT includes: without connecting and without
// Waited. It is 0 if it is unknown: without Wrote, and for a request that was sent more than once.
func (r *Record) SendDelay() time.Duration {
	t := &r.Times
	if t.Wrote == 0 || r.Attempts > 1 {
		return 0
	}
	return max(0, t.Wrote-t.Sent-t.Waited-r.Conn.Took())
}

// Shift moves all times of r by d, from one run's clock to another's. It copies the Session, which r may share.
func (r *Record) Shift(d time.Duration) {
	if s := r.Session; s != nil {
		r.Session = new(*s)
	}
	r.Times.Due, r.Times.Slot = r.Times.Due+d, r.Times.Slot+d // fields have them as lag and queue
	shift(table, r, d)
}

// Final is when the last noticed event came.
func (r *Record) Final() time.Duration {
	return max(r.Times.Last, r.Answer.Blank.Last(), r.Times.Trailer)
}

// TakeBlank moves a completed answer's blank chunks, from the first with content on, to Chunks, if
// vLLM's client knows none of its chunks as output. That client fails such an answer, although it
// has everything that a reader wants.
func (r *Record) TakeBlank() {
	if r.Answer.Chunks.n > 0 || r.Times.FirstContent == 0 {
		return
	}
	var lead Stamps
	for at := range r.Answer.Blank.all() {
		if at < r.Times.FirstContent {
			lead.Append(at)
		} else {
			r.Answer.Chunks.Append(at)
		}
	}
	r.Answer.Blank, r.Times.Last = lead, r.Answer.Chunks.last
}

// LatencyNames are the names that Latencies yields.
var LatencyNames = []string{"ttft", "tpot", "itl", "e2el", "queue", "lag"}

// Latencies yields the values of r that count in the distributions of a run, with their names:
// the latencies of a completed request, its inter-token latencies one by one, and the lag of any
// request. A warm-up's request has none, and a request whose answer came before it was sent has
// only its lag.
func (r *Record) Latencies() iter.Seq2[string, time.Duration] {
	return func(yield func(string, time.Duration) bool) {
		if r.Phase == Main && !yield("lag", r.Lag()) {
			return
		}
		whole := r.Answer.Unstreamed
		if r.Phase == WarmUp || r.Result.Class != OK || r.Impossible() || !yield("queue", r.Queue()) || !whole &&
			!yield("ttft", r.TTFT()) || !yield("e2el", r.E2EL()) {
			return
		}
		if r.Tokens.Out > 1 && !whole && !yield("tpot", r.TPOT()) {
			return
		}
		for gap := range r.Answer.Chunks.Gaps() {
			if !yield("itl", gap) {
				return
			}
		}
	}
}

// errImpossible is the Error of a request with impossible times.
const errImpossible = "its answer is stamped before it was sent"

// Impossible reports that a chunk of r came before r was sent. No latency of such a request means
// anything: a clock was set, or its line is damaged.
func (r *Record) Impossible() bool {
	chunks, sent := &r.Answer.Chunks, r.Times.Sent
	return chunks.n > 0 && chunks.first < sent || r.Times.Last != 0 && r.Times.Last < sent
}

// Possible is r and true, or, if its times are impossible, r as a failed request and false. It does
// not change r.
func (r *Record) Possible() (*Record, bool) {
	if r.Result.Class != OK || !r.Impossible() {
		return r, true
	}
	refused := *r
	refused.Result.Class, refused.Result.Error = Malformed, errImpossible
	return &refused, false
}
