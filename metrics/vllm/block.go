package vllm

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/servebench/servebench/metrics"
)

// The block's measures in characters.
const (
	Width      = 50
	labelWidth = 40
	valueWidth = 10
)

// Block writes the result block as that version of vLLM prints it, byte for
// byte. The version decides lines and labels only; what the numbers mean is the
// same for all. A metric that the configuration selects but the Summary does not
// know is left out.
func Block(w io.Writer, s *metrics.Summary, v Version) error {
	var b bytes.Buffer
	Rule(&b, " Serving Benchmark Result ", '=')
	for _, part := range parts {
		if !part.holds(v) {
			continue
		}
		rows := part.rows(s, v)
		if len(rows) > 0 && part.title != "" {
			Rule(&b, part.title, '-')
		}
		for _, r := range rows {
			r.Write(&b)
		}
	}
	Rule(&b, "", '=')
	_, err := w.Write(b.Bytes())
	return err
}

// Failures writes the list of errors that vLLM prints before its block when
// requests failed: the first ten in dataset order. It writes nothing when none
// did, or for a version that has no such list.
func Failures(w io.Writer, s *metrics.Summary, v Version) error {
	if len(s.FirstErrors) == 0 || v.before(listsFailures) {
		return nil
	}
	var b bytes.Buffer
	b.WriteString("Failed requests during benchmark run detected (capping to 10):\n")
	for i, message := range s.FirstErrors {
		fmt.Fprintf(&b, "Error %d: %s\n", i, message)
	}
	_, err := w.Write(b.Bytes())
	return err
}

// Rule centres a title as Python does: the odd character goes to the right.
func Rule(b *bytes.Buffer, title string, fill byte) {
	pad := Width - len(title)
	b.WriteString(strings.Repeat(string(fill), pad/2))
	b.WriteString(title)
	b.WriteString(strings.Repeat(string(fill), pad-pad/2))
	b.WriteByte('\n')
}

// A Row is one line of the block. One without a value is a bare label.
type Row struct{ Label, Value string }

func (r Row) Write(b *bytes.Buffer) {
	if r.Value == "" {
		fmt.Fprintln(b, r.Label)
		return
	}
	fmt.Fprintf(b, "%-*s %-*s\n", labelWidth, r.Label, valueWidth, r.Value)
}

// Count writes a whole number; nothing when it is not known.
func Count(n int) string {
	if n < 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// Decimal writes a number with two digits; nothing when it is not known.
func Decimal(v float64) string {
	switch {
	case math.IsNaN(v):
		return ""
	case math.IsInf(v, 1):
		return "inf"
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}
