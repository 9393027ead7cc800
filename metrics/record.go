// Package metrics turns the records of single requests into the numbers of a run.
//
// A Record says what one request did. A Collector takes Records and returns a Summary at any time:
// the numbers that vLLM's serving benchmark defines, the Truth that those leave out, and the
// Evidence of how good the measurement was. With a Trace, a Summary can be cut into windows and
// slices.
//
// A latency is a Distribution: exact values up to a limit, and an HDR histogram of all values.
// Values go in as seconds and come out as milliseconds, as in vLLM's client. Times are offsets from
// the start of the run.
//
// A Summary can also be read from the output of other tools. It then quotes what is printed there:
// unknown numbers are NaN, unknown counts are -1.
//
// This package imports only metrics/cost and metrics/gpu of servebench. The packages below it import only those
// above them in this list:
//
//	metrics
//	metrics/pyjson   JSON as Python writes it
//	metrics/scrape   servers' metrics in Prometheus' format
//	metrics/trust    whether to believe a Summary
//	metrics/vllm     vLLM's result block and result file, both ways
//	metrics/stream   Records in a file, written and read
//	metrics/compare  statistics between runs
package metrics

import (
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

// A Record is what one request did. All times are offsets from the start of the run; zero in Wrote,
// FirstByte, FirstContent, FirstOutput, LastByte and Last means "never". Whoever receives a Record owns it; nothing
// changes it afterwards.
type Record struct {
	// Run is the id of the run, the same in every line of its stream.
	Run string `json:"-"`
	// Target is the name of the target, empty if there is only one.
	Target string `json:"target,omitempty"`
	// ID is the x-request-id as sent, empty if none was sent.
	ID string `json:"id,omitempty"`
	// Index is the position in the dataset, Turn the position in the conversation.
	Index int `json:"i"`
	Turn  int `json:"turn,omitempty"`
	// Attempts is how often the request was sent; if above 1, it includes attempts to connect. The
	// following fields describe the last attempt, except Sent, which is of the first.
	Attempts int `json:"attempts,omitempty"`
	// Reconnects is how many of the Attempts used a new connection because the used one had died before a
	// byte of the answer. These are not retries.
	Reconnects int `json:"anew,omitempty"`
	// Phase is warm-up or drain; empty in the measured part.
	Phase Phase `json:"phase,omitempty"`
	// Session says where the request stands in its session; nil if sessions have one request.
	Session *Turn `json:"step,omitempty"`

	// Adapter is the LoRA adapter that the request asked for in place of the model; empty for none.
	Adapter string `json:"adapter,omitempty"`
	// Payload is what the request carried apart from one prompt of text; nil for nothing.
	Payload *Payload `json:"payload,omitempty"`

	// Due is when the schedule wanted the request sent, and Slot when it got a concurrency slot.
	Due  time.Duration `json:"due,omitempty"`
	Slot time.Duration `json:"slot,omitempty"`
	// Sent is when it was handed to the HTTP client, from the start of the run.
	Sent time.Duration `json:"sent,omitempty"`
	// Wrote is when the write of the request's last byte returned. On HTTP/2, and without a reply,
	// it is when that byte was handed over for writing.
	Wrote time.Duration `json:"wrote,omitempty"`
	// Waited is the part of the time from Sent to Wrote in which a request of more than 16 KiB may
	// have waited for the server to read it. On HTTP/2 it includes the wait for a connection that
	// another request opened.
	Waited time.Duration `json:"waited,omitempty"`
	// FirstByte is when the first byte of the reply arrived.
	FirstByte time.Duration `json:"first_byte,omitempty"`
	// FirstContent is when the first chunk with visible text, reasoning, a call or a refusal arrived.
	FirstContent time.Duration `json:"first_content,omitempty"`
	// Reasoned says that the first content was reasoning, and FirstOutput when the first chunk with
	// text, a call or a refusal came after it. FirstOutput is 0 unless Reasoned.
	Reasoned    bool          `json:"reasoned,omitempty"`
	FirstOutput time.Duration `json:"first_output,omitempty"`
	// Last is when the last of Chunks arrived.
	Last time.Duration `json:"last,omitempty"`
	// Trailer is when the last event of a chat without choices arrived, such as its usage.
	Trailer time.Duration `json:"trailer,omitempty"`
	// LastByte is when the last byte of the reply arrived. The record stream does not have it.
	LastByte time.Duration `json:"-"`
	// End is when the reply was read to its end, or failed.
	End time.Duration `json:"end,omitempty"`
	// Chunks are the arrivals of the chunks that vLLM's client counts as output.
	Chunks Stamps `json:"chunks,omitzero"`
	// Blank are the arrivals of the other chunks with choices: a chat's role, its end.
	Blank Stamps `json:"blank,omitzero"`
	// Unstreamed says that the answer was not streamed. Its end is then the only one of Chunks, and it has no
	// TTFT, TPOT or ITL: TTFT is its E2EL.
	Unstreamed bool `json:"whole,omitempty"`
	// Late marks the Chunks that shared a read with a later chunk while we read late: they have
	// the other's stamp, and may have arrived that much earlier.
	Late Marks `json:"late,omitempty"`

	// Conn is how the request got its connection.
	Conn Conn `json:"conn,omitzero"`
	// MaxAge bounds the error of the stamps: each chunk, with its line end and framing, arrived at
	// most MaxAge before its stamp. It is 0 if the kernel does not stamp.
	MaxAge time.Duration `json:"max_age,omitempty"`
	// SharedReads is how many chunks with content shared a read with an earlier chunk.
	SharedReads int `json:"shared_reads,omitempty"`

	// In is the number of prompt tokens: the server's count if there is one, else InAsked.
	In int `json:"in,omitempty"`
	// InAsked is the dataset's count of prompt tokens.
	InAsked int `json:"in_asked,omitempty"`
	// Cached is how many prompt tokens the server found in its prefix cache, by its usage, and 0 if it
	// does not say; Uncached says that it found none. vLLM leaves out a 0, others send it.
	Cached   int  `json:"cached,omitempty"`
	Uncached bool `json:"uncached,omitempty"`
	// Out is the number of output tokens: the server's count if it is where vLLM's client looks,
	// else the tokenizer's, else the count in WithOutput, else 1.
	Out int `json:"out,omitempty"`
	// OutReasoned is how many of Out are reasoning, by the server's usage; 0 if it does not say.
	OutReasoned int `json:"out_reasoned,omitempty"`
	// OutAsked is how many output tokens were asked for.
	OutAsked int `json:"out_asked,omitempty"`

	// Uncounted says that Out is not the server's count.
	Uncounted bool `json:"uncounted,omitempty"`
	// WithOutput are the server's counts that came with output, where vLLM's client does not look; nil
	// if the server sent others.
	WithOutput *Tokens `json:"beside,omitempty"`
	// Until032 is what releases up to 0.32.0 count; nil if that is the same.
	Until032 *Tokens `json:"until_0_32,omitempty"`
	// Differs is why vLLM's client fails this answer, or takes it for complete although it failed
	// here. It is empty if both agree.
	Differs string `json:"otherwise,omitempty"`

	// TokensPerChunk holds the tokens of each chunk, from continuous usage statistics. It is nil if
	// the server sent none or each chunk held one.
	TokensPerChunk []int `json:"tokens_per_chunk,omitempty"`

	// Server is what the server reports about its own times; nil if it reports nothing.
	Server *ServerTimes `json:"server,omitempty"`

	// Finish is the finish reason as the server gave it.
	Finish string `json:"finish,omitempty"`
	// Status is the HTTP status, 0 without a reply.
	Status int `json:"status,omitempty"`
	// Class is the class of the failure; empty for none.
	Class Class `json:"class,omitempty"`
	// Error is the server's message if there is one.
	Error string `json:"error,omitempty"`
	// Text is the generated text, if the run keeps it.
	Text string `json:"text,omitempty"`
	// Calls are the tool calls of a chat's answer as its message has them, put together from the
	// stream: a list of objects with id, type and function. It is nil without calls, and if the run
	// does not keep them.
	Calls json.RawMessage `json:"calls,omitempty"`
	// Reply is the id that the server gave the answer, with which a request of the Responses API goes on
	// from it, if the run keeps it. The record stream does not have it.
	Reply string `json:"-"`
	// Reasoning is the text that a model that reasons generates before its answer, if the run keeps it.
	Reasoning string `json:"reasoning,omitempty"`
	// Asked is what was sent, as a line of a dataset that sends it again, if the run keeps it.
	Asked json.RawMessage `json:"asked,omitempty"`
}

// Conn says how the request got its connection. Its times follow one another; through a proxy,
// their sum is what opening the connection took.
type Conn struct {
	New     bool          `json:"new,omitempty"`     // opened for this request
	DNS     time.Duration `json:"dns,omitempty"`     // time to look up the name
	Connect time.Duration `json:"connect,omitempty"` // time to connect
	// Proxy is how long the proxy took to connect to the server. It is 0 without a proxy, and on
	// HTTP/2, where it is unknown.
	Proxy time.Duration `json:"proxy,omitempty"`
	// TLS is the time of the handshake, and of the handshake with an HTTPS proxy.
	TLS time.Duration `json:"tls,omitempty"`
}

// MaxTokens is the largest number of tokens that a request may have, so that sums of counts fit into an
// int.
const MaxTokens = 1e12

// A Payload is what a request carried apart from one prompt of text.
type Payload struct {
	Bytes  int     `json:"bytes,omitempty"`  // size of the request's body
	Inputs int     `json:"inputs,omitempty"` // sequences, of a request to a pooling endpoint
	Images int     `json:"images,omitempty"` // number of images
	Videos int     `json:"videos,omitempty"` // number of videos
	Audio  float64 `json:"audio,omitempty"`  // seconds of sound
}

// add adds what another request carried, nil for nothing.
func (p *Payload) add(other *Payload) {
	if other != nil {
		p.Bytes += other.Bytes
		p.Inputs += other.Inputs
		p.Images += other.Images
		p.Videos += other.Videos
		p.Audio += other.Audio
	}
}

// Tokens are counts of one request.
type Tokens struct {
	In  int `json:"in"`  // prompt tokens
	Out int `json:"out"` // output tokens
}

// TTFT is the time to first token as vLLM's client defines it since 0.33.0: arrival of the first of
// Chunks, less Sent. On completions, any chunk with choices is one of them, whatever it carries. It
// includes connecting. It is 0 for a request without chunks, and means nothing for an answer that came whole.
func (r *Record) TTFT() time.Duration {
	if r.Chunks.Len() == 0 {
		return 0
	}
	return r.Chunks.First() - r.Sent
}

// TTFO is the time to the first output that is not reasoning: text, a call or a refusal, of any
// choice. It is false for an answer without any, and for one that came whole.
func (r *Record) TTFO() (latency time.Duration, there bool) {
	first := r.FirstContent
	if r.Reasoned {
		first = r.FirstOutput
	}
	if first == 0 || r.Unstreamed {
		return 0, false
	}
	return first - r.Sent, true
}

// TPOT is the time per output token after the first, (E2EL − TTFT) / (Out − 1), as vLLM's client
// defines it. It is 0 if there is no second token, or no stream.
func (r *Record) TPOT() time.Duration {
	if r.Out < 2 || r.Chunks.Len() == 0 || r.Unstreamed {
		return 0
	}
	return (r.E2EL() - r.TTFT()) / time.Duration(r.Out-1)
}

// E2EL is the end-to-end latency as vLLM's client defines it since 0.30.0: Last less Sent. It does
// not wait for later usage. It is 0 for a failed request.
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

// sendDelay is our own delay from Sent to Wrote, which TTFT includes: without connecting and without
// Waited. It is 0 if it is unknown: without Wrote, and for a request that was sent more than once.
func (r *Record) sendDelay() time.Duration {
	if r.Wrote == 0 || r.Attempts > 1 {
		return 0
	}
	c := &r.Conn
	return max(0, r.Wrote-r.Sent-r.Waited-c.DNS-c.Connect-c.Proxy-c.TLS)
}

// Shift moves all times of r by d, from one run's clock to another's.
func (r *Record) Shift(d time.Duration) {
	for _, at := range []*time.Duration{&r.Due, &r.Slot, &r.Sent} {
		*at += d
	}
	for _, at := range []*time.Duration{&r.Wrote, &r.FirstByte, &r.FirstContent, &r.FirstOutput, &r.Last, &r.Trailer,
		&r.LastByte, &r.End} {
		if *at != 0 {
			*at += d
		}
	}
	r.Chunks.shift(d)
	r.Blank.shift(d)
	r.Session = r.Session.shifted(d)
}

// final is when the last noticed event came.
func (r *Record) final() time.Duration { return max(r.Last, r.Blank.last, r.Trailer) }

// ServerTimes are what a server reports about one request in the "metrics" object of its answer;
// vLLM does so with --enable-per-request-metrics. They are milliseconds, exactly as the server
// wrote them. A nil field is missing.
type ServerTimes struct {
	QueueMS *float64 `json:"queue_ms,omitempty"` // time in the engine's queue, until it was scheduled
	TTFTMS  *float64 `json:"ttft_ms,omitempty"`  // from then until the first token

	GenerationMS *float64 `json:"generation_ms,omitempty"` // from then until the last token
	MeanITLMS    *float64 `json:"mean_itl_ms,omitempty"`   // that, per token after the first
}

// LatencyNames are the names that Latencies yields.
var LatencyNames = []string{"ttft", "tpot", "itl", "e2el", "queue", "lag"}

// Latencies yields the values of r that count in the Distributions of a Summary, with their names:
// the latencies of a completed request, its inter-token latencies one by one, and the lag of any
// request. A warm-up's request has none, and a request whose answer came before it was sent has
// only its lag.
func (r *Record) Latencies() iter.Seq2[string, time.Duration] {
	return func(yield func(string, time.Duration) bool) {
		if r.Phase == Main && !yield("lag", r.Lag()) {
			return
		}
		if r.Phase == WarmUp || r.Class != OK || r.impossible() || !yield("queue", r.Queue()) || !r.Unstreamed &&
			!yield("ttft", r.TTFT()) || !yield("e2el", r.E2EL()) {
			return
		}
		if r.Out > 1 && !r.Unstreamed && !yield("tpot", r.TPOT()) {
			return
		}
		for gap := range r.Chunks.Gaps() {
			if !yield("itl", gap) {
				return
			}
		}
	}
}

// errImpossible is the Error of a request with impossible times.
const errImpossible = "its answer is stamped before it was sent"

// impossible reports that a chunk of r came before r was sent. No latency of such a request means
// anything: a clock was set, or its line is damaged.
func (r *Record) impossible() bool {
	first := r.Chunks.Len() > 0 && r.Chunks.First() < r.Sent
	return first || r.Last != 0 && r.Last < r.Sent
}

// Possible is r and true, or, if its times are impossible, r as a failed request and false. It does
// not change r.
func (r *Record) Possible() (*Record, bool) {
	if r.Class != OK || !r.impossible() {
		return r, true
	}
	refused := *r
	refused.Class, refused.Error = Malformed, errImpossible
	return &refused, false
}
