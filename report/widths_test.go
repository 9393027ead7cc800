package report

import (
	"io"
	"strings"
	"testing"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/trust"
	"github.com/servebench/servebench/report/reporttest"
	"github.com/servebench/servebench/report/screen"
)

// onTerminals are all that this package writes in the width of a terminal.
func onTerminals(s *metrics.Summary) map[string]func(io.Writer, screen.Screen) error {
	return map[string]func(io.Writer, screen.Screen) error{
		"ending": func(w io.Writer, on screen.Screen) error {
			return (&Ending{Screen: on, Name: "名前.jsonl", Extended: true}).Write(w, s)
		},
		"additional metrics": func(w io.Writer, on screen.Screen) error { return additional(w, s, on.Width) },
		"causes":             func(w io.Writer, on screen.Screen) error { return Causes(w, s, on.Width) },
		"said":               func(w io.Writer, on screen.Screen) error { return on.Say(w, "- 名前 and words\n\n  a  row\n") },
	}
}

// A terminal of any width loses no result.
func TestAnyWidthShowsEverything(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second: in go test without -short")
	}
	for name, s := range reporttest.Runs() {
		trust.Judge(s)
		for what, write := range onTerminals(s) {
			for _, width := range reporttest.Widths() {
				var text strings.Builder
				if err := write(&text, screen.Screen{Width: width, Color: width%2 == 0}); err != nil {
					t.Errorf("%s of %s in %d columns: %v", what, name, width, err)
				}
			}
		}
	}
}
