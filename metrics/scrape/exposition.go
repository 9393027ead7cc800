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

// heard are the prefixes of the names of series to look at, as plain writes them.
var heard = []string{"vllm_", "sglang_", "trtllm_", "tgi_", "llamacpp_", "DCGM_", StartTime}

// maxExpositionLine bounds a line of a text in Prometheus' format, in bytes.
const maxExpositionLine = 1 << 20

// exposition yields the known series with a finite value of a text in Prometheus' format or in
// OpenMetrics'. The last pair may be an error: reading failed, or the text is not in that format from
// a known series on. It ignores other mistakes, such as types that a router writes twice.
func exposition(r io.Reader) iter.Seq2[series, error] {
	return func(yield func(series, error) bool) {
		var text bytes.Buffer
		lines := bufio.NewScanner(r)
		lines.Buffer(nil, maxExpositionLine)
		for lines.Scan() {
			line := bytes.TrimSpace(lines.Bytes())
			if isHeard(line) {
				text.Write(untimed(line))
				text.WriteByte('\n')
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
