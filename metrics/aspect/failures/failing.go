package failures

import (
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

// Resent counts measured requests that were sent again after a failure, and those that were sent
// again because a connection had died.
type Resent struct {
	Requests   int // that were sent again
	Times      int // repeats of all of them together
	Reconnects int // requests that used a second connection: see Record
}

func (n *Resent) add(r *record.Record) {
	if again := r.Attempts - r.Reconnects - 1; again > 0 {
		n.Requests++
		n.Times += again
	}
	if r.Reconnects > 0 {
		n.Reconnects++
	}
}

func (n *Resent) merge(other Resent) {
	n.Requests += other.Requests
	n.Times += other.Times
	n.Reconnects += other.Reconnects
}
