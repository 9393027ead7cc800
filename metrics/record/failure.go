package record

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"
	"unicode"
)

const (
	shortMessage = 500  // bytes that Shorten keeps
	maxFailure   = 1500 // bytes of a failure's message
)

// A Failure is an error that says how a request failed. Its message is short and safe to print on a
// terminal, whatever the server put into it.
type Failure struct {
	Class  Class
	Err    error // the server's message if there is one
	Status int   // HTTP status, if that is the failure; else 0

	// RetryAfter is how long the server asks us to wait before sending the request again. Zero
	// means that it does not say.
	RetryAfter time.Duration
}

func (f *Failure) Error() string { return Clip(f.Err.Error(), maxFailure) }

func (f *Failure) Unwrap() error { return f.Err }

// Failf makes a Failure of a class, with a message in the syntax of fmt.Errorf. Errors among args
// lose the addresses of the connection.
func Failf(class Class, format string, args ...any) *Failure {
	for i, arg := range args {
		if err, ok := arg.(error); ok {
			args[i] = withoutAddresses(err)
		}
	}
	return &Failure{Class: class, Err: fmt.Errorf(format, args...)}
}

// withoutAddresses is err without the addresses of a connection that broke. Our port differs for
// each connection, and failures are counted by their message.
func withoutAddresses(err error) error {
	if broken, ok := errors.AsType[*net.OpError](err); ok && broken.Source != nil {
		return broken.Err
	}
	return err
}

// Ended returns why ctx ended: a limit was passed, or the run was stopped. It is nil until ctx
// ends.
func Ended(ctx context.Context) *Failure {
	if ctx.Err() == nil {
		return nil
	}
	if f, ok := errors.AsType[*Failure](context.Cause(ctx)); ok {
		return f
	}
	return Failf(Cancelled, "cut because the run was stopped")
}

// Classify returns the class under which err is counted, and its message. An error that is not a
// Failure is Malformed.
func Classify(err error) (Class, string) {
	if f, ok := errors.AsType[*Failure](err); ok {
		return f.Class, f.Error()
	}
	return Malformed, err.Error()
}

// Shorten returns at most 500 bytes of a message, on one line and safe to print on a terminal.
func Shorten(message string) string { return Clip(message, shortMessage) }

// Clip is like Shorten, but returns at most the given number of bytes.
func Clip(message string, most int) string {
	cut := message[:min(len(message), most)]
	cut = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(cut, ""))
	if len(message) > most {
		cut += "…"
	}
	return cut
}
