package metrics

import (
	"slices"
	"sort"

	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/tally"
)

// Failing says how requests failed. Its zero value has no requests; it is not safe for concurrent
// use.
type Failing struct {
	Requests int
	// Statuses are the requests of class Status, by HTTP status.
	Statuses map[int]int
	// Messages are the requests by message.
	Messages tally.Messages
}

// Add counts a request, which must have failed.
func (f *Failing) Add(r *record.Record) {
	one := Failing{Requests: 1, Messages: tally.Messages{r.Result.Error: 1}}
	if r.Result.Class == record.Status && r.Result.Status != 0 {
		one.Statuses = map[int]int{r.Result.Status: 1}
	}
	f.merge(&one)
}

// merge adds the requests of other.
func (f *Failing) merge(other *Failing) {
	if f.Messages == nil {
		f.Statuses, f.Messages = map[int]int{}, tally.Messages{}
	}
	f.Requests += other.Requests
	f.Messages.Merge(other.Messages)
	for status, n := range other.Statuses {
		f.Statuses[status] += n
	}
}

// Failures is the number of requests that failed and were not cut by us.
func (s *Summary) Failures() int {
	n := s.Failed
	for class, cut := range s.Classes {
		if class.Cut() {
			n -= cut
		}
	}
	return n
}

// classify counts a failed request under its class.
func (c *Collector) classify(r *record.Record) {
	c.sum.Classes[r.Result.Class]++
	c.failing(r.Result.Class).Add(r)
}

// failing is the count of a class.
func (c *Collector) failing(class record.Class) *Failing {
	f := c.sum.Failing[class]
	if f == nil {
		f = new(Failing)
		c.sum.Failing[class] = f
	}
	return f
}

// A firstError is the message of a failed request, with the request's place in the dataset.
type firstError struct {
	Index   int
	Message string
}

// maxFirstErrors is how many messages vLLM's client prints before its block.
const maxFirstErrors = 10

func (c *Collector) fail(o Outcome) {
	c.sum.Failed++
	c.sum.Errors.Count(o.Error, 1)
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
