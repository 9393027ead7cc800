package overview

import (
	"io"
	"iter"

	"github.com/servebench/servebench/metrics/vllm"
	"github.com/servebench/servebench/report/plot"
)

// Pictures yields the pictures of the runs with their file names: page.svg is the first
// screen, terminal.svg the end of a single run on a terminal with the block of that release,
// and each chart has a file. Pictures labels the runs.
func Pictures(runs []plot.Run, v vllm.Version, title string) iter.Seq2[string, func(io.Writer) error] {
	return func(yield func(string, func(io.Writer) error) bool) {
		plot.Label(runs)
		chapters := plot.Chapters(runs)
		if !yield("page.svg", Of(runs, chapters, title).svg) {
			return
		}
		if len(runs) == 1 && !yield("terminal.svg", func(w io.Writer) error { return terminal(w, runs[0].Summary, v) }) {
			return
		}
		for _, chapter := range chapters {
			for i := range chapter.Charts {
				c := &chapter.Charts[i]
				if !yield(c.Name+".svg", func(w io.Writer) error { return plot.SVG(w, c) }) {
					return
				}
			}
		}
	}
}
