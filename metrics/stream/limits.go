package stream

import (
	"errors"

	"github.com/servebench/servebench/metrics/record"
)

// mostDigits is how many digits an integer in a line of a kind may have, so that no sum overflows. The
// numbers of an end line are sums.
var mostDigits = map[string]int{kindReq: record.MostDigits, kindEnd: 18}

// errHuge says that a line has a number that no run comes to.
var errHuge = errors.New("a number is too large")

// hasLonger reports whether an integer in the JSON of a line has more digits than that.
func hasLonger(line []byte, digits int) bool {
	run, quoted, escaped, fraction := 0, false, false, false
	for _, c := range line {
		switch {
		case escaped:
			escaped = false
		case quoted && c == '\\':
			escaped = true
		case c == '"':
			quoted, run, fraction = !quoted, 0, false
		case quoted:
		case '0' <= c && c <= '9':
			if run++; run > digits && !fraction {
				return true
			}
		default:
			run, fraction = 0, c == '.' || fraction && (c == 'e' || c == 'E' || c == '-' || c == '+')
		}
	}
	return false
}
