package wire

import (
	"net/http"
	"strings"

	"github.com/servebench/servebench/metrics"
)

// tokenMarks are the characters, apart from letters and digits, that a token may have (RFC 9110,
// section 5.6.2).
const tokenMarks = "!#$%&'*+-.^_`|~"

// checkHeader reports what HTTP does not allow in h (RFC 9110, section 5), as a *metrics.Failure.
// net/http would open a connection first. The message has no value, since that may be a key.
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
