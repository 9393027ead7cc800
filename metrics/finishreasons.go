package metrics

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
