package html

import (
	"github.com/servebench/servebench/metrics/published"
	"github.com/servebench/servebench/report/against"
)

// A document is the table of a document's blocks, next to runs.
type document struct {
	Title, Means string
	Table        *table
	Notes        []string
}

// documentsOf are the tables of documents.
func documentsOf(blocks []*published.Block) (all []document) {
	for _, d := range against.Documents(blocks) {
		one := document{Title: d.Title, Means: "Ratio: " + d.Means + ".", Table: &table{Head: d.Head}, Notes: d.Notes}
		for _, texts := range d.Rows {
			var r row
			for _, text := range texts {
				r.Cells = append(r.Cells, cell{Text: text})
			}
			one.Table.Rows = append(one.Table.Rows, r)
		}
		one.Table.Note = d.Marked
		all = append(all, one)
	}
	return all
}
