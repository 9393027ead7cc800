// Package pool says what a server's elastic pool of GPU memory held during a run, how fast it took
// memory and gave it back, and what the first requests after that paid.
//
// docs/metrics.md has the formulas.
package pool

import (
	"cmp"
	"slices"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/record"
)

// MiB is a mebibyte, in bytes.
const MiB = 1 << 20

// first is how many requests after the pool began to grow are the first ones.
const first = 5

// A Course is what a pool held over the time of a run.
type Course struct {
	Name     string    // of the pool
	Limit    int64     // the last one, in bytes
	Readings []Reading // in the order of their times; at least one is known

	paid Paid
}

// A Reading is the state of the pool at one moment, on the run's clock. It lasts until the next.
type Reading struct {
	At      time.Duration
	Held    int64 // bytes
	Used    int64 // of these, with KV cache
	Unknown bool  // the pool could not be read: Held and Used are 0
}

// Of is the course of the pool of a run, from its warm-up to the end of the sampling; nil if the Trace
// has no pool, or several.
func Of(s *metrics.Summary) *Course {
	if s.Kept.Trace == nil {
		return nil
	}
	c := &Course{}
	for _, sample := range s.Kept.Trace.Samples {
		p := sample.Pool
		if p == nil {
			continue
		}
		if c.Name = cmp.Or(c.Name, p.Name); c.Name != p.Name {
			return nil
		}
		r := Reading{At: sample.At, Unknown: true}
		if sample.Error == "" {
			r, c.Limit = Reading{At: sample.At, Held: p.Held(), Used: p.Used}, p.Limit
		}
		c.Readings = append(c.Readings, r)
	}
	if c.Limit == 0 {
		return nil
	}
	c.paid = c.pay(s)
	return c
}

// known are the readings that succeeded.
func (c *Course) known() []Reading {
	return slices.DeleteFunc(slices.Clone(c.Readings), func(r Reading) bool { return r.Unknown })
}

// Range is the least and the most that the pool held, in bytes.
func (c *Course) Range() (least, most int64) {
	known := c.known()
	least = known[0].Held
	for _, r := range known {
		least, most = min(least, r.Held), max(most, r.Held)
	}
	return least, most
}

// Mean is what the pool held on average over time, in bytes.
func (c *Course) Mean() float64 {
	known := c.known()
	sum, took := 0.0, known[len(known)-1].At-known[0].At
	for i, r := range known[1:] {
		sum += float64(known[i].Held) * (r.At - known[i].At).Seconds()
	}
	if took <= 0 {
		return float64(known[0].Held)
	}
	return sum / took.Seconds()
}

// A Move is a change of what a pool held.
type Move struct {
	Bytes int64         // never negative; 0 for no change
	From  time.Duration // last moment before it, on the run's clock
	// To90 is the time from then until 90 % of it was done, and Done how many bytes that were.
	To90 time.Duration
	Done int64
}

// Rate is how fast the first 90 % moved, in bytes a second.
func (m Move) Rate() float64 { return float64(m.Done) / m.To90.Seconds() }

// Taken is the largest rise of what the pool held: over all pairs of readings, the greatest
// difference between a later one and an earlier one. It begins at the last reading of the lower
// value, and ends at the first one of the higher value.
func (c *Course) Taken() Move { return c.largest(1) }

// Returned is the largest fall of what the pool held, defined as Taken is.
func (c *Course) Returned() Move { return c.largest(-1) }

// largest is the largest change in a direction, 1 or -1.
func (c *Course) largest(direction int64) (best Move) {
	known := c.known()
	start, from, to := 0, 0, 0
	for i, r := range known {
		if direction*(r.Held-known[start].Held) <= 0 {
			start = i
		} else if bytes := direction * (r.Held - known[start].Held); bytes > best.Bytes {
			best, from, to = Move{Bytes: bytes, From: known[start].At}, start, i
		}
	}
	for _, r := range known[from : to+1] {
		if done := direction * (r.Held - known[from].Held); best.Bytes > 0 && 10*done >= 9*best.Bytes {
			best.To90, best.Done = r.At-best.From, done
			break
		}
	}
	return best
}

// Paid is what the first requests after the pool began its largest rise paid, against all others.
type Paid struct {
	First, Rest         int           // completed requests
	MeanFirst, MeanRest time.Duration // their mean TTFT; 0 for none
}

// Paid compares the TTFT of the first requests whose first chunk came after the rise began with the
// TTFT of all other requests. Requests are ordered by when they were sent.
func (c *Course) Paid() Paid { return c.paid }

func (c *Course) pay(s *metrics.Summary) (p Paid) {
	rise := c.Taken()
	type ttft struct{ sent, took time.Duration }
	var all []ttft
	for r := range s.Measured() {
		if r.Result.Class == record.OK && !r.Answer.Unstreamed {
			all = append(all, ttft{r.Times.Sent, r.TTFT()})
		}
	}
	if rise.Bytes == 0 {
		return p
	}
	slices.SortStableFunc(all, func(a, b ttft) int { return cmp.Compare(a.sent, b.sent) })
	for _, r := range all {
		if p.First < first && r.sent+r.took > rise.From {
			p.First++
			p.MeanFirst += r.took
		} else {
			p.Rest++
			p.MeanRest += r.took
		}
	}
	p.MeanFirst /= time.Duration(max(p.First, 1))
	p.MeanRest /= time.Duration(max(p.Rest, 1))
	return p
}
