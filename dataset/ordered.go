package dataset

import (
	"iter"
	"runtime"
	"sync"
)

// ordered yields work(item) for each item, in the order of the items, and works on
// as many of them at once as there are cores. The items are pulled on a goroutine
// of its own. When ordered returns, none of its goroutines is left.
func ordered[In, Out any](items iter.Seq[In], work func(In) Out) iter.Seq[Out] {
	return func(yield func(Out) bool) {
		results := make(chan chan Out, runtime.GOMAXPROCS(0))
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
