// Package dataset makes the conversations that a load test sends.
//
// A dataset is an iterator. Repeating, limiting and sharding are functions from
// one Source to another, so a workload is built like a pipe. Ranging over a Source
// again yields the same conversations, because each generator is seeded when the
// iteration begins.
package dataset

import (
	"iter"
	"math"
	"time"
)

// A Source yields conversations in the order in which they are sent. It ends at an
// error.
type Source = iter.Seq2[*Conversation, error]

// MaxDue is the first whole second that a time.Duration does not reach. Times are below it.
const MaxDue = math.MaxInt64/1_000_000_000 + 1

// Seconds is s seconds to the nanosecond, or the longest possible Duration.
func Seconds(s float64) time.Duration {
	if ns := math.Round(s * 1e9); ns < math.MaxInt64 {
		return time.Duration(ns)
	}
	return math.MaxInt64
}

// Plus is the sum of two times, or the longest possible one.
func Plus(a, b time.Duration) time.Duration {
	if sum := a + b; sum >= a {
		return sum
	}
	return math.MaxInt64
}
