package plot

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/published"
)

// againstNumbers are the numbers of which Against makes charts, by their names.
var againstNumbers = []string{"output_throughput", "mean_ttft", "p99_ttft", "mean_tpot", "mean_itl"}

// Against has a chart for some numbers of the blocks of documents, with both the document and the runs,
// and a chart of all ratios. It has no charts without blocks.
func Against(blocks []*published.Block) []Chapter {
	if len(blocks) == 0 {
		return nil
	}
	charts := []Chart{ratios(blocks)}
	for _, name := range againstNumbers {
		if c := both(blocks, name); c.Series != nil {
			charts = append(charts, c.fitRuns())
		}
	}
	return filled([]Chapter{{"against-charts", "Document and runs", charts}})
}

// places are the names of blocks along an axis.
func places(blocks []*published.Block) (names []string) {
	documents := metrics.Distinct(documentsOf(blocks))
	for _, b := range blocks {
		name := fmt.Sprintf("%d: %s", b.Number, b.Runs)
		if len(documents) > 1 {
			name = b.Document + ":" + name
		}
		names = append(names, name)
	}
	return names
}

func documentsOf(blocks []*published.Block) (names []string) {
	for _, b := range blocks {
		names = append(names, b.Document)
	}
	return names
}

// both is a number of the blocks and of the runs.
func both(blocks []*published.Block, name string) Chart {
	document, here := Series{Name: "document", Style: Path, Color: Neutral},
		Series{Name: blocks[0].Here(), Style: Path, Color: 0}
	label := ""
	for i, b := range blocks {
		at := slices.IndexFunc(b.Numbers, func(n published.Number) bool { return n.Name == name })
		if at < 0 {
			continue
		}
		n := &b.Numbers[at]
		label = cmp.Or(label, n.Label())
		document.add(float64(i), n.Document)
		here.add(float64(i), n.Here)
	}
	c := Chart{Name: "against-" + plainName(name), Title: "Document and runs: " + label, Y: Axis{Title: label},
		X: Axis{Title: "Blocks of the document", Scale: Category, Names: places(blocks)}}
	if label != "" {
		c.Series = []Series{document, here}
	}
	return c
}

// ratios are the ratios of all numbers, a row of dots for each block.
func ratios(blocks []*published.Block) Chart {
	c := Chart{Name: "against-ratios", Title: "Ratio of the runs to the document",
		Note: "A document's block is one run, so no ratio has a verdict.",
		X:    Axis{Title: "Blocks of the document", Scale: Category, Names: places(blocks)}, Y: Axis{Title: "Ratio"},
		Limits: []Limit{{Name: "document", At: 1}}}
	for k, name := range againstNumbers {
		s := Series{Style: Path, Color: k}
		for i, b := range blocks {
			for _, n := range b.Numbers {
				if n.Name == name {
					s.Name = n.Label()
					s.add(float64(i), n.Ratio)
				}
			}
		}
		if len(s.X) > 0 {
			c.Series = append(c.Series, s)
		}
	}
	return c.fitRuns()
}
