package report

import (
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect/adapters"
	"github.com/servebench/servebench/metrics/aspect/spans"
	"github.com/servebench/servebench/metrics/pyjson"
	"github.com/servebench/servebench/metrics/slicing"
	"github.com/servebench/servebench/metrics/steady"
	"github.com/servebench/servebench/metrics/vllm"
)

// Parts say which parts of a run to show in addition to the whole.
type Parts struct {
	// Window is a requested part; nil for none.
	Window *WindowAsk

	// Slice is the width of equal parts; 0 shows none.
	Slice time.Duration

	// Extended shows sections that the block lacks.
	Extended bool

	// Waterfall shows the spans of requests, and Request the spans of one, by its x-request-id or its
	// number in the dataset; "" for none.
	Waterfall bool
	Request   string
}

// A WindowAsk is a part of a run as --window names it.
type WindowAsk struct {
	// Text is how it was named.
	Text string

	// Steady takes the part in which the run is in a steady state, instead of the Window.
	Steady bool

	metrics.Window

	// Open lasts to the end of the run.
	Open bool
}

// Any reports whether there is a part to show.
func (p *Parts) Any() bool {
	return p.Window != nil || p.Slice > 0 || p.Extended || p.Waterfall || p.Request != ""
}

// Cut puts the parts into s. It warns about parts that do not exist.
func (p *Parts) Cut(talk io.Writer, s *metrics.Summary) {
	if p.Waterfall {
		s.Parts.Spans = spans.Each(s)
	}
	if s.Kept.Trace == nil {
		if p.Request != "" {
			fmt.Fprintln(talk, "WARNING: --request needs single requests: record a stream (servebench run -o)")
		}
		if p.Window != nil || p.Slice > 0 {
			fmt.Fprintln(talk, "WARNING: --window and --slice need single requests: record a stream (servebench run -o)")
		}
		return
	}
	if p.Window != nil {
		window, err := p.Window.of(s)
		if err != nil {
			fmt.Fprintf(talk, "WARNING: --window %s: %v\n", p.Window.Text, err)
		} else {
			s.Parts.Window = s.Within(window)
			s.Parts.Window.Parts.Of.Steady = p.Window.Steady
		}
	}
	if p.Slice > 0 {
		var err error
		if s.Parts.Slices, err = slicing.Slice(s, p.Slice); err != nil {
			fmt.Fprintf(talk, "WARNING: --slice: %v\n", err)
		}
	} else if len(s.Kept.Trace.Samples) > 0 {
		if all, err := slicing.Slice(s, math.MaxInt64); err == nil && len(all) > 0 {
			s.Parts.Watched = &all[0]
		}
	}
}

// Show writes what follows the block of s, if there is anything.
func (p *Parts) Show(out io.Writer, s *metrics.Summary, v vllm.Version) error {
	errs := []error{Sessions(out, s, p.Extended), Adapters(out, s)}
	if p.Extended {
		errs = append(errs, writeExtended(out, s))
	}
	errs = append(errs, Window(out, s, v), writeSlices(out, s), writeWake(out, s), writeMemory(out, s), Waterfall(out, s))
	if p.Request != "" && s.Kept.Trace != nil {
		errs = append(errs, requestWaterfalls(out, s, p.Request))
	}
	return errors.Join(errs...)
}

// of is the window in s, limited to its measured part.
func (a *WindowAsk) of(s *metrics.Summary) (metrics.Window, error) {
	if a.Steady {
		window, ok := steady.State(s)
		if !ok {
			return window, errors.New("no steady state was found: the run is too short, or its load changes until its end")
		}
		return window, nil
	}
	whole := s.Whole()
	window := a.Window
	if a.Open {
		window.To = whole.To
	}
	window = window.Meet(whole)
	if window.From >= window.To {
		return window, fmt.Errorf("the measured part lasted from %.2f to %.2f s", whole.From.Seconds(), whole.To.Seconds())
	}
	return window, nil
}

// Window writes the block of the requested window, under a heading that names it, and its adapters. It writes nothing
// for a Summary without one.
func Window(w io.Writer, s *metrics.Summary, v vllm.Version) error {
	if s.Parts.Window == nil {
		return nil
	}
	p := s.Parts.Window.Parts.Of
	name := "From"
	if p.Steady {
		name = "Steady state,"
	}
	if _, err := fmt.Fprintf(w, "\n%s %s: %s\n", name, Between(p.Window), Inside(s.Parts.Window)); err != nil {
		return err
	}
	return errors.Join(vllm.Block(w, s.Parts.Window, v), Adapters(w, s.Parts.Window))
}

// PartObject is an object in a result file, as "window" is one: the numbers of a part of the run under the
// keys of the whole run's numbers.
func PartObject(s *metrics.Summary) pyjson.Object {
	p := s.Parts.Of
	o := pyjson.Object{
		{Key: "from_s", Value: p.From.Seconds()}, {Key: "to_s", Value: p.To.Seconds()}, {Key: "steady", Value: p.Steady},
		{Key: "requests", Value: p.Requests}, {Key: "requests_inside", Value: p.Inside},
		{Key: "requests_crossing", Value: p.Crossing},
	}
	o = append(o, vllm.PartNumbers(s)...).With("truth", truth(s))
	if all := adapters.Of(s); all != nil {
		o.Set("adapters", vllm.Adapters(all))
	}
	return o
}

// Between says from when to when a window is.
func Between(w metrics.Window) string {
	return fmt.Sprintf("%.2f to %.2f s", w.From.Seconds(), w.To.Seconds())
}

// Inside says how many requests count in the latencies of s, a part of a run.
func Inside(s *metrics.Summary) string {
	p, in := s.Parts.Of, "in TTFT at most"
	if s.Header.Config.Whole {
		in = "in no latency"
	}
	text := fmt.Sprintf("%d of %d requests wholly inside", p.Inside, p.Requests)
	if p.Crossing > 0 {
		text += fmt.Sprintf(", %d across an edge, %s", p.Crossing, in)
	}
	return text
}
