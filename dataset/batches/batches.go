// Package batches makes datasets whose requests have several prompts each, for endpoints of
// embeddings and of rerankers: the requests of vLLM's client, token for token.
//
// A request's Payload has its prompts as a Batch. Its PromptLen counts the tokens of all of them, and
// nothing is asked for.
package batches

import (
	"errors"
	"fmt"
	"iter"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/nprand"
)

// Random sends the prompts of dataset.Random several at a time.
type Random struct {
	dataset.Random     // with a Tokenizer
	Size           int // prompts of a request; the last request may have fewer
}

// Open checks the fields. It returns the source and the number of its conversations.
func (d Random) Open() (dataset.Source, int, error) {
	if err := check(&d.Random, d.Size); err != nil {
		return nil, 0, err
	}
	source, n, err := d.Random.Open()
	if err != nil {
		return nil, 0, err
	}
	return func(yield func(*dataset.Conversation, error) bool) {
		for g := range groups(turns(source), d.Size) {
			if !yield(d.Conversation(g.number, g.turn(g.tokens)), nil) {
				return
			}
		}
	}, ceil(n, d.Size), nil
}

// Rerank makes a query and documents of random tokens, as vLLM's random-rerank does. All requests
// have the same query, which comes first in the Batch. It makes the documents as they are pulled. It
// sets Python.
type Rerank struct {
	dataset.Random // with a Tokenizer; InputLen is of a query and a document together
	Size           int
	// Separate has query and documents for a model of embeddings: each has the InputLen, and Num and Size
	// include the query.
	Separate bool
}

// Open checks the fields. It returns the source and the number of its conversations.
func (d Rerank) Open() (dataset.Source, int, error) {
	r := d.Random
	r.PrefixLen, r.OutputLen, r.NumPy = 0, 0, nil
	size, whole := d.Size, d.InputLen
	rest := func(query int) int { return whole - query - 1 }
	if d.Separate {
		if d.Num < 2 || size < 2 {
			return nil, 0, errors.New("--no-reranker counts the query as one prompt: --num-prompts and --random-batch-size " +
				"must be at least 2")
		}
		r.Num, size = r.Num-1, size-1
		rest = func(int) int { return whole }
	} else {
		r.InputLen = whole/2 - 1
	}
	if err := check(&r, size); err != nil {
		return nil, 0, err
	}
	prompts, err := dataset.OpenLed(r, rest)
	if err != nil {
		return nil, 0, err
	}
	if d.Python != nil {
		*d.Python = *nprand.NewPython(d.Seed)
	}
	return func(yield func(*dataset.Conversation, error) bool) { d.source(prompts, size, yield) }, ceil(r.Num, size), nil
}

// source yields requests of size documents each. A reranker reads the query and a separator with
// each document.
func (d *Rerank) source(prompts iter.Seq[*dataset.Conversation], size int,
	yield func(*dataset.Conversation, error) bool) {
	var query *dataset.Turn
	documents := func(yield func(*dataset.Turn) bool) {
		for c := range prompts {
			if query == nil {
				query = &c.Turns[0]
			} else if !yield(&c.Turns[0]) {
				return
			}
		}
	}
	for g := range groups(documents, size) {
		tokens := g.tokens + query.PromptLen
		if !d.Separate {
			tokens = g.tokens + (query.PromptLen+1)*len(g.texts)
		}
		g.texts = append([]string{query.Prompt}, g.texts...)
		if !yield(d.Conversation(g.number, g.turn(tokens)), nil) {
			return
		}
	}
}

// check refuses what makes no batches.
func check(d *dataset.Random, size int) error {
	switch {
	case size < 1:
		return fmt.Errorf("batches of %d prompts: they need at least 1", size)
	case d.Tokenizer == nil:
		return errors.New("batches of prompts are texts: a tokenizer is needed")
	}
	return nil
}

// A group is the prompts of one request.
type group struct {
	number int
	texts  []string
	tokens int
}

// turn is the request, of that many tokens.
func (g *group) turn(tokens int) dataset.Turn {
	return dataset.Turn{PromptLen: tokens, Payload: &dataset.Payload{Batch: g.texts}}
}

// groups yields prompts in groups of size; the last may be smaller. A group is the receiver's.
func groups(prompts iter.Seq[*dataset.Turn], size int) iter.Seq[*group] {
	return func(yield func(*group) bool) {
		g := new(group)
		for prompt := range prompts {
			g.texts, g.tokens = append(g.texts, prompt.Prompt), g.tokens+prompt.PromptLen
			if len(g.texts) < size {
				continue
			}
			next := &group{number: g.number + 1}
			if !yield(g) {
				return
			}
			g = next
		}
		if len(g.texts) > 0 {
			yield(g)
		}
	}
}

// turns yields the only turns of conversations that have no errors.
func turns(source dataset.Source) iter.Seq[*dataset.Turn] {
	return func(yield func(*dataset.Turn) bool) {
		for c := range source {
			if !yield(&c.Turns[0]) {
				return
			}
		}
	}
}

// ceil is n/size, rounded up.
func ceil(n, size int) int { return (n + size - 1) / size }
