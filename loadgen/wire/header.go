package wire

import (
	"net/http"
	"strings"

	"github.com/servebench/servebench/metrics"
)

// tokenMarks are the characters other than letters and digits of which a token
// may consist (RFC 9110, section 5.6.2).
const tokenMarks = "!#$%&'*+-.^_`|~"

// checkHeader reports what of h HTTP does not allow (RFC 9110, section 5), as a
// *metrics.Failure. Net/http would open a connection first. It names no value: that may
// be a key.
func checkHeader(h http.Header) error {
	for name, values := range h {
		if name == "" || strings.ContainsFunc(name, noToken) {
			return metrics.Failf(metrics.Malformed, "%q cannot be the name of a header", name)
		}
		for _, value := range values {
			if strings.ContainsFunc(value, isControl) {
				return metrics.Failf(metrics.Malformed, "the header %s has a control character in its value", name)
			}
		}
	}
	return nil
}

func noToken(c rune) bool {
	letter := 'a' <= c|0x20 && c|0x20 <= 'z'
	return !letter && (c < '0' || c > '9') && !strings.ContainsRune(tokenMarks, c)
}

func isControl(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }
