// Package columns has the flag --numbers, which chooses numbers of the catalogue for tables.
package columns

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/servebench/servebench/cmd/servebench/internal/argv"
	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/catalogue"
	"github.com/servebench/servebench/metrics/pyjson"
	"github.com/servebench/servebench/report/plot"
	"github.com/servebench/servebench/report/runs"
	"github.com/servebench/servebench/report/screen"
)

// A Flag is --numbers. The zero value was not given.
type Flag struct {
	List   bool             // it asks for the catalogue
	Chosen []metrics.Number // nil for the usual numbers
}

// Define defines the flag, with what it does.
func (n *Flag) Define(f *argv.Flags, does string) {
	f.Func("numbers", "`KEYS` "+does+", as p99_ttft_ms,failed; list shows all", n.parse)
	f.OfferList("numbers", append([]string{"list"}, numberKeys()...)...)
}

// numberKeys are the keys of all numbers.
func numberKeys() (keys []string) {
	for _, n := range catalogue.Numbers() {
		keys = append(keys, n.Key)
	}
	return keys
}

// parse reads p99_ttft_ms,output_tokens_per_s.
func (n *Flag) parse(text string) error {
	if n.List = text == "list"; n.List {
		return nil
	}
	n.Chosen = nil
	for key := range strings.SplitSeq(text, ",") {
		number, known := catalogue.Find(strings.TrimSpace(key))
		if !known {
			text := "no number is called " + pyjson.Quote(key)
			if near := argv.Nearest(key, numberKeys()); near != "" {
				text += ": did you mean " + near + "?"
			}
			return errors.New(text + " --numbers list shows all")
		}
		if !slices.ContainsFunc(n.Chosen, func(other metrics.Number) bool { return other.Key == number.Key }) {
			n.Chosen = append(n.Chosen, number)
		}
	}
	return nil
}

// Instead is the error for a table of numbers that is asked for with another form of a report.
func (n *Flag) Instead(pictures bool, format string) error {
	other := "--format " + format
	if pictures {
		other = "--html and --svg"
	}
	if n.Chosen == nil || !pictures && format == "block" {
		return nil
	}
	return fmt.Errorf("argument --numbers: it prints a table instead of %s: leave one of the two away", other)
}

// Table writes the chosen numbers of runs: for a terminal in its width, elsewhere in Markdown.
func (n *Flag) Table(w io.Writer, all []plot.Run) error {
	plot.Label(all)
	table := runs.Table{Numbers: n.Chosen}
	for _, run := range all {
		table.Rows = append(table.Rows, runs.Row{Labels: run.Labels, Summary: run.Summary})
	}
	if shown := screen.Of(w); shown.IsTerminal() {
		return table.Text(w, shown.Width, "a file: servebench report --numbers … >FILE")
	}
	return table.Markdown(w)
}
