package report

import (
	"io"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect/adapters"
	"github.com/servebench/servebench/metrics/aspect/processes"
	"github.com/servebench/servebench/metrics/aspect/sessions"
	"github.com/servebench/servebench/metrics/pool"
	"github.com/servebench/servebench/metrics/pyjson"
	"github.com/servebench/servebench/metrics/vllm"
)

// JSON writes a result file as vLLM does: its keys in its order, on one line without a line end,
// formatted as Python's json.dumps. It has the arrays of --save-detailed if the Summary has
// Outcomes, and latencies and queue_times if it has Timings. Version v decides the keys. Unknown
// settings of the run are null, other unknown numbers are left out. Our own members follow at the
// end, if the Summary has them: "truth", "sessions", "adapters", "run_id", "server", "interrupted", "stopped_by",
// "incomplete", "trust", "window", "slices", "memory", "wake" and "waterfall".
func JSON(w io.Writer, s *metrics.Summary, v vllm.Version) error {
	_, err := w.Write(pyjson.Append(nil, Object(s, v)))
	return err
}

// Object is the object in a result file, which JSON writes.
func Object(s *metrics.Summary, v vllm.Version) pyjson.Object {
	o := vllm.Result(s, v)
	if s.Truth != nil {
		o.Set("truth", truth(s))
	}
	if of := sessions.Of(s); of != nil {
		o.Set("sessions", vllm.Sessions(of))
	}
	if all := adapters.Of(s); all != nil {
		o.Set("adapters", vllm.Adapters(all))
	}
	if s.Truth != nil && s.Header.Run != "" {
		o.Set("run_id", s.Header.Run)
	}
	if start := processes.Start(s); start != nil {
		o.Set("server", startObject(start))
	}
	if s.Ending.Interrupted {
		o.Set("interrupted", true)
	}
	if s.Ending.StoppedBy != "" {
		o.Set("stopped_by", s.Ending.StoppedBy)
	}
	if len(s.Ending.Incomplete) > 0 {
		o.Set("incomplete", s.Ending.Incomplete)
	}
	if s.Trust != nil {
		o.Set("trust", trustObject(s.Trust))
	}
	if s.Parts.Window != nil {
		o.Set("window", PartObject(s.Parts.Window))
	}
	if s.Parts.Slices != nil {
		o.Set("slices", sliceObjects(s.Parts.Slices))
	}
	if c := pool.Of(s); c != nil {
		o.Set("memory", memoryObject(c))
	}
	if w := s.Header.Wake; w != nil {
		o.Set("wake", pyjson.Object{
			{Key: "level", Value: w.Level}, {Key: "sleep_ms", Value: metrics.Milliseconds(w.Sleep)},
			{Key: "ready_ms", Value: metrics.Milliseconds(w.Ready)},
			{Key: "first_token_ms", Value: metrics.Milliseconds(w.FirstToken)},
		})
	}
	if s.Parts.Spans != nil {
		o.Set("waterfall", waterfallObject(s))
	}
	return o
}

// startObject is the object "server" of a result file: which start of the server the run measured.
func startObject(s *metrics.ServerStart) pyjson.Object {
	o := pyjson.Object{{Key: "id", Value: s.ID}, {Key: "by", Value: s.By}}
	if !s.Began.IsZero() {
		o.Set("began", s.Began.UTC().Format(time.RFC3339Nano))
	}
	setSome(&o, "pid", s.PID)
	if s.Version != "" {
		o.Set("version", s.Version)
	}
	return o
}
