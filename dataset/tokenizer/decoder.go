package tokenizer

import (
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

// decoderKinds are the kinds of decoders that a document may have.
func decoderKinds() []kind[decoder] {
	return []kind[decoder]{
		{name: "Sequence", read: newDecoders},
		{name: "BPEDecoder", read: newBPEDecoder},
		{name: "ByteFallback", read: fixed(decoder(decodeFallback))},
		{name: "ByteLevel", read: newByteLevelDecoder},
		{name: "Fuse", read: fixed(decoder(fused))},
		{name: "Metaspace", read: newMetaspaceDecoder},
		{name: "Replace", read: newReplaceDecoder, but: "regular expressions: as in Split"},
		{name: "Strip", read: newStripDecoder},
		{name: "WordPiece", read: newWordPieceDecoder},
	}
}

// newDecoder reads the decoder of a document.
func newDecoder(s section) (decoder, error) {
	if s.absent() {
		return spaced, nil
	}
	return choose(s, decoderKinds())
}

func newDecoders(s section) (decoder, error) {
	all, err := readAll(s, "decoders", newDecoder)
	return func(tokens []string) []string {
		for _, d := range all {
			tokens = d(tokens)
		}
		return tokens
	}, err
}

func fused(tokens []string) []string { return []string{strings.Join(tokens, "")} }

func newReplaceDecoder(s section) (decoder, error) {
	r, err := newReplace(s)
	return eachToken(func(_ int, token string) string { return r.replace(token) }), err
}

// newByteLevelDecoder reads a ByteLevel, whose fields only matter for a pre-tokenizer.
func newByteLevelDecoder(s section) (decoder, error) {
	_, err := newByteLevel(s)
	return decodeByteLevel, err
}

// newBPEDecoder reads the decoder of a model that marks the ends of words.
func newBPEDecoder(s section) (decoder, error) {
	var bpe struct {
		Type   string `json:"type"`
		Suffix string `json:"suffix"`
	}
	err := s.read(&bpe)
	return func(tokens []string) []string {
		for i, token := range tokens {
			space := " "
			if i == len(tokens)-1 {
				space = ""
			}
			tokens[i] = strings.ReplaceAll(token, bpe.Suffix, space)
		}
		return tokens
	}, err
}

// newWordPieceDecoder reads the decoder that puts a space before each token that begins a word.
func newWordPieceDecoder(s section) (decoder, error) {
	var wordPiece struct {
		Type    string `json:"type"`
		Prefix  string `json:"prefix"`
		Cleanup bool   `json:"cleanup"`
	}
	err := s.read(&wordPiece)
	return eachToken(func(i int, token string) string {
		if i > 0 {
			rest, within := strings.CutPrefix(token, wordPiece.Prefix)
			if token = rest; !within {
				token = " " + rest
			}
		}
		if wordPiece.Cleanup {
			token = strings.ReplaceAll(cleanUp(token), " do not", " don't")
		}
		return token
	}), err
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

func newStripDecoder(s section) (decoder, error) {
	var strip struct {
		Type    string `json:"type"`
		Content string `json:"content"`
		Start   uint32 `json:"start"`
		Stop    uint32 `json:"stop"`
	}
	if err := s.read(&strip); err != nil {
		return nil, err
	}
	if utf8.RuneCountInString(strip.Content) != 1 {
		return nil, s.errorf("content %q is not one character", strip.Content)
	}
	return eachToken(func(_ int, token string) string {
		for n := uint32(0); n < strip.Start && strings.HasPrefix(token, strip.Content); n++ {
			token = token[len(strip.Content):]
		}
		for n := uint32(0); n < strip.Stop && strings.HasSuffix(token, strip.Content); n++ {
			token = token[:len(token)-len(strip.Content)]
		}
		return token
	}), nil
}

func newMetaspaceDecoder(s section) (decoder, error) {
	m, err := readMetaspace(s)
	return eachToken(func(i int, token string) string {
		if i == 0 && m.PrependScheme != "never" {
			return strings.ReplaceAll(token, m.Replacement, "")
		}
		return strings.ReplaceAll(token, m.Replacement, " ")
	}), err
}
