package metrics

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
)

// Lengths compares the output tokens of completed requests with those asked for:
// there may be no more of them, and under ignore_eos no fewer. vLLM's client takes an
// answer of any length for a success. Requests whose tokens the server did not count are left
// out. Its zero value is of none.
type Lengths struct {
	Of      int            `json:"of"`                // requests that were compared
	Short   int            `json:"short,omitempty"`   // with fewer tokens than asked for
	Missing int            `json:"missing,omitempty"` // tokens, of the short ones together
	Long    int            `json:"long,omitempty"`    // with more
	Extra   int            `json:"extra,omitempty"`   // tokens, of the long ones together
	Reasons map[string]int `json:"reasons,omitempty"` // the short ones by their finish reason
}

// merge counts the requests of other, too.
func (l *Lengths) merge(other *Lengths) {
	l.Of += other.Of
	l.Short += other.Short
	l.Missing += other.Missing
	l.Long += other.Long
	l.Extra += other.Extra
	countReasons(&l.Reasons, other.Reasons)
}

func (l *Lengths) add(r *Record) {
	if r.Class != OK || r.OutAsked <= 0 || r.Uncounted {
		return
	}
	l.Of++
	switch missing := r.OutAsked - r.Out; {
	case missing > 0:
		l.Short++
		l.Missing += missing
		countReason(&l.Reasons, cmp.Or(r.Finish, "none"), 1)
	case missing < 0:
		l.Long++
		l.Extra -= missing
	}
}

// against is l as far as a run that was asked for as c says has answers of other
// lengths than that.
func (l Lengths) against(c *Config) Lengths {
	if c.OwnLength {
		return Lengths{}
	}
	if !c.IgnoreEOS {
		l.Short, l.Missing, l.Reasons = 0, 0, nil
	}
	return l
}

// reasons names the finish reasons of the short answers.
func (l *Lengths) reasons() string {
	var parts []string
	for _, reason := range ByCount(l.Reasons) {
		parts = append(parts, fmt.Sprintf("%s %d", reason, l.Reasons[reason]))
	}
	return "finish reasons: " + strings.Join(parts, ", ")
}

// ByCount are the keys of counts, the largest count first.
func ByCount[K cmp.Ordered](counts map[K]int) []K {
	return slices.SortedFunc(maps.Keys(counts), func(a, b K) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
}

// Servers have a handful of finish reasons, each of a word.
const (
	maxReasons   = 20
	maxReason    = 32 // characters
	otherReasons = "(others)"
)

// countReasons adds to the counts of finish reasons, in order, since not all may
// find a place.
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

// printable is a word of a server's without what does not print and what is too much.
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
