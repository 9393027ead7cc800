package tally

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"unicode"
)

// Servers have a handful of finish reasons, each of one word.
const (
	maxReasons   = 20
	maxReason    = 32 // characters
	otherReasons = "(others)"
)

// Reasons are counts of requests by a word of the server; beyond 20 different ones under "(others)".
type Reasons map[string]int

// Merge adds other counts, in order, since there may not be room for all.
func (counts *Reasons) Merge(others Reasons) {
	for _, reason := range slices.Sorted(maps.Keys(others)) {
		counts.Count(reason, others[reason])
	}
}

// Count counts n requests with a reason, if it is not empty.
func (counts *Reasons) Count(reason string, n int) {
	if reason == "" {
		return
	}
	if *counts == nil {
		*counts = Reasons{}
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
