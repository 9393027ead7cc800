package sessions

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/draw"
)

// Random makes sessions of random tokens, as the Rust client of vLLM does with --multi-turn and its
// random dataset. Lengths and structure are that client's. Tokens are not: it draws from Rust's
// generator, and here each draw depends on the seed, the session and the turn alone, so the number
// of sessions and the shards change nothing.
//
// A turn adds its tokens to the history, which has the server's answers. With Shared parts
// there is no history: each turn is a prompt of the Input length (Later after the first), and begins
// with a part that all sessions share and a part that the turns of a session share. A MaxModelLen of 0 cuts nothing.
type Random struct {
	dataset.Options      // with a Tokenizer; Num sessions
	Chat            bool // the endpoint takes messages
	Turns           TurnRange
	Lengths         Lengths
	Shared          Shared
	Delay           float64 // seconds from an answer to the next turn
	MaxModelLen     int     // cuts sessions to so many tokens; drops any of one turn
}

// A TurnRange is from how many turns to how many a session has, drawn evenly.
type TurnRange struct{ Min, Max int }

// Lengths are numbers of tokens.
type Lengths struct {
	Input  int // of the first turn, with special tokens and without the prefix
	Later  int // that each later turn adds; 0: Input
	Output int // to ask for
	Prefix int // that all sessions begin with, or all turns without history
	Ratio  dataset.RangeRatio
}

// Shared is what turns have in common, as shares of the length of the first turn.
type Shared struct {
	Global       float64 // that all turns of all sessions begin with
	Conversation float64 // that the turns of a session have next
}

// any reports whether turns share parts in place of a history.
func (s *Shared) any() bool { return s.Global > 0 || s.Conversation > 0 }

// Open checks the fields. It returns the source and the number of its sessions.
func (d Random) Open() (dataset.Source, int, error) {
	r, err := d.checked()
	if err != nil {
		return nil, 0, err
	}
	if d.MaxModelLen == 0 {
		return dataset.Numbered(d.Num, r.session), d.Num, nil
	}
	kept, err := fitting(dataset.Numbered(d.Num, r.session))
	if err != nil {
		return nil, 0, err
	}
	if left := d.Num - len(kept); left > 0 {
		notice(&d.Options, "random: %d of %d sessions have fewer than 2 turns within %d tokens and are left out", left,
			d.Num, d.MaxModelLen)
	}
	if len(kept) == 0 {
		return nil, 0, fmt.Errorf("no session has 2 turns within %d tokens", d.MaxModelLen)
	}
	return dataset.Numbered(len(kept), func(i int) (*dataset.Conversation, error) { return r.session(kept[i]) }),
		len(kept), nil
}

// fitting is the numbers of the sessions that have at least two turns.
func fitting(src dataset.Source) (kept []int, err error) {
	i := 0
	for c, err := range src {
		if err != nil {
			return nil, err
		}
		if len(c.Turns) >= 2 {
			kept = append(kept, i)
		}
		i++
	}
	return kept, nil
}

// within is c without the turns from the first on that exceeds so many tokens with its answer.
func within(c *dataset.Conversation, tokens int) *dataset.Conversation {
	for i, t := range c.Turns {
		if tokens > 0 && t.PromptLen+t.OutputLen > tokens {
			c.Turns = c.Turns[:i]
			break
		}
	}
	return c
}

// random is a checked Random, with values derived from its fields.
type random struct {
	of                         Random
	allowed                    []int
	first, later               int    // tokens of the turns, without special ones
	prefix, global             string // texts that all sessions have
	globalLen, conversationLen int    // tokens
}

func (d Random) checked() (*random, error) {
	if d.Tokenizer == nil {
		return nil, errors.New("random: sessions of several turns need a tokenizer, to send text")
	}
	allowed, err := d.Allowed()
	if err != nil {
		return nil, err
	}
	r := &random{of: d, allowed: allowed, first: d.Lengths.Input - d.Tokenizer.NumSpecial()}
	r.later = r.first
	if d.Lengths.Later > 0 {
		r.later = d.Lengths.Later - d.Tokenizer.NumSpecial()
	}
	r.globalLen = int(float64(r.first) * d.Shared.Global)
	r.conversationLen = int(float64(r.first) * d.Shared.Conversation)
	by := d.Lengths.Ratio
	switch {
	case d.Num < 1:
		return nil, fmt.Errorf("number of sessions %d: must be at least 1", d.Num)
	case d.Turns.Min < 1 || d.Turns.Max < d.Turns.Min:
		return nil, fmt.Errorf("%d to %d turns: must be at least 1, and in order", d.Turns.Min, d.Turns.Max)
	case r.first < 1:
		return nil, fmt.Errorf("input length %d: must be above the tokenizer's %d special tokens", d.Lengths.Input,
			d.Tokenizer.NumSpecial())
	case r.later < 1:
		return nil, fmt.Errorf("input length per turn %d: must be above the tokenizer's %d special tokens",
			d.Lengths.Later, d.Tokenizer.NumSpecial())
	case d.Lengths.Output < 1:
		return nil, fmt.Errorf("output length %d: must be at least 1", d.Lengths.Output)
	case d.Lengths.Prefix < 0:
		return nil, fmt.Errorf("prefix length %d: must not be negative", d.Lengths.Prefix)
	case !ratio(d.Shared.Global) || !ratio(d.Shared.Conversation) || d.Shared.Global+d.Shared.Conversation > 1:
		return nil, fmt.Errorf("prefix ratios %v and %v: must not be negative, and at most 1 together", d.Shared.Global,
			d.Shared.Conversation)
	case !ratio(by.Input) || !ratio(by.Output) || by.Input == 1 || by.Output == 1:
		return nil, fmt.Errorf("range ratios %v and %v: must be at least 0 and below 1", by.Input, by.Output)
	case d.Shared.any() && r.later <= r.globalLen+r.conversationLen:
		return nil, fmt.Errorf("input length per turn %d: the shared parts of %d and %d tokens leave none for the turn",
			r.later, r.globalLen, r.conversationLen)
	case !(d.Delay >= 0):
		return nil, fmt.Errorf("delay %v s: must not be negative", d.Delay)
	}
	r.prefix = r.text(d.Lengths.Prefix, "prefix")
	r.global = r.text(r.globalLen, "global")
	return r, nil
}

func ratio(r float64) bool { return r >= 0 && r <= 1 }

// text is n successive tokens from a place that depends on the key.
func (r *random) text(n int, what string, key ...int) string {
	if n == 0 {
		return ""
	}
	rng := draw.Keyed(r.of.Seed, what, key...)
	at := int(rng.Random() * float64(len(r.allowed)))
	next := func() int {
		id := r.allowed[at%len(r.allowed)]
		at++
		return id
	}
	ids := make([]int, n)
	for i := range ids {
		ids[i] = next()
	}
	return dataset.Fit(r.of.Tokenizer, ids, n, next)
}

// length draws around n, as dataset.RangeRatio has it.
func (r *random) length(n int, ratio float64, what string, key ...int) int {
	low, high := math.Floor(float64(n)*(1-ratio)), math.Ceil(float64(n)*(1+ratio))
	rng := draw.Keyed(r.of.Seed, what, key...)
	return max(1, int(low)+int(rng.Random()*(high-low+1)))
}

// session makes session number i.
func (r *random) session(i int) (*dataset.Conversation, error) {
	c := &dataset.Conversation{ID: r.of.IDPrefix + strconv.Itoa(i)}
	rng := draw.Keyed(r.of.Seed, "turns", i)
	turns := r.of.Turns.Min + int(rng.Random()*float64(r.of.Turns.Max-r.of.Turns.Min+1))
	shared := ""
	if r.of.Shared.any() {
		shared = r.prefix + r.global + r.text(r.conversationLen, "conversation", i)
	}
	count := counter{o: &r.of.Options}
	for k := range turns {
		n := r.first
		turn := dataset.Turn{OutputLen: r.length(r.of.Lengths.Output, r.of.Lengths.Ratio.Output, "output", i, k)}
		if k > 0 {
			n, turn.Gap = r.later, r.of.Delay
		}
		var text string
		if r.of.Shared.any() {
			text = shared + r.text(n-r.globalLen-r.conversationLen, "turn", i, k)
			turn.Waits, count = after(k), counter{o: &r.of.Options}
		} else {
			text = r.text(r.length(n, r.of.Lengths.Ratio.Input, "input", i, k), "turn", i, k)
			if k == 0 {
				text = r.prefix + text
			}
		}
		count.text(text)
		turn.PromptLen = count.prompt()
		count.answer(turn.OutputLen)
		switch {
		case r.of.Chat:
			turn.Messages = parts(text)
		case r.of.Shared.any():
			turn.Prompt = text
		default:
			turn.Prompt = asText(k, message{Content: text})
		}
		c.Turns = append(c.Turns, turn)
	}
	return within(c, r.of.MaxModelLen), nil
}

// after says that turn number k waits for the one before it, and has a complete prompt.
func after(k int) []dataset.Wait {
	if k == 0 {
		return []dataset.Wait{}
	}
	return []dataset.Wait{{Turn: k - 1, History: dataset.Nothing}}
}
