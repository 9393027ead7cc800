package python

import "fmt"

// An exception is what Raise panics with.
type exception struct{ err error }

// Raise stops what runs, up to the Try around it, with an error for which format may have a %w.
func Raise(format string, args ...any) {
	panic(exception{fmt.Errorf(format, args...)})
}

// Try runs f and returns the exception that it raises, as an error; nil if it raises none. Any other
// panic is a mistake of this program and continues.
func Try(f func()) (err error) {
	defer func() {
		switch thrown := recover().(type) {
		case nil:
		case exception:
			err = thrown.err
		default:
			panic(thrown)
		}
	}()
	f()
	return nil
}
