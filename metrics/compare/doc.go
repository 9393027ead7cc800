// Package compare says whether one set of runs is worse than another.
//
// The unit of evidence is a run: requests of one run share its fate, so however
// many there are, a single run a side says nothing of chance. A Run is what a
// comparison needs to know of one. A Comparison holds a Point for each load that
// both sides were put under, with a Row for each number of a run; a Gate says which
// of them decide, by how much they must have changed to matter, and what they may be
// at all.
package compare
