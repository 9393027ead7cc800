package metrics

import (
	"fmt"
	"slices"
	"strings"
)

// Definitions say what of an answer vLLM's client counts, by the name of a release
// that does it so. They changed for chat alone: what a first token is, what the last
// one, and whether an answer without output failed. The empty name is the latest's.
type Definitions string

const (
	// Definitions033 hold for 0.33.0 and later: a chunk of a chat counts when
	// it carries output, which the chunk with the role does not.
	Definitions033 Definitions = "0.33.0"
	// Definitions030 hold for 0.30.0 to 0.32.0: each chunk with choices counts.
	Definitions030 Definitions = "0.30.0"
	// Definitions029 hold for 0.29.0 and older: each chunk with choices counts,
	// any later event of a chat moves its end, and a chat without a chunk succeeds.
	Definitions029 Definitions = "0.29.0"
)

// Latest are the Definitions of the newest release known here.
const Latest = Definitions033

// InForce are those by which the run's latencies are defined; empty where all are
// the same, as for completions, or where that is not known.
func (h *Header) InForce() Definitions {
	if !h.Config.Chat() || h.Definitions == "" {
		return ""
	}
	return h.Definitions
}

// known says that d is one of the names above, or empty.
func (d Definitions) known() bool {
	return slices.Contains([]Definitions{"", Definitions033, Definitions030, Definitions029}, d)
}

// Older says that d is of older releases than e.
func (d Definitions) Older(e Definitions) bool { return d.age() > e.age() }

func (d Definitions) age() int {
	return slices.Index([]Definitions{Definitions033, Definitions030, Definitions029}, d.Named())
}

// Named is d by its name.
func (d Definitions) Named() Definitions {
	if d == "" {
		return Latest
	}
	return d
}

// String is what a reader of a report is told.
func (d Definitions) String() string {
	switch d.Named() {
	case Definitions029:
		return "vLLM 0.29.0 and older"
	case Definitions030:
		return "vLLM 0.30.0 to 0.32.0"
	}
	return "vLLM 0.33.0"
}

// Of is r as the client of d has it: r itself, or a copy in which Chunks are those
// that count, and Blank and Trailer hold nothing more. To apply it twice does no harm.
func (d Definitions) Of(r *Record, chat bool) *Record {
	if d.Named() == Latest {
		return r
	}
	older := *r
	if t := r.Until032; t != nil {
		older.In, older.Out, older.Until032 = t.In, t.Out, nil
	}
	older.Chunks, older.Blank = together(r.Blank, r.Chunks), Stamps{}
	older.Last = max(older.Last, older.Chunks.last)
	if d == Definitions029 {
		older.Last, older.Trailer = max(older.Last, r.Trailer), 0
	}
	if r.Class == Empty && (r.Blank.n > 0 || chat && d == Definitions029) {
		older.Class, older.Error = OK, ""
	}
	return &older
}

// TakeBlank makes chunks of a completed answer's blank ones, from the first with
// content on, where no chunk is output that vLLM's client knows: it fails such an
// answer, which has all that a reader of it wants.
func (r *Record) TakeBlank() {
	if r.Chunks.n > 0 || r.FirstContent == 0 {
		return
	}
	var lead Stamps
	for at := range r.Blank.All() {
		if at < r.FirstContent {
			lead.Append(at)
		} else {
			r.Chunks.Append(at)
		}
	}
	r.Blank, r.Last = lead, r.Chunks.last
}

// UnmarshalText reads a name. One that is not known here is of a newer program.
func (d *Definitions) UnmarshalText(text []byte) error {
	if *d = Definitions(text); !d.known() {
		return fmt.Errorf("definitions of vLLM %s: this program knows none", text)
	}
	return nil
}

// Chat says that the requests went to a chat endpoint.
func (c *Config) Chat() bool { return strings.Contains(c.Backend, "chat") }

// Recognise tells a stream of before Definitions, which counted as 0.29.0 does.
func (h *Header) Recognise() {
	if h.Definitions == "" {
		h.Definitions, h.former = Definitions029, true
	}
}

// Counted is a record of the run by the header's Definitions.
func (h *Header) Counted(r *Record) *Record {
	if h.former && h.Definitions != Definitions029 {
		r = r.renewed(h.Config.Chat())
	}
	return h.Definitions.Of(r, h.Config.Chat())
}

// renewed is a record of before Definitions as it would be now, as far as it tells:
// what came before the first content was blank, and what came after the last chunk
// had no choices. That the last chunk carried output is presumed.
func (r *Record) renewed(chat bool) *Record {
	if !chat || r.Chunks.n == 0 || r.Blank.n > 0 {
		return r
	}
	now := *r
	if r.Last > r.Chunks.last {
		now.Last, now.Trailer = r.Chunks.last, r.Last
	}
	if r.Chunks.Gapless() {
		now.Chunks.n, now.Chunks.first = r.Chunks.n-1, max(r.FirstContent, r.Chunks.first)
		now.Blank = Stamps{first: r.Chunks.first, last: r.Chunks.first, n: 1}
		return &now
	}
	blank := r.before()
	if blank == r.Chunks.n {
		return r
	}
	now.Chunks = Stamps{}
	i := 0
	for at := range r.Chunks.All() {
		if i++; i <= blank {
			now.Blank.Append(at)
		} else {
			now.Chunks.Append(at)
		}
	}
	return &now
}

// What vLLM's client makes otherwise of an answer than is made of it here, in
// Record.Otherwise. The first kind are sound answers that it fails; some of them only
// when the network delivers them in other pieces. The second are broken ones that it
// takes for complete, in which it passes over what went wrong after the output.
const (
	OtherwiseOutput  = "output"   // all its output has names that vLLM's client does not know
	OtherwiseLineEnd = "line-end" // lines end in CR LF, or CR
	OtherwiseLines   = "lines"    // an event has several data: lines
	OtherwiseEvent   = "event"    // there are event: lines
	OtherwiseSpace   = "space"    // no space follows data:
	OtherwiseCut     = "cut"      // the connection broke after [DONE]

	OtherwiseUnended    = "unended"    // neither [DONE] nor a finish reason came
	OtherwiseError      = "error"      // an error event came after output
	OtherwiseUnfinished = "unfinished" // the finish reason is error or abort
)

// Otherwise counts answers by their Record.Otherwise.
type Otherwise map[string]int

// Sound is how many answers are complete here, and failed for vLLM's client.
func (o Otherwise) Sound() int {
	n := 0
	for why, answers := range o {
		if !brokenFor(why) {
			n += answers
		}
	}
	return n
}

// Broken is how many answers failed here, and are complete for vLLM's client.
func (o Otherwise) Broken() int {
	n := 0
	for why, answers := range o {
		if brokenFor(why) {
			n += answers
		}
	}
	return n
}

func brokenFor(why string) bool {
	return slices.Contains([]string{OtherwiseUnended, OtherwiseError, OtherwiseUnfinished}, why)
}
