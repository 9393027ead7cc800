package metrics

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// FormatFloat writes v as Python's repr does: the shortest digits that read
// back as v, always with a point or an exponent: 20.0, 1e-09, 1e+16, inf, nan.
func FormatFloat(v float64) string {
	switch {
	case math.IsInf(v, 1):
		return "inf"
	case math.IsInf(v, -1):
		return "-inf"
	case math.IsNaN(v):
		return "nan"
	}
	if a := math.Abs(v); a != 0 && (a < 1e-4 || a >= 1e16) {
		return strconv.FormatFloat(v, 'e', -1, 64)
	}
	s := strconv.FormatFloat(v, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// FormatPercentile writes p as vLLM labels it: without a point when it is whole.
func FormatPercentile(p float64) string {
	return strings.TrimSuffix(FormatFloat(p), ".0")
}

// Counted writes a number of things: 1 line, 2 lines.
func Counted(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}

// Milliseconds is d in milliseconds.
func Milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
