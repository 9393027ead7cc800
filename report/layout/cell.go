package layout

import (
	"bytes"
	"fmt"
	"math"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/stats"
)

// Decimal is a number with two digits for people; nothing if it is unknown.
func Decimal(v float64) string {
	if math.IsNaN(v) {
		return ""
	}
	return metrics.Readable(v, 2)
}

// Few marks a percentile of too few samples.
const Few = "*"

// FewMeans explains Few.
func FewMeans() string {
	return fmt.Sprintf("fewer than %d values beyond this percentile: too few to decide anything by it", stats.MinBeyond)
}

// Label is the width of the label of a Line in characters.
const Label = 32

// Line writes a label, and cells in columns of one width. A cell is one character narrower than its column.
func Line(b *bytes.Buffer, label string, width int, cells ...string) {
	fmt.Fprintf(b, "%-*s", Label, label)
	for _, cell := range cells {
		fmt.Fprintf(b, " %*s", width-1, cell)
	}
	b.WriteByte('\n')
}
