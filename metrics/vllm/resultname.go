package vllm

import (
	"fmt"
	"path"
	"time"

	"github.com/servebench/servebench/metrics"
)

// fileTime is how vLLM writes a moment in names and in the date key.
const fileTime = "20060102-150405"

// ResultName is the name vLLM gives a result file when none is asked for; t is
// the end of the run and shows in its own location.
func ResultName(c *metrics.Config, t time.Time) string {
	label := c.Label
	if label == "" {
		label = c.Backend
	}
	load := metrics.FormatFloat(c.RequestRate) + "qps"
	if r := c.RampUp; r != nil {
		load = fmt.Sprintf("ramp-up-%s-%dqps-%dqps", r.Strategy, r.Start, r.End)
	}
	if c.MaxConcurrency > 0 {
		load += fmt.Sprintf("-concurrency%d", c.MaxConcurrency)
	}
	return fmt.Sprintf("%s-%s-%s-%s.json", label, load, path.Base(c.Model), t.Format(fileTime))
}

// isoFormat writes a moment as Python's datetime.isoformat does without a zone:
// microseconds, or none when they are zero.
func isoFormat(t time.Time) string {
	if t.Nanosecond()/1000 == 0 {
		return t.Format("2006-01-02T15:04:05")
	}
	return t.Format("2006-01-02T15:04:05.000000")
}
