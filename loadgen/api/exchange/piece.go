package exchange

import (
	"github.com/servebench/servebench/loadgen/api/scan"
	"github.com/servebench/servebench/metrics/record"
)

// A Decoder reads the events of streams, of one stream after the other. It may keep memory.
type Decoder interface {
	// Decode reads the JSON of an event into p, which is Reset. p is valid as long as event, and until the
	// next call.
	Decode(event []byte, p *Piece) error
}

// A Piece is what a load test needs of one event of a streamed answer, or of a whole answer.
type Piece struct {
	Chunk   bool   // it is a part of the answer: a chunk
	Index   int    // of the choice that it goes on with; of the last, if there are several
	Output  bool   // vLLM's client counts it as output
	Content bool   // it has text, reasoning, a refusal or a call
	Answers bool   // it has one of these other than reasoning
	Text    []byte // what it adds to the generated text, of the first choice
	Thought []byte // what it adds to the reasoning, of the first choice
	Calls   []byte // its tool calls, as the Protocol's Calls reads them; nil without
	Finish  []byte // why the answer ended, if it says so
	Usage   Usage
	Server  *record.ServerTimes // nil if it has none
	Failed  bool                // it is, or holds, an error object
	Trailer bool                // it follows the answer, which has ended
	Last    bool                // it is the end of the answer
	Reply   string              // the id of the answer, if the server keeps it

	scratch []byte // memory for texts with escapes
}

// Usage is the server's count of tokens.
type Usage struct {
	Given         bool // it is an object with members
	In, Out       int  // 0 if missing: some servers send zeros until they know
	HasIn, HasOut bool // whether they are there, even as 0
	Reasoned      int  // output tokens that are reasoning; 0 if missing
	Cached        int  // prompt tokens found in the server's prefix cache; 0 if missing
	HasCached     bool // whether it is there, even as 0
}

// take merges more usage as vLLM's client does: the last one counts, but the prompt's tokens stay
// if it has none.
func (u *Usage) take(more Usage) {
	if !more.HasIn {
		more.In, more.HasIn = u.In, u.HasIn
	}
	*u = more
}

// into sets the counts that are given.
func (u *Usage) into(in, out *int) {
	if u.HasIn {
		*in = u.In
	}
	if u.Given {
		*out = u.Out
	}
}

// Reset makes p empty.
func (p *Piece) Reset() { *p = Piece{scratch: p.scratch[:0]} }

// Delta reads raw, the JSON of a text, as what an event adds to the answer. It goes to to, which is p's Text
// or Thought, or nil for what nobody keeps. output says whether vLLM's client counts it.
func (p *Piece) Delta(raw []byte, output bool, to *[]byte) {
	p.Chunk, p.Output, p.Content, p.Answers = true, output, scan.Truthy(raw), scan.Truthy(raw)
	if to == nil || scan.IsNull(raw) {
		return
	}
	text := scan.Plain(raw)
	if text == nil {
		var ok bool
		if text, ok = p.Unescaped(raw); !ok {
			text = []byte(scan.Text(raw))
		}
	}
	if len(text) > 0 {
		*to = text
	}
}

// Unescaped is the text of raw, a string of JSON with escapes, in memory of p. It is not ok if encoding/json
// has to say what the text is.
func (p *Piece) Unescaped(raw []byte) (text []byte, ok bool) {
	start := len(p.scratch)
	p.scratch, ok = scan.AppendUnquoted(p.scratch, raw)
	return p.scratch[start:], ok
}
