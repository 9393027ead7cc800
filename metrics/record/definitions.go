package record

import (
	"fmt"
	"slices"
)

// Definitions are the rules by which vLLM's client counts an answer, named after a release that
// uses them. They changed for chats: what the first token is, what the last one, and whether an
// answer without output failed. The empty name means the latest.
type Definitions string

const (
	// Definitions033 apply to 0.33.0 and later: a chunk of a chat counts if it carries output, so
	// the chunk with the role does not count.
	Definitions033 Definitions = "0.33.0"
	// Definitions030 apply to 0.30.0 to 0.32.0: each chunk with choices counts. They stand for older
	// releases, too, whose chats ended with their last event and whose pooling answers ended with the header.
	Definitions030 Definitions = "0.30.0"
)

// Latest are the Definitions of the newest release known here.
const Latest = Definitions033

// known reports whether d is one of the names above, or empty.
func (d Definitions) known() bool {
	return slices.Contains([]Definitions{"", Definitions033, Definitions030}, d)
}

// Older reports whether d belongs to older releases than e.
func (d Definitions) Older(e Definitions) bool { return d == Definitions030 && e.Named() == Latest }

// Named is d with the empty name resolved.
func (d Definitions) Named() Definitions {
	if d == "" {
		return Latest
	}
	return d
}

// String describes d for the reader of a report.
func (d Definitions) String() string {
	if d == Definitions030 {
		return "vLLM 0.30.0 to 0.32.0"
	}
	return "vLLM 0.33.0"
}

// Of is r as the client of d counts it: r itself, or a copy in which Chunks are the chunks that
// count, and Blank and Trailer hold the rest. Applying it twice is harmless.
func (d Definitions) Of(r *Record) *Record {
	if d.Named() == Latest {
		return r
	}
	older := *r
	if t := r.Tokens.Until032; t != nil {
		older.Tokens.In, older.Tokens.Out, older.Tokens.Until032 = t.In, t.Out, nil
	}
	if r.Answer.Unstreamed && r.Payload != nil && r.Payload.Inputs > 0 {
		return &older
	}
	older.Answer.Chunks, older.Answer.Late = r.Answer.withBlank()
	older.Answer.Blank = Stamps{}
	older.Times.Last = max(older.Times.Last, older.Answer.Chunks.Last())
	if r.Result.Class == Empty && r.Answer.Blank.Len() > 0 {
		older.Result.Class, older.Result.Error = OK, ""
	}
	return &older
}

// UnmarshalText reads a name. An unknown name comes from a newer program.
func (d *Definitions) UnmarshalText(text []byte) error {
	if *d = Definitions(text); !d.known() {
		return fmt.Errorf("definitions of vLLM %s: unknown to this version of servebench", text)
	}
	return nil
}
