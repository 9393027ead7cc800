package host

import (
	"strings"
	"testing"
)

func TestAvailableMemoryIsFound(t *testing.T) {
	for text, want := range map[string]int64{
		"MemTotal:       24689764 kB\nMemFree:         1234 kB\nMemAvailable:   2048 kB\n": 2 << 20,
		"MemTotal:       24689764 kB\n": 0,
		"MemAvailable:   many kB\n":     0,
		"":                              0,
	} {
		if got, known := available(strings.NewReader(text)); got != want || known != (want > 0) {
			t.Errorf("%q: %d, %t", text, got, known)
		}
	}
}
