package scrape

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"io"
	"iter"
	"maps"
	"math"
	"slices"
	"strings"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// A series is a counter, a gauge or an untyped number of a server's /metrics.
type series struct {
	name   string
	labels []*dto.LabelPair
	value  float64
}

// heard are the prefixes of the names of series to look at.
var heard = []string{"vllm:", "sglang:", "tgi_", "llamacpp:", "DCGM_", startTime}

// maxExpositionLine bounds a line of a text in Prometheus' format, in bytes.
const maxExpositionLine = 1 << 20

// exposition yields the known series with a finite value of a text in Prometheus' format. The last
// pair may be an error: reading failed, or the text is not in that format from a known series on.
// It ignores other mistakes, such as types that a router writes twice.
func exposition(r io.Reader) iter.Seq2[series, error] {
	return func(yield func(series, error) bool) {
		var text bytes.Buffer
		lines := bufio.NewScanner(r)
		lines.Buffer(nil, maxExpositionLine)
		for lines.Scan() {
			line := lines.Text()
			if slices.ContainsFunc(heard, func(name string) bool { return strings.HasPrefix(line, name) }) {
				text.WriteString(line + "\n")
			}
		}
		parser := expfmt.NewTextParser(model.UTF8Validation)
		families, err := parser.TextToMetricFamilies(&text)
		err = cmp.Or(lines.Err(), err)
		for _, name := range slices.Sorted(maps.Keys(families)) {
			for _, m := range families[name].Metric {
				v := number(m)
				if !math.IsNaN(v) && !math.IsInf(v, 0) && !yield(series{name, m.Label, v}, nil) {
					return
				}
			}
		}
		if err != nil {
			yield(series{}, fmt.Errorf("reading metrics: %w", err))
		}
	}
}

// number is the value of a metric that has one, otherwise NaN.
func number(m *dto.Metric) float64 {
	switch {
	case m.Counter != nil:
		return m.Counter.GetValue()
	case m.Gauge != nil:
		return m.Gauge.GetValue()
	case m.Untyped != nil:
		return m.Untyped.GetValue()
	}
	return math.NaN()
}

// label is the value of the label of that name, "" if there is none.
func (s series) label(name string) string {
	for _, pair := range s.labels {
		if pair.GetName() == name {
			return pair.GetValue()
		}
	}
	return ""
}

// totals are a server's series by the name of their metric, summed over their labels.
type totals map[string]total

type total struct {
	sum    float64
	series int
	least  float64
}

func (t totals) add(s series) {
	old, known := t[s.name]
	if !known {
		old.least = s.value
	}
	t[s.name] = total{old.sum + s.value, old.series + 1, min(old.least, s.value)}
}

// first is the sum of the first of several possible names of a metric, since servers in transition
// have both; nil if it has none.
func (t totals) first(names ...string) *float64 {
	for _, name := range names {
		if found, ok := t[name]; ok {
			return &found.sum
		}
	}
	return nil
}

// firstMean is like first, but returns the mean.
func (t totals) firstMean(names ...string) *float64 {
	for _, name := range names {
		if found, ok := t[name]; ok {
			mean := found.sum / float64(found.series)
			return &mean
		}
	}
	return nil
}
