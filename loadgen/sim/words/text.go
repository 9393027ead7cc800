// Package words makes the text of a simulated server's answers: random words of its tokenizer, the same for
// the same prompt and seed.
//
// A Vocabulary has the words that are one token each, a Text is one answer, and Asked says what it depends on.
package words

import (
	"encoding/binary"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/servebench/servebench/loadgen/sim/speed"
)

// An Asked is what an answer depends on.
type Asked struct {
	Seed   uint64 // of the server
	Number int64  // of the request
	Prompt []int  // token ids; negative ones are marks, which do not change the answer
	Chat   bool   // the answer begins a message; otherwise it continues the prompt

	MaxTokens, MinTokens int
	IgnoreEOS            bool // it ends at MaxTokens alone

	// Lengths are the lengths of answers that nothing else ends before MaxTokens. Without any, Mean is
	// their mean.
	Lengths *speed.Lengths
	Mean    int
}

// A Text makes the words of one answer, token by token: ids drawn uniformly from the plain words.
// If the text ends before its limit, its last token is the model's end-of-sequence token, which
// counts but has no text. It is not safe for concurrent use.
type Text struct {
	words *Vocabulary
	rand  *rand.Rand
	ahead []int  // ids drawn already
	last  int    // the token before the next one, -1 for none
	shown string // its text alone
	left  int    // tokens to come
	stops bool   // it ends before its limit
}

// Text starts an answer and sets its length: MaxTokens or, without IgnoreEOS, one of Lengths if that is
// shorter. Without Lengths, the length is geometrically distributed, as if every token had the same
// chance of being the last.
func (w *Vocabulary) Text(a Asked) *Text {
	h := fnv.New64a()
	for _, id := range a.Prompt {
		if id >= 0 {
			h.Write(binary.LittleEndian.AppendUint32(nil, uint32(id)))
		}
	}
	t := &Text{words: w, rand: rand.New(rand.NewPCG(a.Seed, h.Sum64())), last: -1, left: a.MaxTokens}
	if !a.IgnoreEOS {
		if n := max(t.length(&a), a.MinTokens); n < a.MaxTokens {
			t.EndAfter(n)
		}
	}
	if !a.Chat {
		t.follow(a.Prompt[len(a.Prompt)-1])
	}
	return t
}

// EndAfter makes the text end by itself after n tokens, before any was made.
func (t *Text) EndAfter(n int) { t.left, t.stops = n, true }

// Left is how many tokens are to come.
func (t *Text) Left() int { return t.left }

// Stops reports whether the text ends by itself, before its limit.
func (t *Text) Stops() bool { return t.stops }

// Draw is a number for what else is random about the answer. It changes the words that are to come.
func (t *Text) Draw() uint64 { return t.rand.Uint64() }

// outputStride is the stride of output lengths; see speed.Lengths.
const outputStride = math.Phi - 1

func (t *Text) length(a *Asked) int {
	if !a.Lengths.None() {
		return a.Lengths.At(a.Number, outputStride)
	}
	return geometric(t.rand, a.Mean)
}

// geometric draws a number from 1 up, with that mean.
func geometric(r *rand.Rand, mean int) int {
	return 1 + int(math.Log(1-r.Float64())/math.Log(1-1/float64(mean)))
}

// Append adds the text of the next n tokens to dst.
func (t *Text) Append(dst []byte, n int) []byte {
	for range n {
		if t.left--; t.left == 0 && t.stops {
			break
		}
		dst = append(dst, t.word()...)
	}
	return dst
}

// IDs draws the ids of the whole answer ahead and returns them, with end as the end-of-sequence token.
func (t *Text) IDs(end int) []int {
	for len(t.ahead) < t.left {
		t.ahead = append(t.ahead, t.words.draw(t.rand))
	}
	if t.stops {
		t.ahead[t.left-1] = end
	}
	return t.ahead
}

// word is what the next token adds to the text of the previous one.
func (t *Text) word() string {
	var id int
	if len(t.ahead) > 0 {
		id, t.ahead = t.ahead[0], t.ahead[1:]
	} else {
		id = t.words.draw(t.rand)
	}
	ids := []int{id}
	if t.last >= 0 {
		ids = []int{t.last, id}
	}
	word := strings.TrimPrefix(t.words.tokens.Decode(ids), t.shown)
	t.follow(id)
	return word
}

func (t *Text) follow(id int) {
	t.last, t.shown = id, t.words.tokens.Decode([]int{id})
}
