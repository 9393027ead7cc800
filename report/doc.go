// Package report writes the results of runs.
//
// Each kind of report is a function from a Summary to an io.Writer: the additional metrics and the
// verdict, result files, tables of several runs, comparisons. A fact is computed once, under its
// key in the result file, and templates turn facts into text: see truth.tmpl and comparison.tmpl. A
// report leaves out what a Summary does not know (see package metrics), so a report of a file has
// no line that was not in the file.
package report
