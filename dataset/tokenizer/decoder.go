package tokenizer

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A decoder rewrites the tokens of a text before they are joined. It may rewrite
// them in place.
type decoder func(tokens []string) []string

// spaced is the decoder of a document without one.
func spaced(tokens []string) []string { return []string{strings.Join(tokens, " ")} }

// newDecoder reads the decoder of a document.
func newDecoder(raw json.RawMessage) (decoder, error) {
	if absent(raw) {
		return spaced, nil
	}
	var d decoder
	var err error
	switch typeOf(raw) {
	case "Sequence":
		return newDecoders(raw)
	case "ByteLevel":
		d = decodeByteLevel
	case "ByteFallback":
		d = decodeFallback
	case "Fuse":
		d = func(tokens []string) []string { return []string{strings.Join(tokens, "")} }
	case "Replace":
		var replace func(string) string
		replace, err = newReplace(raw)
		d = eachToken(func(_ int, token string) string { return replace(token) })
	case "Strip":
		d, err = newStripDecoder(raw)
	case "Metaspace":
		d, err = newMetaspaceDecoder(raw)
	default:
		return nil, unsupported("decoder", raw)
	}
	if err != nil {
		err = fmt.Errorf("decoder: %w", err)
	}
	return d, err
}

func newDecoders(raw json.RawMessage) (decoder, error) {
	var sequence struct {
		Type     string            `json:"type"`
		Decoders []json.RawMessage `json:"decoders"`
	}
	if err := decode(raw, &sequence); err != nil {
		return nil, fmt.Errorf("decoder: %w", err)
	}
	all := make([]decoder, len(sequence.Decoders))
	for i, raw := range sequence.Decoders {
		var err error
		if all[i], err = newDecoder(raw); err != nil {
			return nil, err
		}
	}
	return func(tokens []string) []string {
		for _, d := range all {
			tokens = d(tokens)
		}
		return tokens
	}, nil
}

func eachToken(rewrite func(i int, token string) string) decoder {
	return func(tokens []string) []string {
		for i, token := range tokens {
			tokens[i] = rewrite(i, token)
		}
		return tokens
	}
}

func decodeByteLevel(tokens []string) []string {
	size := 0
	for _, token := range tokens {
		size += len(token)
	}
	text := make([]byte, 0, size)
	for _, token := range tokens {
		text = appendUnprintable(text, token)
	}
	return []string{valid(string(text))}
}

// decodeFallback turns runs of byte tokens into text. If a run is not UTF-8, each of
// its bytes becomes a replacement character.
func decodeFallback(tokens []string) []string {
	var out []string
	var run []byte
	flush := func() {
		if utf8.Valid(run) {
			out = append(out, string(run))
		} else {
			out = append(out, slices.Repeat([]string{"\ufffd"}, len(run))...)
		}
		run = run[:0]
	}
	for _, token := range tokens {
		if isFallback(token) {
			if b, err := strconv.ParseUint(token[3:5], 16, 8); err == nil {
				run = append(run, byte(b))
				continue
			}
		}
		if len(run) > 0 {
			flush()
		}
		out = append(out, token)
	}
	if len(run) > 0 {
		flush()
	}
	return out
}

func newStripDecoder(raw json.RawMessage) (decoder, error) {
	var strip struct {
		Type    string `json:"type"`
		Content string `json:"content"`
		Start   int    `json:"start"`
		Stop    int    `json:"stop"`
	}
	if err := decode(raw, &strip); err != nil {
		return nil, err
	}
	if utf8.RuneCountInString(strip.Content) != 1 {
		return nil, fmt.Errorf("content %q is not one character", strip.Content)
	}
	return eachToken(func(_ int, token string) string {
		for n := 0; n < strip.Start && strings.HasPrefix(token, strip.Content); n++ {
			token = token[len(strip.Content):]
		}
		for n := 0; n < strip.Stop && strings.HasSuffix(token, strip.Content); n++ {
			token = token[:len(token)-len(strip.Content)]
		}
		return token
	}), nil
}

func newMetaspaceDecoder(raw json.RawMessage) (decoder, error) {
	m, err := readMetaspace(raw)
	return eachToken(func(i int, token string) string {
		if i == 0 && m.PrependScheme != "never" {
			return strings.ReplaceAll(token, m.Replacement, "")
		}
		return strings.ReplaceAll(token, m.Replacement, " ")
	}), err
}
