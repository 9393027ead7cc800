package plot

import (
	"cmp"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/compare/asked"
)

// A Run is a Summary with labels that distinguish it from the other runs of a page.
type Run struct {
	Summary *metrics.Summary
	File    string       // where it was read; "" if that says nothing
	Labels  []metrics.KV // filled by Label

	ITLMarks []float64 // lines in the chart of its single ITLs, in milliseconds
}

// Keys of labels that are not flags.
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

// mute are flags that do not change a run, or that other labels cover.
var mute = append([]string{"host", "port", keyURL, keySeed, keyTarget, keyModel, keyRepeat, "solo-first", "pairs",
	"header", "request-id-prefix"}, asked.OutputFlags...)

// Label finds labels that distinguish the runs: arm, target, model, the flags in which they differ,
// and if that is not enough the repeat, file, seed, URL and id. It leaves out a label that
// distinguishes no more runs than the labels before it. A result block, which says nothing of its
// run, has its file and its number there as its label, as night.md:2.
func Label(runs []Run) {
	var blocks, others []*Run
	for i := range runs {
		if runs[i].Labels = nil; runs[i].Block() {
			blocks = append(blocks, &runs[i])
		} else {
			others = append(others, &runs[i])
		}
	}
	label(others)
	if len(runs) > 1 && len(others) == 1 {
		blocks = append(blocks, others...)
	}
	var origins []metrics.Origin
	for _, r := range blocks {
		origins = append(origins, r.Summary.Source.Origin)
	}
	for i, name := range originNames(origins) {
		blocks[i].Labels = []metrics.KV{{Key: keyFile, Value: name}}
	}
}

// Block says whether the run was read as a result block in a text, which does not say by which
// model, flags or load it was measured.
func (r *Run) Block() bool {
	h := r.Summary.Header
	return r.Summary.Source.Origin.File != "" && h.Run == "" && h.Config.Model == "" && h.Flags == nil
}

// originNames are short names of origins: the file without its folder, if no other file has that
// name.
func originNames(origins []metrics.Origin) (names []string) {
	files := map[string]map[string]bool{}
	for _, p := range origins {
		base := filepath.Base(p.File)
		if files[base] == nil {
			files[base] = map[string]bool{}
		}
		files[base][p.File] = true
	}
	for _, p := range origins {
		if base := filepath.Base(p.File); len(files[base]) == 1 {
			p.File = base
		}
		names = append(names, p.String())
	}
	return names
}

// label finds the labels of runs that say what they are.
func label(runs []*Run) {
	value := func(i int, key string) string {
		if key == keyNumber {
			return fmt.Sprint(i + 1)
		}
		return runs[i].value(key)
	}
	told := make([]string, len(runs))
	for _, key := range keys(runs) {
		next := slices.Clone(told)
		for i := range runs {
			next[i] += "\x00" + value(i, key)
		}
		if len(metrics.Distinct(next)) == len(metrics.Distinct(told)) {
			continue
		}
		told = next
		for i := range runs {
			runs[i].Labels = append(runs[i].Labels, metrics.KV{Key: key, Value: value(i, key)})
		}
	}
}

// keys are the possible keys of labels, the most telling first.
func keys(runs []*Run) []string {
	all := []string{keyArm, keyTarget, keyModel}
	for _, r := range runs {
		for _, kv := range r.Summary.Header.Config.Metadata {
			if kv.Key != keyRepeat {
				all = append(all, kv.Key)
			}
		}
	}
	all = append(all, "request-rate", "max-concurrency", "num-prompts")
	for _, r := range runs {
		for _, kv := range r.Summary.Header.Flags {
			if !slices.Contains(mute, kv.Key) {
				all = append(all, kv.Key)
			}
		}
	}
	return metrics.Distinct(append(all, keyRepeat, keyFile, keySeed, keyURL, keyRun, keyNumber))
}

// value is the run's value of a label, "" if it has none.
func (r *Run) value(key string) string {
	c := &r.Summary.Header.Config
	switch key {
	case keyTarget:
		return r.Summary.Header.TargetName()
	case keyModel:
		return c.Model
	case keyFile:
		return r.File
	case keyURL:
		return c.BaseURL
	case keyRun:
		return r.Summary.Header.Run
	case keySeed:
		return fmt.Sprint(c.Seed)
	}
	return cmp.Or(metrics.Value(c.Metadata, key), metrics.Value(r.Summary.Header.Flags, key), unflagged(c, key))
}

// unflagged is the value of a flag in a result file.
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

// Name is the labels in words, or the model's name if there are none.
func (r *Run) Name() string { return cmp.Or(name(r.Labels), r.Summary.Header.Config.Model, "run") }

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

// slo are the SLOs of the run for a latency.
func (r *Run) slo(metric string) (limits []metrics.SLO) {
	for _, slo := range r.Summary.Header.Config.Goodput {
		if slo.Metric == metric {
			limits = append(limits, slo)
		}
	}
	return limits
}
