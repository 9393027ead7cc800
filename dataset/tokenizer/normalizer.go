package tokenizer

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// A normalizer rewrites a text before it is cut into words.
type normalizer func(text string) string

func unchanged(text string) string { return text }

// newNormalizer reads the normalizer of a document.
func newNormalizer(raw json.RawMessage) (normalizer, error) {
	if absent(raw) {
		return unchanged, nil
	}
	var n normalizer
	var err error
	switch typeOf(raw) {
	case "Sequence":
		return newNormalizers(raw)
	case "NFC":
		n = canonical(norm.NFC)
	case "NFKC":
		n = canonical(norm.NFKC)
	case "Prepend":
		n, err = newPrepend(raw)
	case "Replace":
		var replace func(string) string
		replace, err = newReplace(raw)
		n = replace
	case "Strip":
		n, err = newStrip(raw)
	default:
		return nil, unsupported("normalizer", raw)
	}
	if err != nil {
		err = fmt.Errorf("normalizer: %w", err)
	}
	return n, err
}

func newNormalizers(raw json.RawMessage) (normalizer, error) {
	var sequence struct {
		Type        string            `json:"type"`
		Normalizers []json.RawMessage `json:"normalizers"`
	}
	if err := decode(raw, &sequence); err != nil {
		return nil, fmt.Errorf("normalizer: %w", err)
	}
	all := make([]normalizer, len(sequence.Normalizers))
	for i, raw := range sequence.Normalizers {
		var err error
		if all[i], err = newNormalizer(raw); err != nil {
			return nil, err
		}
	}
	return func(text string) string {
		for _, normalize := range all {
			text = normalize(text)
		}
		return text
	}, nil
}

func newPrepend(raw json.RawMessage) (normalizer, error) {
	var prepend struct {
		Type    string `json:"type"`
		Prepend string `json:"prepend"`
	}
	err := decode(raw, &prepend)
	return func(text string) string {
		if text == "" {
			return text
		}
		return prepend.Prepend + text
	}, err
}

// newReplace reads a Replace, which is a normalizer and a decoder.
func newReplace(raw json.RawMessage) (func(string) string, error) {
	var replace struct {
		Type    string `json:"type"`
		Pattern needle `json:"pattern"`
		Content string `json:"content"`
	}
	if err := decode(raw, &replace); err != nil {
		return nil, err
	}
	if replace.Pattern.String == "" {
		return nil, fmt.Errorf("replacing the pattern %q is not supported yet", replace.Pattern.Regex)
	}
	return func(text string) string {
		return strings.ReplaceAll(text, replace.Pattern.String, replace.Content)
	}, nil
}

func newStrip(raw json.RawMessage) (normalizer, error) {
	var strip struct {
		Type  string `json:"type"`
		Left  bool   `json:"strip_left"`
		Right bool   `json:"strip_right"`
	}
	err := decode(raw, &strip)
	return func(text string) string {
		if strip.Left {
			text = strings.TrimLeftFunc(text, unicode.IsSpace)
		}
		if strip.Right {
			text = strings.TrimRightFunc(text, unicode.IsSpace)
		}
		return text
	}, err
}
