package builtin

import (
	"testing"
	"time"
)

func TestStrftimeAsPython(t *testing.T) {
	at := time.Date(2026, 3, 4, 0, 6, 7, 0, time.UTC)
	for format, want := range map[string]string{"%d %B %Y": "04 March 2026", "%-d/%-m, %-I%p": "4/3, 12AM", "%e|%-H|%-M": " 4|0|6", "%%d": "%d"} {
		if got := strftime(at, format); got != want {
			t.Errorf("%s: %q, want %q", format, got, want)
		}
	}
}
