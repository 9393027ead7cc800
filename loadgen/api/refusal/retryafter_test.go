package refusal

import (
	"net/http"
	"testing"
)

func FuzzRetryAfter(f *testing.F) {
	f.Add("0.7", "700")
	f.Add("Sat, 01 Jan 2000 00:00:30 GMT", "-1")
	f.Fuzz(func(t *testing.T, seconds, millis string) {
		h := http.Header{"Retry-After": {seconds}, "Retry-After-Ms": {millis}}
		if wait := retryAfter(h); wait < 0 || wait > maxRetryAfter {
			t.Errorf("%v", wait)
		}
	})
}
