package dataset

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/servebench/servebench/dataset/jinja"
	"github.com/servebench/servebench/dataset/nprand"
	"github.com/servebench/servebench/dataset/tokenizer"
)

// Options are what datasets have in common. Each dataset says which of them it needs; it ignores
// the others.
type Options struct {
	// Path is the file to read. Random and PrefixRepetition read none.
	Path string
	// Num is how many conversations to make. For Custom, SpecBench, SpeedBench and files of package
	// replay, 0 or less means all in the file.
	Num int
	// Seed is the seed of the draws: of lengths, of the order, of what repeats.
	Seed int64

	// Tokenizer counts the tokens of prompts, and makes text of token ids. Without a tokenizer,
	// datasets of token ids send the ids, and Custom, SpecBench and SpeedBench count every prompt
	// as one token.
	Tokenizer tokenizer.Tokenizer
	// VocabSize bounds the ids of datasets that make them, if there is no Tokenizer.
	VocabSize int
	// Template renders each prompt before it is sent. Nil sends prompts as they are.
	Template Template

	// DisableShuffle keeps the order of the file.
	DisableShuffle bool
	// NoOversample sends fewer than Num conversations if the file has fewer, and none of them
	// twice.
	NoOversample bool
	// IDPrefix begins the request ids; a number from 0 follows it.
	IDPrefix string

	// NumPy, if not nil, becomes numpy's global generator in the state that vLLM's client has when
	// it draws arrival times. PrefixRepetition, TimedTrace and Random set it.
	NumPy *nprand.RandomState
	// Python, if not nil, becomes the generator of CPython's module random in the state that vLLM's
	// client has after it made the dataset. Every dataset of vLLM 0.33.0 sets it; others leave it as
	// it is.
	Python *nprand.Python
	// Log receives notices for people. Nil drops them.
	Log func(format string, args ...any)
}

// A Template renders a prompt, as the only message of a user, into the text that a model should
// complete. It must be safe for concurrent use.
type Template func(prompt string) (string, error)

// OpenTemplate reads the chat template in a model's folder. The template also gets
// the variables of kwargs, which may be nil, and asks now for the date. An error of
// rendering names the line of the template.
func OpenTemplate(folder string, kwargs *jinja.Kwargs, now func() time.Time) (Template, error) {
	t, err := jinja.Open(folder)
	if err != nil {
		return nil, err
	}
	t.Now = now
	return func(prompt string) (string, error) {
		return t.Render([]jinja.Message{{Role: "user", Content: prompt}}, kwargs)
	}, nil
}

// Notice passes a notice to the Log, in the way of fmt.Printf.
func (o *Options) Notice(format string, args ...any) {
	if o.Log != nil {
		o.Log(format, args...)
	}
}

// leave makes rng the Python generator, if there is to be one.
func (o *Options) leave(rng *nprand.Python) {
	if o.Python != nil {
		*o.Python = *rng
	}
}

// CheckNum refuses a dataset without conversations.
func (o *Options) CheckNum() error {
	if o.Num < 1 {
		return fmt.Errorf("number of prompts %d: must be at least 1", o.Num)
	}
	return nil
}

// checkSeed refuses a seed that numpy's RandomState does not accept.
func (o *Options) checkSeed() error {
	if o.Seed < 0 || o.Seed > math.MaxUint32 {
		return fmt.Errorf("seed %d: must be between 0 and %d", o.Seed, uint32(math.MaxUint32))
	}
	return nil
}

// vocabulary is the number of token ids, and the special ones.
func (o *Options) vocabulary() (size int, special []int) {
	if o.Tokenizer != nil {
		return o.Tokenizer.VocabSize(), o.Tokenizer.SpecialIDs()
	}
	return o.VocabSize, nil
}

// Allowed is the ids that prompts may be made of, ascending: all that are not special.
func (o *Options) Allowed() ([]int, error) {
	size, special := o.vocabulary()
	ids := without(size, special)
	if len(ids) == 0 {
		return nil, errNoTokens(size)
	}
	return ids, nil
}

// errNoTokens says that a vocabulary has no id for a prompt.
func errNoTokens(size int) error {
	return fmt.Errorf("a vocabulary of %d tokens leaves none to make prompts of", size)
}

// fill sets the prompt of turn to ids, or to their text if there is a tokenizer.
func (o *Options) fill(turn *Turn, ids []int) {
	turn.PromptLen = len(ids)
	if o.Tokenizer == nil {
		turn.TokenIDs = ids
	} else {
		turn.Prompt = o.Tokenizer.Decode(ids)
	}
}

// Conversation is number i, of one turn.
func (o *Options) Conversation(i int, turn Turn) *Conversation {
	c := &struct {
		Conversation
		turns [1]Turn
	}{Conversation{ID: o.IDPrefix + strconv.Itoa(i)}, [1]Turn{turn}} // one allocation
	c.Turns = c.turns[:]
	return &c.Conversation
}

// Oversample is the positions of the want conversations to send, out of have > 0: all in order,
// then some again. As in vLLM's client, rng is seeded again before it draws those.
func (o *Options) Oversample(rng *nprand.Python, have, want int) []int {
	order := indices(want)
	if want > have {
		*rng = *nprand.NewPython(o.Seed)
		for i := have; i < want; i++ {
			order[i] = rng.Intn(have)
		}
	}
	return order
}

// indices is 0 to n−1.
func indices(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}
