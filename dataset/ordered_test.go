package dataset

import (
	"iter"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

func count(n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := range n {
			if !yield(i) {
				return
			}
		}
	}
}

func TestOrderedKeepsTheOrder(t *testing.T) {
	got := slices.Collect(ordered(count(1000), ahead, func(i int) int {
		if i%7 == 0 {
			runtime.Gosched()
		}
		return i * i
	}))
	for i, v := range got {
		if v != i*i {
			t.Fatalf("item %d is %d", i, v)
		}
	}
	if len(got) != 1000 {
		t.Errorf("%d items", len(got))
	}
}

// A synctest bubble fails when a goroutine is left behind in it.
func TestOrderedLeavesNothingBehindWhenStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for range ordered(count(1000), ahead, func(i int) int { return i }) {
			break
		}
		for range ordered(count(0), ahead, func(i int) int { return i }) {
			t.Error("an item from none")
		}
	})
}

// Whoever wants the first item alone pays for no other, such as calls to a server's tokenizer.
func TestOrderedMakesTheFirstItemAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var begun atomic.Int64
		for range ordered(count(1000), ahead, func(i int) int { return int(begun.Add(1)) }) {
			synctest.Wait()
			break
		}
		if n := begun.Load(); n != 1 {
			t.Errorf("%d items begun for the first one", n)
		}
	})
}

func TestOrderedRunsAheadByABoundedNumber(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var begun atomic.Int64
		next, stop := iter.Pull(ordered(count(1_000_000), ahead, func(i int) int { begun.Add(1); return i }))
		defer stop()
		next()
		synctest.Wait()
		if n, bound := begun.Load(), int64(ahead+2); n > bound {
			t.Errorf("%d items begun for one taken, want at most %d", n, bound)
		}
	})
}

// Memory is for a number of tokens, not of prompts.
func TestLongPromptsAreMadeFewAtATime(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	for tokens, want := range map[int]int{0: ahead, 1024: ahead, 16_384: 32, 100_000: 5, 10_000_000: 2} {
		if got := width(tokens); got != want {
			t.Errorf("%d prompts of %d tokens at once, want %d", got, tokens, want)
		}
	}
}
