package multimodal

import (
	"iter"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/nprand"
)

// order is which of the rows of a file are sent, in their order: shuffled, the first Num of them, and
// then some again if the file has fewer. It sets Python.
func order(o *dataset.Options, rows int) []int {
	rng := nprand.NewPython(o.Seed)
	all := make([]int, rows)
	for i := range all {
		all[i] = i
	}
	if !o.DisableShuffle {
		rng.Shuffle(rows, func(i, j int) { all[i], all[j] = all[j], all[i] })
	}
	want := o.Num
	if want <= 0 || o.NoOversample && want > rows {
		want = rows
	}
	if want > rows {
		o.Notice("%s: has %d rows; some are sent again to make %d", o.Path, rows, want)
	}
	sent := o.Oversample(rng, rows, want)
	for i, k := range sent {
		sent[i] = all[k]
	}
	if o.Python != nil {
		*o.Python = *rng
	}
	return sent
}

// A number is the number of a conversation, and the row that it sends.
type number struct{ conversation, row int }

func numbered(rows []int) iter.Seq[number] {
	return func(yield func(number) bool) {
		for i, row := range rows {
			if !yield(number{i, row}) {
				return
			}
		}
	}
}
