package settings

import "strings"

// abortFrom is the number of requests that must end before the rule looks at their share of
// failures.
const abortFrom = 20

// An AbortRule says how many requests may fail before a run aborts. The zero value never aborts.
type AbortRule struct {
	// Text is the rule as the user wrote it, 10 or 5%; empty for no rule.
	Text string

	// Count is how many may fail.
	Count int

	// Share is the percentage of ended requests that may fail. It counts instead of Count if Text
	// ends with %.
	Share float64
}

// Broken reports whether that many failures among the ended requests are too many.
func (r AbortRule) Broken(failed, ended int) bool {
	switch {
	case r.Text == "":
		return false
	case strings.HasSuffix(r.Text, "%"):
		return ended >= abortFrom && float64(failed)*100 > r.Share*float64(ended)
	}
	return failed > r.Count
}
