// Package sessions reads and makes sessions of several turns: recorded traces, chats, and jobs of
// agents.
//
// A dataset here is a struct with Open, like those in package dataset, and yields sessions in the
// order in which they start. It checks the whole file when it is opened, and an error names file and
// line. It builds a session when it is pulled, so memory does not grow with the file: at most an
// index of where the lines are.
package sessions

import "github.com/servebench/servebench/dataset"

// notice tells people something about the file, if they listen.
func notice(o *dataset.Options, format string, args ...any) {
	if o.Log != nil {
		o.Log(format, args...)
	}
}

// number is how many of have sessions to send; want is Options.Num, where 0 and less means all.
func number(o *dataset.Options, have int) int {
	if o.Num > 0 {
		return min(o.Num, have)
	}
	return have
}
