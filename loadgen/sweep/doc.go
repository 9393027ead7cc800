// Package sweep runs an experiment: many runs over servers and loads, in an
// order that is fair to all of them, and so that it can be killed at any time
// and gone on with.
//
// A Plan is what the file of an experiment says. It has a Cell for each arm (a
// server in one configuration), point (a load) and repeat. A cell is one run or,
// where the plan has a Search, as many as the search needs. What has been run
// is in a Journal; what is to be run next follows from the Plan and the Journal
// alone, so that a sweep which was cut short goes on as if it had not been.
//
// The package knows no flag of a run and sends no load: it is handed a func that
// does.
package sweep
