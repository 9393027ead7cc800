// Package dataset makes the conversations that a load test sends.
//
// A dataset is an iterator. Repeating, limiting and sharding are functions from
// one Source to another, so a workload is built like a pipe. Ranging over a Source
// again yields the same conversations, because each generator is seeded when the
// iteration begins.
package dataset

import (
	"encoding/json"
	"iter"
	"math"
	"time"
)

// A Source yields conversations in the order in which they are sent. It ends at an
// error.
type Source = iter.Seq2[*Conversation, error]

// A Conversation is one or more turns. Each turn is sent after the answer to the previous turn.
// Most conversations have one turn.
type Conversation struct {
	ID    string // request id; empty if the dataset has no ids
	Turns []Turn

	// Due is when the conversation starts, in seconds from the start of the run. It is nil if the
	// dataset has no times; a dataset has times for all of its conversations or for none.
	Due *float64
}

// Seconds is s seconds to the nanosecond, or the longest possible Duration.
func Seconds(s float64) time.Duration {
	if ns := math.Round(s * 1e9); ns < math.MaxInt64 {
		return time.Duration(ns)
	}
	return math.MaxInt64
}

// A Turn is one request. It sends Messages if set, else TokenIDs if set, else Prompt.
type Turn struct {
	Prompt    string
	TokenIDs  []int           // the prompt as token ids, for endpoints that take them
	Messages  json.RawMessage // a ready list of chat messages
	PromptLen int             // tokens in the prompt by this dataset's count
	OutputLen int             // tokens to ask for
}
