package layout

import (
	"strings"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/report/screen"
)

// TwoHeads are the head of a number in two lines: the latency, then the statistic.
func TwoHeads(c *metrics.Number) (above, below string) {
	words := strings.Fields(c.Head)
	switch len(words) {
	case 3: // mean TTFT ms
		if c.Percentile > 0 || words[0] == "mean" || words[0] == "median" {
			return words[1] + " " + words[2], words[0]
		}
		return words[0], words[1] + " " + words[2]
	case 2: // output tok/s
		return words[0], words[1]
	}
	return "", c.Head
}

// Heads are the heads of several numbers, in two lines with a bar between them. One heading
// stands over several columns.
func Heads(numbers []metrics.Number) (heads []string) {
	before := ""
	for i := range numbers {
		above, below := TwoHeads(&numbers[i])
		if above == before {
			above = ""
		} else {
			before = above
		}
		heads = append(heads, above+"|"+below)
	}
	return heads
}

// OfLoads is a grid for loads, which have those names, and for their numbers: with two lines of heads on a
// terminal, and with one for Markdown. A bar separates the lines, as for TwoLined.
func OfLoads(names []string, shown screen.Screen, heads ...string) *Grid {
	var all []string
	for _, name := range names {
		all = append(all, "|"+name)
	}
	all = append(all, heads...)
	if shown.IsTerminal() {
		return TwoLined(len(names), all...)
	}
	latency := ""
	for i, head := range all {
		above, below, _ := strings.Cut(head, "|")
		if above == "" && i > len(names) && latency != "" && below != "verdict" {
			above = latency // a heading over several columns
		}
		latency = above
		all[i] = strings.TrimSpace(below + " " + above)
		if strings.Contains(below, "/s") {
			all[i] = strings.TrimSpace(above + " " + below)
		}
	}
	return &Grid{Heads: 1, Names: len(names), Rows: [][]string{all}}
}
