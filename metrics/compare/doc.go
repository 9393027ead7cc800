// Package compare says whether one set of runs is worse than another.
//
// The unit of evidence is a run. The requests of one run share its fate, so a single run
// a side says nothing about chance, however many requests it has. A Run is what a
// comparison needs to know about one run. A Comparison has a Point for each load that
// both sides had, with a Row for each number. A Gate says which numbers decide, which
// changes matter, and which values are allowed at all.
package compare
