package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/servebench/servebench/cmd/servebench/internal/argv"
	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/pyjson"
	"github.com/servebench/servebench/metrics/vllm"
	"github.com/servebench/servebench/report"
)

// partOptions say what of a run is shown beside the block of the whole.
type partOptions struct {
	Window *windowAsk
	Slice  time.Duration // width of equal parts; 0 shows none

	Extended bool // sections that the block lacks
}

// A windowAsk is a part of a run as --window names it.
type windowAsk struct {
	text   string
	steady bool // where the run is in a steady state; otherwise
	metrics.Window
	open bool // to the end of the run
}

// any says whether a part is to be shown.
func (p *partOptions) any() bool { return p.Window != nil || p.Slice > 0 || p.Extended }

// cut puts the parts into s. It warns of those that there are not.
func (p *partOptions) cut(talk io.Writer, s *metrics.Summary) {
	if s.Trace == nil {
		if p.any() {
			fmt.Fprintln(talk, "WARNING: --window, --slice and --extended need single requests, as a record stream has them that is not compact (servebench run -o)")
		}
		return
	}
	if p.Window != nil {
		window, err := p.Window.of(s)
		if err != nil {
			fmt.Fprintf(talk, "WARNING: --window %s: %v\n", p.Window.text, err)
		} else {
			s.Window = s.Within(window)
			s.Window.Part.Steady = p.Window.steady
		}
	}
	if p.Slice > 0 {
		var err error
		if s.Slices, err = s.Slice(p.Slice); err != nil {
			fmt.Fprintf(talk, "WARNING: --slice: %v\n", err)
		}
	} else if len(s.Trace.Samples) > 0 {
		if all, err := s.Slice(math.MaxInt64); err == nil && len(all) > 0 {
			s.Watched = &all[0]
		}
	}
}

// show writes what is to stand under the block of s, as far as there is any.
func (p *partOptions) show(out io.Writer, s *metrics.Summary, v vllm.Version) error {
	var extended error
	if p.Extended {
		extended = report.Extended(out, s)
	}
	return errors.Join(extended, report.Window(out, s, v), report.Slices(out, s))
}

// of is the window in s, no longer than its measured part.
func (a *windowAsk) of(s *metrics.Summary) (metrics.Window, error) {
	if a.steady {
		window, ok := s.Steady()
		if !ok {
			return window, errors.New("no steady state was found: the run is too short, or its load changes until its end")
		}
		return window, nil
	}
	whole := s.Whole()
	window := a.Window
	if a.open {
		window.To = whole.To
	}
	window = window.Meet(whole)
	if window.From >= window.To {
		return window, fmt.Errorf("the measured part lasted from %.2f to %.2f s", whole.From.Seconds(), whole.To.Seconds())
	}
	return window, nil
}

// parseWindow reads steady, 20s:110s, 20s: or :110s. Its times count from the
// start of the run.
func parseWindow(text string) (*windowAsk, error) {
	if text == "steady" {
		return &windowAsk{text: text, steady: true}, nil
	}
	invalid := fmt.Errorf("invalid window: %s: it must be steady, or two times as 20s:110s, of which one may be left out", pyjson.Quote(text))
	from, to, ok := strings.Cut(text, ":")
	if !ok || from == "" && to == "" {
		return nil, invalid
	}
	a := &windowAsk{text: text, open: to == ""}
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
	if !a.open && a.To <= a.From {
		return nil, fmt.Errorf("invalid window: %s: it must end after it begins", pyjson.Quote(text))
	}
	return a, nil
}

// parseSlice reads the width of slices.
func parseSlice(text string) (time.Duration, error) {
	width, err := argv.ParseSeconds(text)
	if err == nil && width < time.Millisecond {
		err = fmt.Errorf("invalid width: %s: it must be a millisecond or more, as 10s", pyjson.Quote(text))
	}
	return width, err
}
