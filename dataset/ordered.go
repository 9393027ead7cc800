package dataset

import (
	"iter"
	"sync"
)

// ahead is how many items ordered works on at once: enough for the cores of any machine, and as
// many as vLLM's client has at once if the tokenizer is a server.
const ahead = 64

// ordered yields work(item) for each item, in the order of the items, and works on the next items
// at the same time. Another goroutine pulls the items. All goroutines have ended when ordered
// returns.
func ordered[In, Out any](items iter.Seq[In], work func(In) Out) iter.Seq[Out] {
	return func(yield func(Out) bool) {
		results := make(chan chan Out, ahead)
		stop := make(chan struct{})
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
			}
		})
		for result := range results {
			if !yield(<-result) {
				return
			}
		}
	}
}
