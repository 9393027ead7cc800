package dataset

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/servebench/servebench/dataset/nprand"
	"github.com/servebench/servebench/dataset/tokenizer"
)

// slowStub takes a second for a call, and counts how many are made at once.
type slowStub struct {
	tokenizer.Stub
	calls, most *atomic.Int64
}

func newSlowStub() slowStub {
	return slowStub{tokenizer.Stub{Size: 10}, new(atomic.Int64), new(atomic.Int64)}
}

func (s slowStub) Encode(text string, special bool) []int {
	calls := s.calls.Add(1)
	defer s.calls.Add(-1)
	for most := s.most.Load(); calls > most && !s.most.CompareAndSwap(most, calls); most = s.most.Load() {
	}
	time.Sleep(time.Second)
	return s.Stub.Encode(text, special)
}

func (s slowStub) Count(text string, special bool) int { return len(s.Encode(text, special)) }

func TestSlowTokenizersAreCalledManyTimesAtOnce(t *testing.T) {
	for name, work := range map[string]func(tokenizer.Tokenizer) error{
		"token ids": func(slow tokenizer.Tokenizer) error {
			for _, err := range TokenIDs(texts(200), slow) {
				if err != nil {
					return err
				}
			}
			return nil
		},
		"sharegpt": func(slow tokenizer.Tokenizer) error {
			file := "[" + strings.Repeat(fits+",", 199) + fits + "]"
			_, _, err := ShareGPT{Options: Options{Path: "f.json", Tokenizer: slow, Num: 200}}.choose(strings.NewReader(file), nprand.NewPython(0))
			return err
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			slow := newSlowStub()
			if err := work(slow); err != nil {
				t.Fatal(err)
			}
			if most := slow.most.Load(); most < ahead {
				t.Errorf("%s: %d calls at once, want %d", name, most, ahead)
			}
		})
	}
}

// texts is n conversations of two turns, the same values each time.
func texts(n int) Source {
	list := make([]*Conversation, n)
	for i := range list {
		due := float64(i)
		list[i] = &Conversation{ID: fmt.Sprint(i), Due: &due, Turns: []Turn{
			{Prompt: strings.Repeat("tok1 ", i+1), PromptLen: 99, OutputLen: i}, {Prompt: "tok2", OutputLen: 5},
		}}
	}
	return func(yield func(*Conversation, error) bool) {
		for _, c := range list {
			if !yield(c, nil) {
				return
			}
		}
	}
}

func TestTokenIDsLeavesItsSourceAsItIs(t *testing.T) {
	stub := tokenizer.Stub{Size: 10, BOS: []int{7}}
	src, i := texts(100), 0
	for c, err := range TokenIDs(src, stub) {
		if err != nil {
			t.Fatal(err)
		}
		first, second := c.Turns[0], c.Turns[1]
		if c.ID != fmt.Sprint(i) || *c.Due != float64(i) || first.OutputLen != i ||
			first.PromptLen != i+2 || !slices.Equal(first.TokenIDs, stub.Encode(first.Prompt, true)) ||
			second.PromptLen != 2 || !slices.Equal(second.TokenIDs, []int{7, 2}) {
			t.Errorf("conversation %d: %+v", i, c)
		}
		i++
	}
	if i != 100 {
		t.Errorf("%d conversations, want 100", i)
	}
	var untouched []*Conversation
	for c := range texts(100) {
		untouched = append(untouched, c)
	}
	i = 0
	for c := range src {
		if !reflect.DeepEqual(c, untouched[i]) {
			t.Errorf("conversation %d of the source is now %+v", i, c)
		}
		i++
	}
}

func TestTokenIDsEndsAtAnErrorAndWhenStopped(t *testing.T) {
	bad := errors.New("bad")
	broken := func(yield func(*Conversation, error) bool) {
		for c := range texts(3) {
			if !yield(c, nil) {
				return
			}
		}
		yield(nil, bad)
	}
	var got []error
	for c, err := range TokenIDs(broken, tokenizer.Stub{Size: 10}) {
		if (c == nil) != (err != nil) {
			t.Errorf("%v with the error %v", c, err)
		}
		got = append(got, err)
	}
	if want := []error{nil, nil, nil, bad}; !slices.Equal(got, want) {
		t.Errorf("errors %v, want %v", got, want)
	}
	synctest.Test(t, func(t *testing.T) {
		for range TokenIDs(texts(1000), newSlowStub()) {
			break
		}
	})
}
