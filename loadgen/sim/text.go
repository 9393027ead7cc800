package sim

import (
	"encoding/binary"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/servebench/servebench/loadgen/sim/steps"
)

// A text makes the words of one answer, token by token: ids drawn uniformly from the plain words.
// If the text ends before its limit, its last token is the model's end-of-sequence token, which
// counts but has no text.
type text struct {
	words  *vocabulary
	rand   *rand.Rand
	ahead  []int  // ids drawn already
	last   int    // the token before the next one, -1 for none
	shown  string // its text alone
	left   int    // tokens to come
	finish string // why it ends
}

// newText starts the answer to a query and sets its length: max_tokens or, without ignore_eos, the
// length from the profile if that is shorter. Without a profile, that length is geometrically
// distributed, as if every token had the same chance of being the last.
func newText(cfg *Config, w *vocabulary, q *query) *text {
	h := fnv.New64a()
	for _, id := range q.prompt {
		if id < 0 {
			continue // marks do not change the answer
		}
		h.Write(binary.LittleEndian.AppendUint32(nil, uint32(id)))
	}
	t := &text{
		words:  w,
		rand:   rand.New(rand.NewPCG(cfg.Seed, h.Sum64())),
		last:   -1,
		left:   q.maxTokens,
		finish: steps.Length,
	}
	if !q.ignoreEOS {
		n := max(t.length(cfg, q), q.minTokens)
		if n < q.maxTokens {
			t.left, t.finish = n, steps.Stop
		}
	}
	if !q.chat {
		t.follow(q.prompt[len(q.prompt)-1])
	}
	return t
}

// outputStride is the stride of output lengths; see speed.Lengths.
const outputStride = math.Phi - 1

func (t *text) length(cfg *Config, q *query) int {
	if lengths := &cfg.Profile.OutputLen; !lengths.None() {
		return lengths.At(q.number, outputStride)
	}
	return geometric(t.rand, cfg.Answers.MeanLen)
}

// geometric draws a number from 1 up, with that mean.
func geometric(r *rand.Rand, mean int) int {
	return 1 + int(math.Log(1-r.Float64())/math.Log(1-1/float64(mean)))
}

// append adds the text of the next n tokens to dst.
func (t *text) append(dst []byte, n int) []byte {
	for range n {
		if t.left--; t.left == 0 && t.finish == steps.Stop {
			break
		}
		dst = append(dst, t.word()...)
	}
	return dst
}

// ids draws the ids of the whole answer ahead and returns them.
func (t *text) ids() []int {
	for len(t.ahead) < t.left {
		t.ahead = append(t.ahead, t.words.draw(t.rand))
	}
	if t.finish == steps.Stop {
		t.ahead[t.left-1] = markEnd
	}
	return t.ahead
}

// word is what the next token adds to the text of the previous one.
func (t *text) word() string {
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

func (t *text) follow(id int) {
	t.last, t.shown = id, t.words.tokens.Decode([]int{id})
}
