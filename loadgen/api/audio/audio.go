// Package audio makes requests for transcriptions and translations of speech.
//
// A request is a form (multipart/form-data): a file, and then a part for each setting. The order of
// the parts and their headers are as in vLLM's client, and values are written as Python's str does. The
// answer is streamed as a chat's: see exchange.Endpoint.
package audio

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/loadgen/api/exchange"
	"github.com/servebench/servebench/loadgen/api/request"
	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/loadgen/naming"
	"github.com/servebench/servebench/metrics/pyjson"
)

// errNoFile says that a dataset has no files.
var errNoFile = &naming.Error{Text: func(by naming.Spelling) string {
	return "transcriptions need prompts with one sound each: use " + by.Spell(naming.Dataset) + " custom_audio, or hf " +
		"with a dataset of speech"
}}

// Encoder returns what makes forms with the settings of body. It is safe for concurrent use.
func Encoder(body *request.Body) request.Encoder {
	boundary := newBoundary()
	return func(turn *dataset.Turn, _ string) ([]byte, error) {
		if turn.Payload == nil || len(turn.Payload.Media) != 1 || turn.Payload.Media[0].Upload == nil {
			return nil, errNoFile
		}
		file := turn.Payload.Media[0].Upload
		object := pyjson.Object{
			{Key: "model", Value: body.Model},
			{Key: "max_completion_tokens", Value: turn.OutputLen},
			{Key: "stream", Value: body.Streams()},
			{Key: "language", Value: "en"},
		}
		if body.Streams() { // servers refuse these otherwise
			object = append(object, pyjson.Member{Key: "stream_include_usage", Value: true},
				pyjson.Member{Key: "stream_continuous_usage_stats", Value: true})
		}
		settings, err := body.Members(object, turn)
		if err != nil {
			return nil, err
		}
		const overhead = 256 // of a part, at most; a longer value grows the form
		f := form{boundary, make([]byte, 0, len(file.Data)+overhead*(len(settings)+2))}
		f.file(file)
		for _, m := range settings {
			f.field(m.Key, m.Value)
		}
		return f.end(), nil
	}
}

// contentType is the media type of a form that Encoder made.
func contentType(form []byte) string {
	line, _, _ := bytes.Cut(form, []byte("\r\n"))
	return "multipart/form-data; boundary=" + string(bytes.TrimPrefix(line, []byte("--")))
}

// Sender returns what sends forms to an endpoint, which it changes.
func Sender(to *exchange.Endpoint) engine.Sender {
	to.Protocol, to.ContentType = protocol, contentType
	return to.Send
}

// newBoundary is a line that no file contains. It is as long as in vLLM's client.
func newBoundary() string {
	var b [16]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}
