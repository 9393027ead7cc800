package layout_test

import (
	"bytes"
	"fmt"
	"math"

	"github.com/servebench/servebench/report/layout"
)

// A table for a terminal, and one for Markdown.
func Example() {
	g := layout.TwoLined(1, "|target", "TTFT ms|mean", "|P99")
	g.Add("chat", layout.Decimal(41.5), layout.Decimal(120)+layout.Few)
	g.Add("batch", layout.Decimal(1250), layout.Decimal(math.NaN()))
	var text, markdown bytes.Buffer
	g.Text(&text)
	fmt.Print(&text)
	one := layout.Grid{Heads: 1, Names: 1, Rows: [][]string{{"target", "mean TTFT ms"}}}
	one.Add("a|b", layout.Decimal(41.5))
	one.Markdown(&markdown)
	fmt.Print(&markdown)
	// Output:
	//       TTFT ms
	// target     mean      P99
	// chat      41.50  120.00*
	// batch   1250.00
	// | target | mean TTFT ms |
	// | ------ | -----------: |
	// | a\|b   |        41.50 |
}
