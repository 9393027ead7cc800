// Package window reads which parts of a run a report is asked for.
package window

import (
	"fmt"
	"strings"
	"time"

	"github.com/servebench/servebench/cmd/servebench/internal/argv"
	"github.com/servebench/servebench/metrics/pyjson"
	"github.com/servebench/servebench/report"
)

// Parse reads steady, 20s:110s, 20s: or :110s. Its times count from the
// start of the run.
func Parse(text string) (*report.WindowAsk, error) {
	if text == "steady" {
		return &report.WindowAsk{Text: text, Steady: true}, nil
	}
	invalid := fmt.Errorf("invalid window: %s: it must be steady, or two times as 20s:110s, of which one may be left out",
		pyjson.Quote(text))
	from, to, ok := strings.Cut(text, ":")
	if !ok || from == "" && to == "" {
		return nil, invalid
	}
	a := &report.WindowAsk{Text: text, Open: to == ""}
	for _, end := range []struct {
		text string
		at   *time.Duration
	}{{from, &a.From}, {to, &a.To}} {
		if end.text == "" {
			continue
		}
		var err error
		if *end.at, err = argv.ParseSeconds(end.text); err != nil {
			return nil, fmt.Errorf("%w: %w", invalid, err)
		}
	}
	if !a.Open && a.To <= a.From {
		return nil, fmt.Errorf("invalid window: %s: it must end after it begins", pyjson.Quote(text))
	}
	return a, nil
}

// ParseSlice reads the width of slices.
func ParseSlice(text string) (time.Duration, error) {
	width, err := argv.ParseSeconds(text)
	if err == nil && width < time.Millisecond {
		err = fmt.Errorf("invalid width: %s: it must be a millisecond or more, as 10s", pyjson.Quote(text))
	}
	return width, err
}
