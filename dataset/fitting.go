package dataset

import "github.com/servebench/servebench/dataset/tokenizer"

// fitRetries is how often a fitting tries again.
const fitRetries = 10

// A fitting turns ids into text and back until they are want many, as a text need
// not have the tokens that it was made of: what is too much is cut, what is
// missing is drawn. Its text is the one that its ids were last read from.
type fitting struct {
	ids     []int
	want    int
	text    string
	retries int
	settled bool
}

// settle goes as far as it can without drawing: until the fitting is settled or
// has too few ids. So it needs no generator and can run ahead of its turn.
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

// finish settles what settle began, with ids from draw where some are missing.
func (f *fitting) finish(t tokenizer.Tokenizer, draw func() int) {
	for !f.settled {
		for len(f.ids) < f.want {
			f.ids = append(f.ids, draw())
		}
		f.settle(t)
	}
}

// surplus is how many tokens f has more than were asked for.
func (f *fitting) surplus() int { return len(f.ids) - f.want }
