package tokenizer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// A document is the text of a tokenizer.json. Truncation and padding have no effect: transformers
// turns both off before it encodes a prompt.
type document struct {
	Version       string          `json:"version"`
	Truncation    json.RawMessage `json:"truncation"`
	Padding       json.RawMessage `json:"padding"`
	AddedTokens   []addedToken    `json:"added_tokens"`
	Normalizer    json.RawMessage `json:"normalizer"`
	PreTokenizer  json.RawMessage `json:"pre_tokenizer"`
	PostProcessor json.RawMessage `json:"post_processor"`
	Decoder       json.RawMessage `json:"decoder"`
	Model         json.RawMessage `json:"model"`

	bulk *bulk // of Model, or nil if Model is complete
}

// parse makes the tokenizer that data describes: the tokenizer.json at path, with the settings of its
// folder, which may be nil.
func parse(path string, data []byte, s *settings) (*pipeline, error) {
	if rest, b, ok := cut(data); ok {
		doc := document{bulk: b}
		if decode(rest, &doc) == nil {
			if t, err := newPipeline(&doc, s); err == nil {
				return t, nil
			}
		}
		// What follows finds the error again, at its place in the whole text.
	}
	return parseAll(path, data, s)
}

// parseAll is parse with encoding/json alone.
func parseAll(path string, data []byte, s *settings) (*pipeline, error) {
	var doc document
	if err := decode(data, &doc); err != nil {
		if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
			path = fmt.Sprintf("%s:%d", path, 1+bytes.Count(data[:syntax.Offset], []byte("\n")))
		}
		return nil, fmt.Errorf("%s: %w", path, plain(err))
	}
	t, err := newPipeline(&doc, s)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return t, nil
}

func absent(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }

// decode is json.Unmarshal that refuses fields it does not know.
func decode(data []byte, into any) error {
	if !json.Valid(data) {
		return json.Unmarshal(data, new(any))
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	return dec.Decode(into)
}
