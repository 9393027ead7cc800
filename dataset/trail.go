package dataset

import (
	"sort"

	"github.com/servebench/servebench/dataset/nprand"
)

// trailStep is how many words lie between two marks of a trail: a mark takes as
// much memory as 624 words, and going on from it takes microseconds.
const trailStep = 1 << 16

// A trail leads back to where a generator has been. The zero value is empty.
type trail struct{ marks []nprand.RandomState }

// pass tells the trail where rng is. It must be told of the first position.
func (t *trail) pass(rng *nprand.RandomState) {
	if n := len(t.marks); n == 0 || rng.Drawn() >= t.marks[n-1].Drawn()+trailStep {
		t.marks = append(t.marks, *rng)
	}
}

// at gives a generator that has drawn so many words; the trail must have passed
// there.
func (t *trail) at(drawn uint64) *nprand.RandomState {
	behind := sort.Search(len(t.marks), func(i int) bool { return t.marks[i].Drawn() > drawn })
	rng := t.marks[behind-1]
	rng.Skip(drawn - rng.Drawn())
	return &rng
}
