package comparison

import (
	"io"
	"strings"
	"unicode"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchunit"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/compare"
	"github.com/servebench/servebench/metrics/compare/brief"
)

// benchOld writes the runs of the old side in the Go benchmark format, as
// benchstat reads it: a line for each number of each run.
func benchOld(w io.Writer, c *compare.Comparison) error {
	return benchmarks(w, c, func(p *compare.Point) []*brief.Run { return p.Old })
}

// benchNew writes the runs of the new side.
func benchNew(w io.Writer, c *compare.Comparison) error {
	return benchmarks(w, c, func(p *compare.Point) []*brief.Run { return p.New })
}

func benchmarks(w io.Writer, c *compare.Comparison, runs func(*compare.Point) []*brief.Run) error {
	out := benchfmt.NewWriter(w)
	for _, unit := range []string{string(metrics.RequestsPerSecond), string(metrics.TokensPerSecond)} {
		key := benchfmt.UnitMetadataKey{Unit: unit, Key: "better"}
		if err := out.Write(&benchfmt.UnitMetadata{UnitMetadataKey: key, OrigUnit: unit, Value: "higher"}); err != nil {
			return err
		}
	}
	for i := range c.Points {
		p := &c.Points[i]
		for _, r := range p.Rows {
			name := benchfmt.Name(camel(r.Number.Name) + subName(p.Load))
			for _, run := range runs(p) {
				value := benchValue(run.Numbers[r.Number.Name], r.Number.Unit)
				if err := out.Write(&benchfmt.Result{Name: name, Iters: max(run.Completed, 1),
					Values: []benchfmt.Value{value}}); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// benchValue is a number with a unit that benchstat knows.
func benchValue(v float64, unit metrics.Unit) benchfmt.Value {
	written := string(unit)
	if unit == metrics.UnitMilliseconds {
		v, written = benchunit.Tidy(v*1e6, "ns/op")
	}
	return benchfmt.Value{Value: v, Unit: written}
}

// camel turns median_ttft into MedianTTFT.
func camel(name string) string {
	var words strings.Builder
	for word := range strings.SplitSeq(name, "_") {
		switch word {
		case "ttft", "ttfo", "tpot", "itl", "e2el":
			words.WriteString(strings.ToUpper(word))
		default:
			words.WriteString(strings.ToUpper(word[:1]) + word[1:])
		}
	}
	return words.String()
}

// subName turns a load into "/request-rate=4/dataset-name=x_y".
func subName(load []metrics.KV) string {
	var name strings.Builder
	for _, kv := range load {
		name.WriteString("/" + plain(kv.Key) + "=" + plain(kv.Value))
	}
	return name.String()
}

// plain is a text without the separators of a benchmark's line.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || r == '/' || r == '=' {
			return '_'
		}
		return r
	}, text)
}
