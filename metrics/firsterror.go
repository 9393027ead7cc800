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

func (c *Collector) fail(o Outcome) {
	c.sum.Failed++
	c.sum.Printed.Errors.Count(o.Error, 1)
	c.addFirst(firstError{o.Index, o.Error})
}

// addFirst keeps an error if it is among the first in dataset order.
func (c *Collector) addFirst(e firstError) {
	at := sort.Search(len(c.firstErrors), func(i int) bool { return c.firstErrors[i].Index > e.Index })
	if at < maxFirstErrors {
		c.firstErrors = slices.Insert(c.firstErrors, at, e)
		c.firstErrors = c.firstErrors[:min(len(c.firstErrors), maxFirstErrors)]
	}
}
