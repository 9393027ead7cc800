// Package chunk reads the answers that OpenAI's completions and chats have in common, which servers of other APIs
// send, too.
//
// Most events of a stream differ from the previous event only in their text. So an event is first
// compared with the shape of the previous one, then scanned for the few members that count, and
// decoded by encoding/json only if both fail.
package chunk

import (
	"cmp"

	"github.com/servebench/servebench/loadgen/api/exchange"
	"github.com/servebench/servebench/loadgen/api/scan"
)

// A Decoder reads the chunks of a stream.
type Decoder struct {
	Deltas bool // the text of a chunk is in the delta of a choice
	All    bool // vLLM's client counts every chunk as output
	Trails bool // an event without choices follows the answer

	shape   shape  // of an earlier event
	strings int    // number of texts of the event that are not empty
	varying []byte // the last of them, if it has no escapes
	escaped bool   // a text of the event has escapes
}

// Decode is a Decoder's of package exchange.
func (d *Decoder) Decode(event []byte, p *exchange.Piece) error {
	if !d.repeat(event, p) && !d.scan(event, p) {
		if err := d.decode(event, p); err != nil {
			return err
		}
	}
	p.Trailer = d.Trails && !p.Chunk
	return nil
}

// repeat reads an event that has the shape of the previous one. It reports whether it has that
// shape.
func (d *Decoder) repeat(data []byte, p *exchange.Piece) bool {
	text, counts, ok := d.shape.match(data)
	if !ok {
		return false
	}
	p.Chunk, p.Content, p.Index, p.Output, p.Answers = true, true, d.shape.index, d.shape.output, d.shape.answers
	switch {
	case d.shape.generated:
		p.Text = text
	case d.shape.reasoned:
		p.Thought = text
	}
	return scanUsage(counts, &p.Usage)
}

// decode is like scan, but with encoding/json, for events that scan is not sure about. A member of the wrong
// type counts as missing.
func (d *Decoder) decode(data []byte, p *exchange.Piece) error {
	p.Reset()
	var w wireChunk
	if err := scan.Into(data, &w); err != nil {
		return err
	}
	p.Failed = w.Object == "error" || scan.Truthy(w.Error)
	p.Usage = usageOf(w.Usage)
	p.Server = serverTimes(w.Metrics)
	for _, c := range w.Choices {
		p.Index = c.Index
		text := c.Text
		if d.Deltas {
			text = c.Delta.Content
		}
		d.choice(&c.Delta, scan.Truthy(c.Text), p)
		if !p.Chunk {
			p.Text = []byte(scan.Text(text))
			p.Thought = []byte(cmp.Or(scan.Text(c.Delta.Reasoning), scan.Text(c.Delta.ReasoningContent)))
		}
		p.Chunk = true
		if c.FinishReason != "" {
			p.Finish = []byte(c.FinishReason)
		}
	}
	return nil
}

// choice notes whether the current choice carries something, and, if it is the first choice,
// whether vLLM's client counts the event as output, and its calls.
func (d *Decoder) choice(delta *wireDelta, text bool, p *exchange.Piece) {
	answers := text || delta.answers()
	p.Answers = p.Answers || answers
	p.Content = p.Content || answers || delta.reasons()
	if !p.Chunk {
		p.Output = d.All || delta.isOutput()
		if scan.Truthy(delta.ToolCalls) {
			p.Calls = delta.ToolCalls
		}
	}
}
