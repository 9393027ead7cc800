package plot

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/servebench/servebench/metrics"
)

// A Run is a Summary and what tells it from those it is shown with.
type Run struct {
	*metrics.Summary
	File   string       // where it was read; "" where that says nothing
	Labels []metrics.KV // filled by Label

	ITLMarks []float64 // lines in the chart of its single ITLs, in milliseconds
}

// Keys of labels that are no flags.
const (
	keyArm    = "arm"
	keyTarget = "target"
	keyModel  = "model"
	keyRepeat = "repeat"
	keySeed   = "seed"
	keyFile   = "file"
	keyURL    = "base-url"
	keyRun    = "run"
	keyNumber = "number"
)

// mute are flags that change nothing about a run, or are told by other labels.
var mute = []string{"host", "port", keyURL, keySeed, keyTarget, keyModel, keyRepeat, "solo-first", "header", "request-id-prefix",
	"config", "label", "metadata", "save-result", "save-detailed", "append-result", "result-dir", "result-filename",
	"plot-timeline", "timeline-itl-thresholds", "plot-dataset-stats", "record-to", "record", "hlog", "vllm-version",
	"percentile-metrics", "metric-percentiles", "window", "slice", "extended", "metrics-addr", "disable-tqdm", "strict", "abort-on-failures"}

// Label finds what tells the runs apart: arm, target, model, the flags in which
// they differ, and where these do not do, the repeat, file, seed, URL and id. One
// that tells no two runs apart that those before it do not is left out.
func Label(runs []Run) {
	told := make([]string, len(runs))
	for i := range runs {
		runs[i].Labels = nil
	}
	for _, key := range keys(runs) {
		next := make([]string, len(runs))
		for i := range runs {
			next[i] = told[i] + "\x00" + runs[i].value(key)
			if key == keyNumber {
				next[i] = fmt.Sprint(i)
			}
		}
		if distinct(next) == distinct(told) {
			continue
		}
		told = next
		for i := range runs {
			value := runs[i].value(key)
			if key == keyNumber {
				value = fmt.Sprint(i + 1)
			}
			runs[i].Labels = append(runs[i].Labels, metrics.KV{Key: key, Value: value})
		}
	}
}

func distinct(texts []string) int {
	return len(slices.Compact(slices.Sorted(slices.Values(texts))))
}

// keys are those that labels may have, the most telling first.
func keys(runs []Run) []string {
	all := []string{keyArm, keyTarget, keyModel}
	for _, r := range runs {
		for _, kv := range r.Header.Config.Metadata {
			if kv.Key != keyRepeat {
				all = append(all, kv.Key)
			}
		}
	}
	all = append(all, "request-rate", "max-concurrency", "num-prompts")
	for _, r := range runs {
		for _, kv := range r.Header.Flags {
			if !slices.Contains(mute, kv.Key) {
				all = append(all, kv.Key)
			}
		}
	}
	return metrics.Distinct(append(all, keyRepeat, keyFile, keySeed, keyURL, keyRun, keyNumber))
}

// value is the run's value of a label, "" where it has none.
func (r *Run) value(key string) string {
	c := &r.Header.Config
	switch key {
	case keyTarget:
		return r.Header.TargetName()
	case keyModel:
		return c.Model
	case keyFile:
		return r.File
	case keyURL:
		return c.BaseURL
	case keyRun:
		return r.Header.Run
	case keySeed:
		return fmt.Sprint(c.Seed)
	}
	return cmp.Or(metrics.Value(c.Metadata, key), metrics.Value(r.Header.Flags, key), unflagged(c, key))
}

// unflagged is what a result file says of a flag.
func unflagged(c *metrics.Config, key string) string {
	switch {
	case key == "request-rate" && !math.IsNaN(c.RequestRate):
		return metrics.FormatPercentile(c.RequestRate)
	case key == "max-concurrency" && c.MaxConcurrency > 0:
		return fmt.Sprint(c.MaxConcurrency)
	case key == "num-prompts" && c.NumPrompts >= 0:
		return fmt.Sprint(c.NumPrompts)
	}
	return ""
}

// Name is the labels in words, or the model's name where there are none.
func (r *Run) Name() string { return cmp.Or(name(r.Labels), r.Header.Config.Model, "run") }

func name(labels []metrics.KV) string {
	var parts []string
	for _, kv := range labels {
		switch kv.Key {
		case keyArm, keyTarget, keyModel, keyFile, keyURL:
			parts = append(parts, cmp.Or(kv.Value, "no "+kv.Key))
		case keyNumber:
			parts = append(parts, "run "+kv.Value)
		default:
			parts = append(parts, strings.TrimSpace(kv.Key+" "+cmp.Or(kv.Value, "unset")))
		}
	}
	return strings.Join(parts, ", ")
}

// slo are the limits that the run was asked to keep in a latency.
func (r *Run) slo(metric string) (limits []metrics.SLO) {
	for _, slo := range r.Header.Config.Goodput {
		if slo.Metric == metric {
			limits = append(limits, slo)
		}
	}
	return limits
}
