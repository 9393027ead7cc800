package tokenizer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
)

// A unigram model has a score for each token, the logarithm of its probability. Of all ways to cut a
// word into tokens it takes the one with the highest sum.
//
// Source: Kudo, Subword Regularization, 2018, section 3.2, with the search of SentencePiece, which
// goes through the word once.
type unigram struct {
	vocab   *vocabulary
	scores  []float64 // of each id
	unknown int32
	missing float64 // the score of an unknown character
	// bytes has the token of each byte of an unknown character, or -1. It is nil without byte_fallback.
	bytes *[256]int32
}

// unknownPenalty is how much lower the score of an unknown character is than the lowest of a token.
const unknownPenalty = 10

// A unigramModel is a Unigram model as a file has it.
type unigramModel struct {
	Type         string  `json:"type"`
	Unknown      *int32  `json:"unk_id,omitzero"`
	Vocab        []piece `json:"vocab"`
	ByteFallback bool    `json:"byte_fallback,omitzero"`
}

// A piece is a token and its score: ["▁the", -3.1].
type piece struct {
	text  string
	score float64
}

func (p *piece) UnmarshalJSON(raw []byte) error {
	var pair []json.RawMessage
	if err := json.Unmarshal(raw, &pair); err != nil {
		return err
	}
	if len(pair) != 2 || absent(pair[0]) {
		return fmt.Errorf("%s is not a token and its score", raw)
	}
	if err := json.Unmarshal(pair[0], &p.text); err != nil {
		return err
	}
	var ok bool
	if p.score, ok = score(pair[1]); !ok {
		return fmt.Errorf("%s is no score", pair[1])
	}
	return nil
}

// newUnigram reads a model of type Unigram, whose vocabulary is in b unless it is nil.
func newUnigram(s section, b *bulk) (*unigram, error) {
	var file unigramModel
	if err := s.read(&file); err != nil {
		return nil, err
	}
	if b == nil || b.scores == nil {
		var err error
		if b, err = file.bulk(); err != nil {
			return nil, s.errorf("%w", err)
		}
	}
	if file.Unknown == nil {
		return nil, s.errorf("a file without unk_id is not supported yet")
	}
	if id := *file.Unknown; id < 0 || int(id) >= len(b.scores) {
		return nil, s.errorf("unk_id %d is not in the vocabulary", id)
	}
	m := &unigram{
		vocab: b.vocab, scores: b.scores,
		unknown: *file.Unknown, missing: slices.Min(b.scores) - unknownPenalty,
	}
	if file.ByteFallback {
		m.bytes = fallbacks(b.vocab)
	}
	return m, nil
}

// bulk is the vocabulary as encoding/json reads it.
func (m *unigramModel) bulk() (*bulk, error) {
	if len(m.Vocab) > maxID+1 {
		return nil, fmt.Errorf("the vocabulary has %d tokens, more than %d", len(m.Vocab), maxID+1)
	}
	texts, scores := make([]string, len(m.Vocab)), make([]float64, len(m.Vocab))
	for id, p := range m.Vocab {
		texts[id], scores[id] = p.text, p.score
	}
	return &bulk{vocab: vocabularyOfPieces(texts), scores: scores}, nil
}

// score reads a number as Hugging Face's library does: it takes the digits that fit into 64 bits for
// an integer, and multiplies or divides it by a power of ten. This rounds twice. Which of two sums of
// scores is the higher one can depend on it.
func score(text []byte) (float64, bool) {
	rest, negative := bytes.CutPrefix(text, []byte("-"))
	digits, power, point, full := uint64(0), 0, false, false
	for i, c := range rest {
		switch {
		case c == '.' && digit(rest, i-1) && digit(rest, i+1) && !point:
			point = true
			continue
		case (c == 'e' || c == 'E') && digit(rest, i-1):
			more, err := strconv.Atoi(string(rest[i+1:]))
			value, ok := scaled(digits, power+more, negative)
			return value, ok && err == nil
		case !digit(rest, i) || i == 1 && rest[0] == '0':
			return 0, false
		}
		full = full || digits > (math.MaxUint64-uint64(c-'0'))/10
		if !full {
			digits = digits*10 + uint64(c-'0')
		}
		if point && !full {
			power--
		} else if full && !point {
			power++
		}
	}
	value, ok := scaled(digits, power, negative)
	return value, ok && len(rest) > 0
}

func digit(text []byte, i int) bool {
	return i >= 0 && i < len(text) && '0' <= text[i] && text[i] <= '9'
}

// scaled is digits × 10^power, or its negative. It is not ok where no float64 has that power.
func scaled(digits uint64, power int, negative bool) (value float64, ok bool) {
	const largest = 308
	switch value = float64(digits); {
	case power < -largest || power > largest:
		return 0, false
	case power < 0:
		value /= math.Pow10(-power)
	default:
		value *= math.Pow10(power)
	}
	if negative {
		value = -value
	}
	return value, !math.IsInf(value, 0)
}

func (m *unigram) words() *vocabulary { return m.vocab }

func (m *unigram) tokens(w *word, text string) []int32 { return w.recalled(m.vocab, text, m.best) }

// An ending is the last token of the best way to cut the beginning of a word.
type ending struct {
	score float64 // of that way
	start int32   // of the token; -1 if there is no way yet
	id    int32
}

// best are the tokens of the best way to cut a word.
func (m *unigram) best(w *word, text string) []int32 {
	ends := slices.Grow(w.ends[:0], len(text)+1)[:len(text)+1]
	w.ends = ends
	for i := range ends {
		ends[i] = ending{start: -1}
	}
	for start := 0; start < len(text); {
		_, width := runeAt(text, start)
		till, single := ends[start].score, false
		step := walk{prefixes: m.vocab.pieces, hash: prefixSeed, text: text[start:]}
		for {
			id, ok := step.next()
			if !ok {
				break
			}
			ends[start+step.end].offer(till+m.scores[id], start, id)
			single = single || step.end == width
		}
		if !single {
			ends[start+width].offer(till+m.missing, start, m.unknown)
		}
		start += width
	}
	w.ids = w.ids[:0]
	for end := len(text); end > 0; {
		start, id := m.token(ends, end)
		w.ids = m.put(w.ids, text[start:end], id)
		end = start
	}
	slices.Reverse(w.ids)
	return w.ids
}

func (e *ending) offer(score float64, start int, id int32) {
	if e.start < 0 || score > e.score {
		*e = ending{score, int32(start), id}
	}
}

// token is the token that ends there. Unknown ones side by side are one.
func (m *unigram) token(ends []ending, end int) (start int, id int32) {
	id = ends[end].id
	for start = int(ends[end].start); id == m.unknown && start > 0 && ends[start].id == m.unknown; {
		start = int(ends[start].start)
	}
	return start, id
}

// put appends a token, backwards. An unknown one becomes its bytes.
func (m *unigram) put(ids []int32, text string, id int32) []int32 {
	if id != m.unknown {
		return append(ids, id)
	}
	if known, ok := m.vocab.id(text); ok {
		return append(ids, known)
	}
	before := len(ids)
	for i := len(text) - 1; m.bytes != nil && i >= 0; i-- {
		if m.bytes[text[i]] < 0 {
			return append(ids[:before], id)
		}
		ids = append(ids, m.bytes[text[i]])
	}
	if m.bytes == nil {
		return append(ids, id)
	}
	return ids
}
