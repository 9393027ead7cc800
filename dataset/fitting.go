package dataset

import "github.com/servebench/servebench/dataset/tokenizer"

// fitRetries is how often a fitting tries again.
const fitRetries = 10

// Fit turns ids into a text of want tokens, special ones not counted. It cuts off surplus ids and
// takes missing ones from draw. A tokenizer whose texts do not keep their tokens may leave the text
// with a few more or fewer.
func Fit(t tokenizer.Tokenizer, ids []int, want int, draw func() int) string {
	f := fitting{ids: ids, want: want}
	f.settle(t)
	f.finish(t, draw)
	return f.text
}

// A fitting turns ids into text and back until there are want ids, because a text may have other
// tokens than those it was made of. It cuts off surplus ids and draws missing ones. Its ids are the
// tokens of its text.
type fitting struct {
	ids     []int
	want    int
	text    string
	retries int
	settled bool
}

// settle fits as far as it can without drawing: until the fitting is done or has too few ids. It
// needs no generator, so it can run ahead of its turn.
func (f *fitting) settle(t tokenizer.Tokenizer) {
	for ; ; f.retries++ {
		f.text = t.Decode(f.ids)
		f.ids = t.Encode(f.text, false)
		if f.settled = len(f.ids) == f.want || f.retries == fitRetries; f.settled {
			return
		}
		if len(f.ids) < f.want {
			f.retries++
			return
		}
		f.ids = f.ids[:f.want]
	}
}

// finish completes the fitting. It gets missing ids from draw.
func (f *fitting) finish(t tokenizer.Tokenizer, draw func() int) {
	for !f.settled {
		for len(f.ids) < f.want {
			f.ids = append(f.ids, draw())
		}
		f.settle(t)
	}
}

// surplus is how many more tokens f has than want.
func (f *fitting) surplus() int { return len(f.ids) - f.want }
