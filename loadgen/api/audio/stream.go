package audio

import (
	"bytes"
	"encoding/json"

	"github.com/servebench/servebench/loadgen/api/chunk"
	"github.com/servebench/servebench/loadgen/api/exchange"
	"github.com/servebench/servebench/loadgen/api/scan"
	"github.com/servebench/servebench/loadgen/api/sse"
	"github.com/servebench/servebench/metrics/record"
)

// protocol is how the API answers: with a stream like a chat's.
var protocol = &exchange.Protocol{
	Decoder: func() exchange.Decoder { return &chunk.Decoder{Deltas: true, All: true, Trails: true} },
	Whole:   whole, Refuse: refuseWithoutDelta, Marked: true, Empty: exchange.NeverValid, Cut: exchange.Neither,
	Lines: sse.Rules{Bare: true}, OnlyOuts: true,
}

var deltaName = []byte(`"delta"`)

// refuseWithoutDelta refuses a chunk of a transcription as vLLM's client does.
func refuseWithoutDelta(event []byte) error {
	if bytes.Contains(event, deltaName) {
		return nil
	}
	return record.Failf(record.Malformed, "a chunk has no delta: %q", record.Shorten(string(event)))
}

// whole reads a transcription that is not streamed.
func whole(body []byte, p *exchange.Piece, _ *exchange.Kept) error {
	var answer struct {
		Text json.RawMessage `json:"text"`
	}
	if err := scan.Into(body, &answer); err != nil {
		return err
	}
	p.Chunk, p.Content, p.Text = answer.Text != nil, scan.Truthy(answer.Text), []byte(scan.Text(answer.Text))
	return nil
}
