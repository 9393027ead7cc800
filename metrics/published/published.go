// Package published puts a result block of a document next to runs of this machine.
//
// A document says what somebody measured, mostly on another machine. A block of it is one run, so
// nothing says by how much the next would differ: there are ratios and no verdict. What is known to
// differ between the two loads is in the notes.
package published

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/catalogue"
	"github.com/servebench/servebench/metrics/compare/brief"
	"github.com/servebench/servebench/metrics/numpy"
	"github.com/servebench/servebench/metrics/verdict"
)

// A Block is a result block of a document, next to runs.
type Block struct {
	Document string `json:"document"`        // its file
	Number   int    `json:"block"`           // in the document, from 1
	GPU      string `json:"gpu,omitempty"`   // as the document states it; empty if it does not
	Model    string `json:"model,omitempty"` // likewise

	// Runs says which runs are next to it, as "without", and Count how many. Simulated says that a
	// simulator made them in time that does not pass.
	Runs      string `json:"runs"`
	Count     int    `json:"count"`
	Simulated bool   `json:"simulated,omitempty"`

	Numbers []Number `json:"numbers"` // those that both have, in the order of a block
	Notes   []string `json:"notes"`   // in what the loads differ, and why to doubt the runs
}

// A Number is a number of a block, next to the median over the runs.
type Number struct {
	Name     string  `json:"name"` // as mean_ttft; request_throughput, duration
	Unit     string  `json:"unit"` // ms, s, req/s or tok/s
	Document float64 `json:"document"`
	Here     float64 `json:"here"`  // median over the runs
	Least    float64 `json:"least"` // of the runs
	Most     float64 `json:"most"`
	Ratio    float64 `json:"ratio"` // Here over Document

	// Few says that a run has too few samples beyond the percentile to decide anything by it.
	Few bool `json:"few,omitempty"`
}

// New puts a block, whose Origin says where it was read, next to runs. said names them. The
// runs must have the same load, and there must be at least one.
func New(block *metrics.Summary, said string, runs []*metrics.Summary) *Block {
	b := &Block{
		Document: block.Source.Origin.File, Number: block.Source.Origin.Number, Runs: said, Count: len(runs),
		GPU: metrics.Value(block.Header.Config.Metadata, "gpu"), Model: block.Header.Config.Model,
		Simulated: !slices.ContainsFunc(runs, func(s *metrics.Summary) bool { return !s.Header.Simulated() }),
		Numbers:   []Number{}, Notes: notes(block, runs),
	}
	for _, m := range numbers(block) {
		if n, ok := number(m, block, runs); ok {
			b.Numbers = append(b.Numbers, n)
		}
	}
	return b
}

// Of puts an old side that is one pasted block next to new runs, which are of one load. It is nil for
// other sides.
func Of(old, new []*brief.Run) *Block {
	if len(old) != 1 || !old[0].IsBlock() || slices.ContainsFunc(new, (*brief.Run).IsBlock) {
		return nil
	}
	var runs []*metrics.Summary
	for _, r := range new {
		runs = append(runs, r.Summary())
	}
	var said []string
	for _, name := range []string{"arm", "target"} {
		if value := new[0].Asked[name]; value != "" {
			said = append(said, value)
		}
	}
	if said == nil {
		said = []string{metrics.Counted(len(new), "run")}
	}
	return New(old[0].Summary(), strings.Join(said, ", "), runs)
}

// Stated is what the document says about where its numbers are from, in words.
func (b *Block) Stated() string {
	switch {
	case b.GPU == "" && b.Model == "":
		return "GPU and model not stated"
	case b.GPU == "":
		return "GPU not stated, model " + b.Model
	case b.Model == "":
		return "GPU " + b.GPU + ", model not stated"
	}
	return "GPU " + b.GPU + ", model " + b.Model
}

// Here is what the runs are of, as the head of a column.
func (b *Block) Here() string {
	if b.Simulated {
		return "simulated"
	}
	return "this machine"
}

// number compares one number, if both sides know it. vLLM prints 0 for a latency without samples.
func number(m metrics.Number, block *metrics.Summary, runs []*metrics.Summary) (Number, bool) {
	n := Number{Name: m.Name, Unit: string(m.Unit), Document: m.Of(block)}
	var values []float64
	for _, s := range runs {
		n.Few = n.Few || m.Few(s)
		if v := m.Of(s); v > 0 && !math.IsInf(v, 0) {
			values = append(values, v)
		}
	}
	if len(values) < len(runs) || !(n.Document > 0) {
		return n, false
	}
	slices.Sort(values)
	n.Here, n.Least, n.Most = numpy.Median(values), values[0], values[len(values)-1]
	n.Ratio = n.Here / n.Document
	return n, true
}

// numbers are those that a block may have: the duration, throughputs, and the mean, the median and the
// percentiles of each latency.
func numbers(block *metrics.Summary) []metrics.Number {
	names := []string{duration, "request_throughput", "output_throughput", "total_throughput"}
	for _, l := range metrics.Metrics {
		names = append(names, "mean_"+l.Name, "median_"+l.Name)
		for _, p := range block.Header.Config.Percentiles {
			if p != 50 {
				names = append(names, "p"+metrics.FormatPercentile(p)+"_"+l.Name)
			}
		}
	}
	return catalogue.Choose(names...)
}

// duration is the name of the number whose head alone does not say what it is.
const duration = "duration"

// alike is by which share two lengths may differ and still be called the same.
const alike = 0.01

// notes say in what the load of the runs differs from the load of the block, as far as the block says
// it, and why to doubt the runs.
func notes(block *metrics.Summary, runs []*metrics.Summary) []string {
	var differ []string
	s := runs[0]
	if here, there := s.Completed+max(s.Failed, 0), block.Completed+max(block.Failed, 0); here != there &&
		block.Completed >= 0 {
		differ = append(differ, fmt.Sprintf("%s here, %d in the document", metrics.Counted(here, "prompt"), there))
	}
	for _, of := range []struct {
		noun string
		each func(*metrics.Summary) float64
	}{
		{"prompt tokens", func(s *metrics.Summary) float64 { return perRequest(s, s.Totals.Input) }},
		{"output tokens", func(s *metrics.Summary) float64 { return perRequest(s, s.Totals.Output) }},
	} {
		var each []float64
		for _, s := range runs {
			each = append(each, of.each(s))
		}
		slices.Sort(each)
		if here, there := numpy.Median(each), of.each(block); math.Abs(here-there) > alike*there {
			differ = append(differ, fmt.Sprintf("%.4g %s a request here, %.4g in the document", here, of.noun, there))
		}
	}
	mine, theirs := &s.Header.Config, &block.Header.Config
	if theirs.RequestRate > 0 && mine.RequestRate != theirs.RequestRate {
		differ = append(differ, fmt.Sprintf("request rate %s here, %g in the document",
			metrics.FormatFloat(mine.RequestRate), theirs.RequestRate))
	}
	if theirs.MaxConcurrency > 0 && mine.MaxConcurrency != theirs.MaxConcurrency {
		differ = append(differ, fmt.Sprintf("max concurrency %s here, %d in the document", limit(mine.MaxConcurrency),
			theirs.MaxConcurrency))
	}
	var all []string
	if differ != nil {
		all = []string{"the loads differ: " + strings.Join(differ, "; ")}
	}
	return append(append([]string{}, all...), doubts(runs)...)
}

// perRequest is the mean number of tokens of a completed request; NaN if unknown.
func perRequest(s *metrics.Summary, tokens int) float64 {
	if s.Completed <= 0 || tokens < 0 {
		return math.NaN()
	}
	return float64(tokens) / float64(s.Completed)
}

// limit is a largest number of requests at once in words.
func limit(n int) string {
	if n <= 0 {
		return "not given"
	}
	return fmt.Sprint(n)
}

// doubts are why the numbers of the runs may not be right.
func doubts(runs []*metrics.Summary) (found []string) {
	failed, all := 0, 0
	verdicts := map[verdict.Verdict]int{}
	for _, s := range runs {
		failed, all = failed+max(s.Failed, 0), all+max(s.Failed, 0)+max(s.Completed, 0)
		if s.Trust != nil {
			verdicts[s.Trust.Verdict]++
		}
	}
	if failed > 0 {
		found = append(found, fmt.Sprintf("%d of %s failed", failed, metrics.Counted(all, "request")))
	}
	for _, v := range []verdict.Verdict{verdict.Suspect, verdict.Overloaded} {
		if n := verdicts[v]; n > 0 {
			found = append(found, fmt.Sprintf("%d of %s: %s", n, metrics.Counted(len(runs), "run"), v))
		}
	}
	return found
}

// Label is the number's name and unit as in tables, such as mean TTFT ms or output tok/s.
func (n *Number) Label() string {
	m, known := catalogue.Find(n.Name)
	if !known || n.Name == duration {
		return n.Name + " " + n.Unit
	}
	return m.Head
}
