package refusal

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// maxRetryAfter is the longest wait that counts as one. A server that names a longer one is wrong.
const maxRetryAfter = 24 * time.Hour

// retryAfter is how long a reply with this header asks a request to wait; 0 if it does not say. The
// header retry-after-ms of OpenAI and Azure has milliseconds, and comes first, as for OpenAI's own
// clients. Retry-After has seconds or a date (RFC 9110, section 10.2.3); some servers send fractions of
// a second.
func retryAfter(h http.Header) time.Duration {
	if wait, ok := lasting(h.Get("Retry-After-Ms"), time.Millisecond); ok {
		return wait
	}
	header := h.Get("Retry-After")
	if wait, ok := lasting(header, time.Second); ok {
		return wait
	}
	date, err := http.ParseTime(header)
	if wait := time.Until(date); err == nil && 0 < wait && wait <= maxRetryAfter {
		return wait
	}
	return 0
}

// lasting is so many units, if number is a decimal number without a sign or an exponent, and not more
// than a day.
func lasting(number string, unit time.Duration) (d time.Duration, ok bool) {
	if strings.Trim(number, "0123456789.") != "" {
		return 0, false
	}
	n, err := strconv.ParseFloat(number, 64)
	if n *= float64(unit); err != nil || n > float64(maxRetryAfter) {
		return 0, false
	}
	return time.Duration(n), true
}
