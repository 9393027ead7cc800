package dataset

import (
	"iter"
	"runtime"
	"sync"
)

// ahead is how many items ordered works on at once: enough for the cores of any machine, and as
// many as vLLM's client has at once if the tokenizer is a server.
const ahead = 64

// aheadTokens is about how many tokens of prompts are made at once. A token takes some 50 bytes
// until its prompt is ready.
const aheadTokens = 1 << 19

// width is how many prompts of that many tokens ordered works on at once.
func width(tokens int) int {
	return min(ahead, max(runtime.GOMAXPROCS(0), aheadTokens/max(tokens, 1)))
}

// ordered yields work(item) for each item, in the order of the items, and works on the next width
// items at the same time. The first item is made alone, since some callers want no other. Another
// goroutine pulls the items. All goroutines have ended when ordered returns.
func ordered[In, Out any](items iter.Seq[In], width int, work func(In) Out) iter.Seq[Out] {
	return func(yield func(Out) bool) {
		results := make(chan chan Out, width)
		stop, first := make(chan struct{}), make(chan struct{})
		var all sync.WaitGroup
		defer all.Wait()
		defer close(stop)
		all.Go(func() {
			defer close(results)
			for item := range items {
				result := make(chan Out, 1)
				select {
				case results <- result:
				case <-stop:
					return
				}
				all.Go(func() { result <- work(item) })
				select {
				case <-first:
				case <-stop:
					return
				}
			}
		})
		taken := sync.OnceFunc(func() { close(first) })
		for result := range results {
			if !yield(<-result) {
				return
			}
			taken()
		}
	}
}
