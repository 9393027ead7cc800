package metrics

import (
	"slices"
	"sort"
)

// A firstError is the message of a failed request, with the request's place in the dataset.
type firstError struct {
	Index   int
	Message string
}

// maxFirstErrors is how many messages vLLM's client prints before its block.
const maxFirstErrors = 10

// firstErrors are the first of them, in dataset order.
type firstErrors []firstError

func (c *Collector) fail(o Outcome) {
	c.sum.Failed++
	c.sum.Printed.Errors.Count(o.Error, 1)
	c.firstErrors.add(firstError{o.Index, o.Error})
}

// add keeps an error if it is among the first.
func (f *firstErrors) add(e firstError) {
	all := *f
	at := sort.Search(len(all), func(i int) bool { return all[i].Index > e.Index })
	if at < maxFirstErrors {
		all = slices.Insert(all, at, e)
		*f = all[:min(len(all), maxFirstErrors)]
	}
}
