package dataset

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/servebench/servebench/dataset/nprand"
	"github.com/servebench/servebench/dataset/rows"
)

// ShareGPT takes the first question and answer of conversations in a JSON file, as vLLM's sharegpt
// dataset does: [{"conversations": [{"value": …}, …]}, …]. It leaves out conversations of fewer
// than two messages, and those that are too short or too long. The seed decides the order, and
// which conversations repeat.
type ShareGPT struct {
	Options       // with a Tokenizer
	OutputLen int // tokens to ask for; 0: as many as the recorded answer has

	// Attach adds the image or the video of a conversation to its turn, as URLs or paths; at most one of
	// the two is not empty. It is called for each turn, of several turns at the same time. Nil leaves them
	// out.
	Attach func(turn *Turn, image, video string)
}

// Limits of lengths in tokens, as in vLLM's client.
const (
	minShareGPTLen    = 4
	maxShareGPTPrompt = 1024
	maxShareGPTTotal  = 2048
)

// Open reads the file. It returns the source and the number of its conversations.
func (d ShareGPT) Open() (Source, int, error) {
	if d.Tokenizer == nil {
		return nil, 0, errors.New("sharegpt: needs a tokenizer, to choose conversations by length")
	}
	if err := d.CheckNum(); err != nil {
		return nil, 0, err
	}
	if d.OutputLen < 0 {
		return nil, 0, fmt.Errorf("output length %d: must not be negative", d.OutputLen)
	}
	f, err := os.Open(d.Path)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	turns, order, err := d.choose(f, nprand.NewPython(d.Seed))
	if err != nil {
		return nil, 0, err
	}
	source := func(yield func(*Conversation, error) bool) {
		for i, k := range order {
			if !yield(d.Conversation(i, turns[k]), nil) {
				return
			}
		}
	}
	return source, len(order), nil
}

// choose returns the turns that fit, and the order in which to send them.
func (d ShareGPT) choose(file io.ReadSeeker, rng *nprand.Python) ([]Turn, []int, error) {
	array := rows.Array{Name: d.Path, File: file}
	exchanges, err := readExchanges(array)
	if err != nil {
		return nil, nil, err
	}
	if !d.DisableShuffle {
		rng.Shuffle(len(exchanges), func(i, j int) { exchanges[i], exchanges[j] = exchanges[j], exchanges[i] })
	}
	type made struct {
		turn  Turn
		err   error
		after int64
	}
	var turns []Turn
	for m := range ordered(slices.Values(exchanges), ahead, func(e exchange) made {
		turn, err := d.turn(e)
		return made{turn, err, e.after}
	}) {
		if m.err != nil {
			return nil, nil, array.Fault(m.after, m.err)
		}
		if !d.fits(m.turn) {
			continue
		}
		if turns = append(turns, m.turn); len(turns) == d.Num {
			break
		}
	}
	if len(turns) == 0 {
		return nil, nil, fmt.Errorf("%s: none of its %d conversations of two or more messages is within the limits of "+
			"length", d.Path, len(exchanges))
	}
	want := d.Num
	if d.NoOversample {
		want = len(turns)
	}
	if want > len(turns) {
		d.Notice("%s: %d conversations fit; some are sent again to make %d", d.Path, len(turns), want)
	}
	order := d.Oversample(rng, len(turns), want)
	d.leave(rng)
	return turns, order, nil
}

func (d ShareGPT) turn(e exchange) (Turn, error) {
	if e.question == nil || e.answer == nil {
		return Turn{}, errors.New(`one of the first two messages has no "value"`)
	}
	turn := Turn{Prompt: *e.question, PromptLen: d.Tokenizer.Count(*e.question, true), OutputLen: d.OutputLen}
	if d.OutputLen == 0 {
		turn.OutputLen = d.Tokenizer.Count(*e.answer, true)
	}
	if d.Attach != nil {
		d.Attach(&turn, e.image, e.video)
	}
	return turn, nil
}

func (d ShareGPT) fits(t Turn) bool {
	return t.PromptLen >= minShareGPTLen && t.PromptLen <= maxShareGPTPrompt &&
		(d.OutputLen != 0 || t.OutputLen >= minShareGPTLen) &&
		t.PromptLen+t.OutputLen <= maxShareGPTTotal
}

// An exchange is the first question and answer of a conversation.
type exchange struct {
	question, answer *string
	image, video     string // that it comes with; at most one
	after            int64  // where it is in the file, see rows.Element
}

// readExchanges reads the conversations of two or more messages.
func readExchanges(array rows.Array) ([]exchange, error) {
	type conversation struct {
		Conversations []struct {
			Value *string `json:"value"`
		} `json:"conversations"`
		Image string `json:"image"`
		Video string `json:"video"`
	}
	var list []exchange
	for e, err := range rows.Elements[conversation](array) {
		if err != nil {
			return nil, err
		}
		if messages := e.Value.Conversations; len(messages) >= 2 {
			one := exchange{question: messages[0].Value, answer: messages[1].Value, image: e.Value.Image, after: e.After}
			if one.image == "" {
				one.video = e.Value.Video
			}
			list = append(list, one)
		}
	}
	return list, nil
}
