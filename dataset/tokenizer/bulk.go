package tokenizer

import (
	"bytes"
	"errors"
	"runtime"
	"unicode/utf8"

	"golang.org/x/sync/errgroup"
)

// A bulk is the vocabulary and the merges of a model: nearly all of a tokenizer.json. With
// encoding/json they take ten times as long as with cut, which reads the usual form only.
type bulk struct {
	vocab  *vocabulary
	pairs  []symbolPair // by rank; nil without merges
	scores []float64    // of each id, in a vocabulary with scores; else nil
}

// A symbolPair is two symbols that merge, and the one that they become.
type symbolPair struct{ left, right, id int32 }

// A cutter finds the bulk of a document.
type cutter struct {
	scanner
	vocab, merges extent
	entries       entries
	built         func() *vocabulary // waits for the vocabulary of the entries, nil if it is unusual
	lists         bool               // a merge is a list of two texts instead of one text with a space
	pieces        []extent
	count         int // number of merges
}

// An extent of a document is data[start:end].
type extent struct{ start, end int }

// pieceMerges is how many merges a goroutine reads at a time.
const pieceMerges = 1 << 13

// cut takes the bulk out of a document. In the rest, the vocabulary and the merges are empty. Cut
// gives up, and is not ok, if it sees anything unusual. It does not check the rest.
func cut(data []byte) (rest []byte, b *bulk, ok bool) {
	c := &cutter{scanner: scanner{data: data}}
	if !c.object(c.top) || c.next() != 0 || c.vocab.end == 0 {
		return nil, nil, false
	}
	b = &bulk{vocab: c.built(), scores: c.entries.scores}
	if b.vocab == nil {
		return nil, nil, false
	}
	open := "{}"
	if b.scores != nil {
		open = "[]"
	}
	if c.merges.end == 0 {
		return bytes.Join([][]byte{data[:c.vocab.start], []byte(open), data[c.vocab.end:]}, nil), b, true
	}
	if b.pairs, ok = c.resolve(b.vocab); !ok {
		return nil, nil, false
	}
	first, second := c.vocab, c.merges
	closed := "[]"
	if second.start < first.start {
		first, second, open, closed = second, first, closed, open
	}
	return bytes.Join([][]byte{
		data[:first.start], []byte(open), data[first.end:second.start], []byte(closed), data[second.end:],
	}, nil), b, true
}

// top reads a member of the document.
func (c *cutter) top(key []byte) bool {
	if string(key) == "model" && c.vocab.end == 0 && c.merges.end == 0 {
		return c.object(c.model)
	}
	return !bytes.EqualFold(key, []byte("model")) && c.skip()
}

// model reads a member of the model. Encoding/json ignores the case of keys, so all but the usual
// one is unusual.
func (c *cutter) model(key []byte) (ok bool) {
	c.next()
	at := extent{start: c.pos}
	switch {
	case string(key) == "vocab" && c.vocab.end == 0:
		if c.next() == '[' {
			c.entries.scores = []float64{}
			ok = c.take('[') && c.items(']', c.scored)
		} else {
			ok = c.object(c.entry)
		}
		at.end = c.pos
		c.vocab = at
		c.built = c.entries.build()
	case string(key) == "merges" && c.merges.end == 0:
		ok = c.take('[') && c.mergeList()
		at.end = c.pos
		c.merges = at
	default:
		ok = !bytes.EqualFold(key, []byte("vocab")) && !bytes.EqualFold(key, []byte("merges")) && c.skip()
	}
	return ok
}

func (c *cutter) entry(text []byte) bool {
	id, ok := c.number()
	c.entries.add(text, id)
	return ok
}

// scored reads a token with its score.
func (c *cutter) scored() bool {
	if !c.take('[') {
		return false
	}
	text, ok := c.text()
	if !ok || !c.take(',') {
		return false
	}
	score, ok := score(c.value())
	c.entries.add(text, int32(len(c.entries.ids)))
	c.entries.scores = append(c.entries.scores, score)
	return ok && c.take(']')
}

// mergeList finds the pieces of the merges.
func (c *cutter) mergeList() bool {
	c.lists = c.next() == '['
	return c.items(']', func() bool {
		if c.count%pieceMerges == 0 {
			c.pieces = append(c.pieces, extent{start: c.pos})
		}
		c.count++
		ok := c.skip()
		c.pieces[len(c.pieces)-1].end = c.pos
		return ok
	})
}

// resolve reads the merges, as symbols of v.
func (c *cutter) resolve(v *vocabulary) (pairs []symbolPair, ok bool) {
	pairs = make([]symbolPair, c.count)
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, piece := range c.pieces {
		r := pairReader{scanner: scanner{data: c.data[:piece.end], pos: piece.start}, vocab: v, lists: c.lists}
		group.Go(func() error { return r.read(pairs[i*pieceMerges : min((i+1)*pieceMerges, c.count)]) })
	}
	return pairs, group.Wait() == nil
}

// A pairReader reads a piece of the merges.
type pairReader struct {
	scanner
	vocab *vocabulary
	lists bool
	whole []byte // memory for the text that a merge makes
	last  int32  // its id
}

var errUnusual = errors.New("the merges have an unusual form")

func (r *pairReader) read(pairs []symbolPair) error {
	for i := range pairs {
		left, right, ok := r.texts()
		if !ok {
			return errUnusual
		}
		p := &pairs[i]
		var okLeft, okRight, okWhole bool
		p.left, okLeft = r.vocab.token(left)
		p.right, okRight = r.vocab.token(right)
		p.id, okWhole = r.id(left, right)
		if len(left) == 0 || len(right) == 0 || !okLeft || !okRight || !okWhole {
			return errUnusual
		}
		r.take(',') // the cutter has seen it
	}
	return nil
}

// id is the id of the text that left and right make. In most files it is the last one or the next.
func (r *pairReader) id(left, right []byte) (id int32, ok bool) {
	r.whole = append(append(r.whole[:0], left...), right...)
	for _, guess := range []int32{r.last, r.last + 1} {
		if int(guess) < len(r.vocab.texts) && r.vocab.texts[guess] == string(r.whole) {
			r.last = guess
			return guess, true
		}
	}
	r.last, ok = r.vocab.idOf(r.whole)
	return r.last, ok
}

// texts reads the texts of a merge.
func (r *pairReader) texts() (left, right []byte, ok bool) {
	if r.lists {
		var okLeft, okRight bool
		ok = r.take('[')
		left, okLeft = r.text()
		ok = ok && r.take(',')
		right, okRight = r.text()
		return left, right, ok && okLeft && okRight && r.take(']')
	}
	both, ok := r.text()
	left, right, found := bytes.Cut(both, []byte(" "))
	return left, right, ok && found && bytes.IndexByte(right, ' ') < 0
}

// entries are tokens in the order of a file.
type entries struct {
	text   bytes.Buffer
	ends   []int
	ids    []int32
	scores []float64 // nil in a vocabulary without scores
}

func (e *entries) add(text []byte, id int32) {
	e.text.Write(text)
	e.ends = append(e.ends, e.text.Len())
	e.ids = append(e.ids, id)
}

// build makes the vocabulary of the entries in the background. What it returns waits for it, and is
// nil if encoding/json would change a text, or a text is not new.
func (e *entries) build() func() *vocabulary {
	made := make(chan *vocabulary, 1)
	go func() { made <- e.vocabulary() }()
	return func() *vocabulary { return <-made }
}

func (e *entries) vocabulary() *vocabulary {
	all := e.text.String()
	if !utf8.ValidString(all) || len(e.ends) > maxID {
		return nil
	}
	texts := make([]string, len(e.ends))
	start := 0
	for i, end := range e.ends {
		if texts[i] = all[start:end]; start < end && !utf8.RuneStart(all[start]) {
			return nil
		}
		start = end
	}
	if e.scores != nil {
		return vocabularyOfPieces(texts)
	}
	v := newVocabulary(len(e.ids))
	for i, id := range e.ids {
		if v.add(texts[i], id) != nil {
			return nil
		}
	}
	if v.alike {
		return nil
	}
	return v
}
