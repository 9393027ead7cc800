// Package report writes down what a run came to.
//
// Each kind of report is a function from a Summary to an io.Writer. What a
// Summary does not know (see package metrics) is left out, so that a report of
// something read from a file holds no line that was not in the file.
package report
