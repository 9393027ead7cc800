package openai

import (
	"bytes"

	"github.com/servebench/servebench/loadgen/api/scan"
	"github.com/servebench/servebench/loadgen/api/sse"
	"github.com/servebench/servebench/metrics/record"
)

// Audio is the protocol of OpenAI's Audio API. Answers are streamed as a chat's.
var Audio = &Protocol{
	event: readChunk, whole: readTranscript, deltas: true, counted: true, refuse: refuseWithoutDelta,
	trails: true, marked: true, empty: neverValid, cut: neither,
	lines: sse.Rules{Bare: true}, onlyOuts: true,
}

var deltaName = []byte(`"delta"`)

// refuseWithoutDelta refuses a chunk of a transcription as vLLM's client does.
func refuseWithoutDelta(event []byte) error {
	if bytes.Contains(event, deltaName) {
		return nil
	}
	return record.Failf(record.Malformed, "a chunk has no delta: %q", record.Shorten(string(event)))
}

// readTranscript reads a transcription that is not streamed.
func readTranscript(p *piece, a *wireAnswer, _ *answerParts) {
	p.choices, p.content, p.text = a.Text != nil, scan.Truthy(a.Text), []byte(asText(a.Text))
}
