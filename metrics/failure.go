package metrics

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"sort"
	"strings"
	"time"
	"unicode"
)

const (
	shortMessage = 500  // bytes that Shorten keeps
	maxFailure   = 1500 // bytes of a failure's message
)

// A Failure is an error that says how a request failed. Its message is short and safe to print on a
// terminal, whatever the server put into it.
type Failure struct {
	Class  Class
	Err    error // the server's message if there is one
	Status int   // HTTP status, if that is the failure; else 0

	// RetryAfter is how long the server asks us to wait before sending the request again. Zero
	// means that it does not say.
	RetryAfter time.Duration
}

func (f *Failure) Error() string { return Clip(f.Err.Error(), maxFailure) }
func (f *Failure) Unwrap() error { return f.Err }

// Failf makes a Failure of a class, with a message in the syntax of fmt.Errorf. Errors among args
// lose the addresses of the connection.
func Failf(class Class, format string, args ...any) *Failure {
	for i, arg := range args {
		if err, ok := arg.(error); ok {
			args[i] = withoutAddresses(err)
		}
	}
	return &Failure{Class: class, Err: fmt.Errorf(format, args...)}
}

// withoutAddresses is err without the addresses of a connection that broke. Our port differs for
// each connection, and failures are counted by their message.
func withoutAddresses(err error) error {
	if broken, ok := errors.AsType[*net.OpError](err); ok && broken.Source != nil {
		return broken.Err
	}
	return err
}

// Ended returns why ctx ended: a limit was passed, or the run was stopped. It is nil until ctx
// ends.
func Ended(ctx context.Context) *Failure {
	if ctx.Err() == nil {
		return nil
	}
	if f, ok := errors.AsType[*Failure](context.Cause(ctx)); ok {
		return f
	}
	return Failf(Cancelled, "cut because the run was stopped")
}

// Classify returns the class under which err is counted, and its message. An error that is not a
// Failure is Malformed.
func Classify(err error) (Class, string) {
	if f, ok := errors.AsType[*Failure](err); ok {
		return f.Class, f.Error()
	}
	return Malformed, err.Error()
}

// Shorten returns at most 500 bytes of a message, on one line and safe to print on a terminal.
func Shorten(message string) string { return Clip(message, shortMessage) }

// Clip is like Shorten, but returns at most the given number of bytes.
func Clip(message string, most int) string {
	cut := message[:min(len(message), most)]
	cut = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(cut, ""))
	if len(message) > most {
		cut += "…"
	}
	return cut
}

// maxMessages bounds the number of different error messages that are counted separately.
const maxMessages = 1000

// otherMessages counts all further messages.
const otherMessages = "(other messages)"

// Failing says how requests failed. Its zero value has no requests; it is not safe for concurrent
// use.
type Failing struct {
	Requests int `json:"requests"`
	// Statuses are the requests of class Status, by HTTP status.
	Statuses map[int]int `json:"statuses,omitempty"`
	// Messages are the requests by message; beyond 1000 different ones under "(other messages)".
	Messages map[string]int `json:"messages"`
}

// Add counts a request, which must have failed.
func (f *Failing) Add(r *Record) {
	one := Failing{Requests: 1, Messages: map[string]int{r.Error: 1}}
	if r.Class == Status && r.Status != 0 {
		one.Statuses = map[int]int{r.Status: 1}
	}
	f.merge(&one)
}

// merge adds the requests of other.
func (f *Failing) merge(other *Failing) {
	if f.Messages == nil {
		f.Statuses, f.Messages = map[int]int{}, map[string]int{}
	}
	f.Requests += other.Requests
	countMessages(f.Messages, other.Messages)
	for status, n := range other.Statuses {
		f.Statuses[status] += n
	}
}

// Commonest is the message of most requests, the first by name if several have as many, and its
// number of requests.
func (f *Failing) Commonest() (message string, requests int) { return mostFrequent(f.Messages) }

// Commonest is the message of most failed requests, as for a Failing.
func (s *Summary) Commonest() (message string, requests int) { return mostFrequent(s.Errors) }

func mostFrequent(messages map[string]int) (message string, requests int) {
	for m, n := range messages {
		if n > requests || n == requests && m < message {
			message, requests = m, n
		}
	}
	return message, requests
}

// countMessages adds to the counts of messages, in order, since there may not be room for all.
func countMessages(messages, others map[string]int) {
	for _, message := range slices.Sorted(maps.Keys(others)) {
		countMessage(messages, message, others[message])
	}
}

func countMessage(messages map[string]int, message string, n int) {
	if _, known := messages[message]; !known && len(messages) >= maxMessages {
		message = otherMessages
	}
	messages[message] += n
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
func (c *Collector) classify(r *Record) {
	c.sum.Classes[r.Class]++
	c.failing(r.Class).Add(r)
}

// failing is the count of a class.
func (c *Collector) failing(class Class) *Failing {
	f := c.sum.Failing[class]
	if f == nil {
		f = new(Failing)
		c.sum.Failing[class] = f
	}
	return f
}

// Servers have a handful of finish reasons, each of one word.
const (
	maxReasons   = 20
	maxReason    = 32 // characters
	otherReasons = "(others)"
)

// countReasons adds to the counts of finish reasons, in order, since there may not be room for all.
func countReasons(counts *map[string]int, others map[string]int) {
	for _, reason := range slices.Sorted(maps.Keys(others)) {
		countReason(counts, reason, others[reason])
	}
}

// countReason counts a finish reason, if there is one.
func countReason(counts *map[string]int, reason string, n int) {
	if reason == "" {
		return
	}
	if *counts == nil {
		*counts = map[string]int{}
	}
	if _, known := (*counts)[reason]; !known {
		if reason = cmp.Or(printable(reason), otherReasons); len(*counts) >= maxReasons && (*counts)[reason] == 0 {
			reason = otherReasons
		}
	}
	(*counts)[reason] += n
}

// printable is a server's word without characters that do not print, and cut to length.
func printable(word string) string {
	var b strings.Builder
	for _, r := range word {
		if b.Len() >= maxReason {
			break
		}
		if unicode.IsPrint(r) {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// A firstError is the message of a failed request, with the request's place in the dataset.
type firstError struct {
	Index   int    `json:"i"`
	Message string `json:"error"`
}

// maxFirstErrors is how many messages vLLM's client prints before its block.
const maxFirstErrors = 10

func (c *Collector) fail(o Outcome) {
	c.sum.Failed++
	countMessage(c.sum.Errors, o.Error, 1)
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
