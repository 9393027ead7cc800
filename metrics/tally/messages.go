package tally

import (
	"maps"
	"slices"
)

// maxMessages bounds the number of different messages that are counted separately.
const maxMessages = 1000

// otherMessages counts all further messages.
const otherMessages = "(other messages)"

// Messages are counts of requests by error message; beyond 1000 different ones under "(other messages)". Only a map
// that is not nil can count.
type Messages map[string]int

// Count counts n requests with a message.
func (counts Messages) Count(message string, n int) {
	if _, known := counts[message]; !known && len(counts) >= maxMessages {
		message = otherMessages
	}
	counts[message] += n
}

// Merge adds other counts, in order, since there may not be room for all.
func (counts Messages) Merge(others Messages) {
	for _, message := range slices.Sorted(maps.Keys(others)) {
		counts.Count(message, others[message])
	}
}

// Commonest is the message of most requests, the first by name if several have as many, and its
// number of requests.
func (counts Messages) Commonest() (message string, requests int) {
	for m, n := range counts {
		if n > requests || n == requests && m < message {
			message, requests = m, n
		}
	}
	return message, requests
}
