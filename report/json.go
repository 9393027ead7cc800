package report

import (
	"io"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/pyjson"
	"github.com/servebench/servebench/metrics/vllm"
)

// JSON writes a result file as vLLM does: its keys in its order, on one line
// without an end, formatted as Python's json.dumps formats. The arrays of
// --save-detailed are in it when the Summary has Outcomes, latencies and queue_times
// when it has Lastings. The keys are those of version v. What is not
// known of how the run was asked for is null, any other number is left out. At
// the very end are objects of our own, "truth", "trust" and "window", "run_id" and
// an array "slices", where the Summary has them, and "interrupted", "stopped_by" and
// "incomplete" where it is.
func JSON(w io.Writer, s *metrics.Summary, v vllm.Version) error {
	_, err := w.Write(pyjson.Append(nil, result(s, v)))
	return err
}

// result is the object in a result file.
func result(s *metrics.Summary, v vllm.Version) pyjson.Object {
	o := vllm.Result(s, v)
	if s.Truth != nil {
		o.Set("truth", truth(s))
	}
	if s.Truth != nil && s.Header.Run != "" {
		o.Set("run_id", s.Header.Run)
	}
	if s.Interrupted {
		o.Set("interrupted", true)
	}
	if s.StoppedBy != "" {
		o.Set("stopped_by", s.StoppedBy)
	}
	if len(s.Incomplete) > 0 {
		o.Set("incomplete", s.Incomplete)
	}
	if s.Trust != nil {
		o.Set("trust", trustObject(s.Trust))
	}
	if s.Window != nil {
		o.Set("window", windowObject(s.Window))
	}
	if s.Slices != nil {
		o.Set("slices", sliceObjects(s.Slices))
	}
	return o
}
