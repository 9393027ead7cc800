package report

import (
	"fmt"
	"io"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/pyjson"
	"github.com/servebench/servebench/metrics/vllm"
)

// Window writes the block of the requested window, under a heading that names it. It writes nothing
// for a Summary without one.
func Window(w io.Writer, s *metrics.Summary, v vllm.Version) error {
	if s.Window == nil {
		return nil
	}
	p := s.Window.Part
	name := "From"
	if p.Steady {
		name = "Steady state,"
	}
	if _, err := fmt.Fprintf(w, "\n%s %s: %s\n", name, between(p.Window), inside(p)); err != nil {
		return err
	}
	return vllm.Block(w, s.Window, v)
}

// windowObject is the object "window" in a result file: the numbers of a part of the run under the
// keys of the whole run's numbers.
func windowObject(s *metrics.Summary) pyjson.Object {
	p := s.Part
	o := pyjson.Object{
		{Key: "from_s", Value: p.From.Seconds()}, {Key: "to_s", Value: p.To.Seconds()}, {Key: "steady", Value: p.Steady},
		{Key: "requests", Value: p.Requests}, {Key: "requests_inside", Value: p.Inside}, {Key: "requests_crossing", Value: p.Crossing},
	}
	return append(o, vllm.PartNumbers(s)...).With("truth", truth(s))
}

// between says from when to when a window is.
func between(w metrics.Window) string {
	return fmt.Sprintf("%.2f to %.2f s", w.From.Seconds(), w.To.Seconds())
}

// inside says how many requests count in the latencies of a part.
func inside(p *metrics.Part) string {
	text := fmt.Sprintf("%d of %d requests wholly inside", p.Inside, p.Requests)
	if p.Crossing > 0 {
		text += fmt.Sprintf(", %d across an edge, in TTFT at most", p.Crossing)
	}
	return text
}
