package jinja

import "fmt"

// A failure stops parsing or rendering. It is thrown as a panic deep inside and
// becomes an error before it leaves the package.
type failure struct{ err error }

func fail(format string, args ...any) {
	panic(failure{fmt.Errorf(format, args...)})
}

// caught runs f and returns the failure thrown in it. Any other panic is a
// mistake in this package and goes on.
func caught(f func()) (err error) {
	defer func() {
		switch thrown := recover().(type) {
		case nil:
		case failure:
			err = thrown.err
		default:
			panic(thrown)
		}
	}()
	f()
	return nil
}
