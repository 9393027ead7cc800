// Package hf makes requests of datasets of the Hugging Face Hub, as vLLM's hf dataset does.
//
// A class is a form of rows: which repositories have it, and how a row becomes a request. The classes
// stand in the order in which vLLM's client tries them. Rows come from files on this machine, see the
// packages hub and table, in the order in which the library datasets 5.2.0 gives them to that client.
// Images are read and encoded as conversations are pulled, because they may be larger than the memory.
package hf

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"runtime"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/hub"
	"github.com/servebench/servebench/dataset/jinja"
	"github.com/servebench/servebench/dataset/nprand"
	"github.com/servebench/servebench/dataset/table"
	"github.com/servebench/servebench/metrics/pyjson"
)

// HF takes prompts from a dataset of the Hugging Face Hub. It sets Python. The seed decides the order,
// and which rows repeat.
type HF struct {
	dataset.Options        // Path is a repository, a folder or a file; with a Tokenizer
	Name            string // the repository whose rows have the same form, if Path is none
	Rows            Rows
	Chat            bool // make the user's message here, where the class can

	// OutputLen is the tokens to ask for. Nil is the class's number, or as many as the recorded
	// answer has.
	OutputLen *int

	ChatTemplate ChatTemplate
	Edits        Edits
	Speech       Speech
	Categories   []string // of BFCL; none means simple, live_simple and multiple
}

// Rows say which rows of a repository are read, and how.
type Rows struct {
	Subset   string // a configuration of the repository; empty is the class's
	Split    string // empty is the class's
	NoStream bool   // shuffle all rows at once, and not as a stream
}

// A ChatTemplate is how prompts get theirs.
type ChatTemplate struct {
	Skip bool                            // send prompts without one
	Open func() (*jinja.Template, error) // opens it; called if the class needs one
}

// Edits say how much of the code an edit of blazedit may change, from 0 to 1.
type Edits struct{ Min, Max float64 }

// Speech says which speech is sent.
type Speech struct {
	Min, Max  float64 // bounds of its seconds; a Max of 0 is no bound
	Tokenizer string  // the name that decides its prompt
}

// An opened dataset makes requests of its rows.
type opened struct {
	of       *HF
	class    *class
	place    *hub.Place
	template *jinja.Template // nil if the class needs none
}

// A store has rows by their numbers.
type store interface {
	Rows(at []int, columns []string) ([]pyjson.Object, error)
}

// Open reads the files. It returns the source and the number of its conversations.
func (d HF) Open() (dataset.Source, int, error) {
	o := opened{of: &d}
	var err error
	switch o.class, err = classOf(d.Path, d.Name); {
	case err != nil:
		return nil, 0, err
	case d.Tokenizer == nil:
		return nil, 0, errors.New("the hf dataset needs a tokenizer")
	case d.OutputLen != nil && *d.OutputLen < 1:
		return nil, 0, fmt.Errorf("output length %d: must be at least 1", *d.OutputLen)
	}
	if err := d.CheckNum(); err != nil {
		return nil, 0, err
	}
	if o.place, err = hub.Open(d.Path); err != nil {
		return nil, 0, err
	}
	if o.class.rendered == always || o.class.rendered == unlessSkipped && !d.ChatTemplate.Skip {
		if o.template, err = d.ChatTemplate.Open(); err != nil {
			return nil, 0, err
		}
	}
	stored, order, err := o.class.open(&o)
	if err != nil {
		return nil, 0, err
	}
	kept, err := o.choose(stored, order)
	if err != nil {
		return nil, 0, err
	}
	return o.source(stored, kept)
}

// files opens the files of the split, and orders their rows.
func (o *opened) files() (store, []int, error) {
	subset, split := hub.Subset{Name: o.of.Rows.Subset}, cmp.Or(o.of.Rows.Split, o.class.split)
	switch {
	case o.class.noSubset:
		subset.Name = ""
	case subset.Name == "":
		subset = hub.Subset{Name: o.class.subset, Optional: true}
	}
	if split == "" && !o.place.Alone() {
		return nil, nil, fmt.Errorf("argument --hf-split: %s has no default split: name one, such as train",
			o.class.repositories[0])
	}
	paths, err := o.place.Split(subset, split)
	if err != nil {
		return nil, nil, err
	}
	t, err := table.Open(paths)
	if err != nil {
		return nil, nil, err
	}
	switch {
	case o.of.DisableShuffle:
		return t, counted(t.Len()), nil
	case o.of.Rows.NoStream:
		return t, shuffled(t.Lens(), uint64(o.of.Seed)), nil
	}
	return t, streamed(t.Lens(), uint64(o.of.Seed)), nil
}

// counted is 0 to n−1.
func counted(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// A chosen row is one that is sent.
type chosen struct {
	row  int // in the store
	id   int // in the request's id
	turn dataset.Turn
}

// choose takes the first rows that fit. It also decodes their images, to find damaged ones before the
// load.
func (o *opened) choose(stored store, order []int) (kept []chosen, err error) {
	columns, width, atOnce := o.class.columns, 64, textsAtOnce
	if o.class.medium != nil {
		atOnce = mediaAtOnce
		columns, width = append(columns[:len(columns):len(columns)], o.class.medium.columns...), runtime.GOMAXPROCS(0)
	}
	place := 0
	for c, err := range dataset.Parallel(read(stored, order, columns, atOnce), width,
		func(r row) (*dataset.Conversation, error) {
			if r.err != nil {
				return nil, r.err
			}
			turn, err := o.class.turn(o, r.values)
			if err == nil && turn != nil && o.class.medium != nil {
				err = o.class.medium.check(o, r.values)
			}
			if err != nil {
				return nil, fmt.Errorf("%s: row %d: %w", o.of.Path, r.number+1, err)
			}
			if turn == nil {
				return nil, nil
			}
			return &dataset.Conversation{Turns: []dataset.Turn{*turn}}, nil
		}) {
		if err != nil {
			return nil, err
		}
		if place++; c == nil {
			continue
		}
		id := len(kept)
		if o.class.positions {
			id = place - 1
		}
		if kept = append(kept, chosen{order[place-1], id, c.Turns[0]}); len(kept) == o.of.Num {
			break
		}
	}
	if len(kept) == 0 {
		err = fmt.Errorf("%s: none of its %d rows fits%s", o.of.Path, len(order), o.class.fitting)
	}
	return kept, err
}

// source sends the kept rows, and some of them again if they are too few.
func (o *opened) source(stored store, kept []chosen) (dataset.Source, int, error) {
	want := o.of.Num
	if o.of.NoOversample {
		want = min(want, len(kept))
	}
	ids, twice := make(map[int]bool, len(kept)), false
	for _, k := range kept {
		twice = twice || ids[k.id]
		ids[k.id] = true
	}
	for i := len(kept); i < want; i++ { // which get their numbers as ids
		twice = twice || ids[i]
	}
	if twice {
		return nil, 0, fmt.Errorf("%s: %d of the %d prompts fit, and sent again they would get ids that others have: give "+
			"--no-oversample, or a lower --num-prompts", o.of.Path, len(kept), want)
	}
	if want > len(kept) {
		o.of.Notice("%s: %d rows fit; some are sent again to make %d", o.of.Path, len(kept), want)
	}
	rng := nprand.NewPython(o.of.Seed)
	order := o.of.Oversample(rng, len(kept), want)
	if o.of.Python != nil {
		*o.of.Python = *rng
	}
	id := func(i int) int {
		if i < len(kept) {
			return kept[i].id
		}
		return i
	}
	if o.class.medium == nil {
		return func(yield func(*dataset.Conversation, error) bool) {
			for i, k := range order {
				if !yield(o.of.Conversation(id(i), kept[k].turn), nil) {
					return
				}
			}
		}, want, nil
	}
	rows := make([]int, want)
	for i, k := range order {
		rows[i] = kept[k].row
	}
	return dataset.Parallel(read(stored, rows, o.class.medium.columns, mediaAtOnce), runtime.GOMAXPROCS(0),
		func(r row) (*dataset.Conversation, error) {
			turn := kept[order[r.place]].turn
			if r.err == nil {
				r.err = o.class.medium.attach(o, &turn, r.values)
			}
			return o.of.Conversation(id(r.place), turn), r.err
		}), want, nil
}

// A row is what a store has under a number.
type row struct {
	place, number int // the place is in the list of numbers
	values        pyjson.Object
	err           error
}

// How many rows are read at once. They are in memory together.
const (
	textsAtOnce = 4096
	mediaAtOnce = 64
)

// read yields the rows of those numbers, in that order. It reads some at once, because rows near one
// another in a file cost hardly more than one of them.
func read(stored store, numbers []int, columns []string, atOnce int) iter.Seq[row] {
	return func(yield func(row) bool) {
		for first := 0; first < len(numbers); first += atOnce {
			some := numbers[first:min(first+atOnce, len(numbers))]
			list, err := stored.Rows(some, columns)
			if err != nil {
				yield(row{err: err})
				return
			}
			for i, values := range list {
				if !yield(row{place: first + i, number: some[i], values: values}) {
					return
				}
			}
		}
	}
}
