package compare

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/stats"
)

// A Baseline is a set of runs of one configuration, kept for comparison with later runs.
type Baseline struct {
	Runs []*Run `json:"runs"`
	// Noise is the share by which two equal runs may differ, by the metric's name.
	Noise map[string]float64 `json:"noise"`
}

// repeatability is the number of standard deviations by which two single results differ at most in
// 95 of 100 cases: 1.96·√2, as in ISO 5725-6:1994, 4.1.
const repeatability = 2.8

// NewBaseline measures the noise floor of runs of one configuration. It is the repeatability limit
// of single runs, although several are compared: day-to-day drift affects all runs of a later
// session, and more runs do not average it out. A run with more failures than the gate allows makes
// no baseline, nor does a SUSPECT one without "suspect" in the gate's Despite.
func NewBaseline(runs []*Run, gate Gate) (*Baseline, error) {
	b := &Baseline{Runs: runs, Noise: map[string]float64{}}
	if len(runs) < 2 {
		return nil, errors.New("a baseline needs at least two runs: how much they differ is its noise floor")
	}
	for i, r := range runs {
		if why := r.fault(gate.Allowed); why != "" {
			return nil, fmt.Errorf("run %d: %s", i+1, why)
		}
		doubts := r.lacks()
		if !slices.Contains(gate.Despite, "suspect") {
			doubts = append(doubts, r.Doubts...)
		}
		for _, why := range doubts {
			return nil, fmt.Errorf("run %d: %s", i+1, why)
		}
	}
	if id := twice(runs); id != "" {
		return nil, fmt.Errorf("run %s is there twice: give each run once", id)
	}
	for _, p := range split(runs, runs) {
		for name := range p.Old[0].Numbers {
			m := Metric{Name: name}
			if values := p.values(&m, p.Old); len(values) > 1 {
				b.Noise[name] = max(b.Noise[name], repeatability*deviation(values))
			}
		}
	}
	return b, nil
}

// Warnings are the reasons why later runs get no verdict from the baseline by that gate: it has
// fewer runs than the gate needs, or more noise than the gate's margins allow.
func (b *Baseline) Warnings(gate Gate) (found []string) {
	points := split(b.Runs, b.Runs)
	needed := gate.Needs(OneAfterOther, len(points))
	for _, p := range points {
		if n := len(p.Old); n < needed {
			found = append(found, p.named(fmt.Sprintf("the baseline has %s, and the gate needs %d for a verdict on as many new ones", metrics.Counted(n, "run"), needed)))
		}
		for _, l := range gate.Limits {
			values := p.values(&l.Metric, p.Old)
			if values == nil {
				continue
			}
			if asked, noise := l.margin(stats.Median(values).Center), b.Noise[l.Metric.Name]; noise > visible(asked) {
				found = append(found, p.named(l.Metric.Name+": "+noisyBaseline(noise, asked)))
			}
		}
	}
	return found
}

// noisyBaseline says what to do about a baseline that is too noisy for a margin.
func noisyBaseline(noise, margin float64) string {
	return fmt.Sprintf("runs of the baseline differ by %.0f %%; the margin is %.3g %%: make the baseline again on a quieter machine, or widen the margin", noise*100, margin*100)
}

// deviation is the sample standard deviation of values as a share: of their logarithms, or over
// their mean if one is not above 0.
func deviation(values []float64) float64 {
	scale := 1.0
	if logs := stats.Logs(values); logs != nil {
		values = logs
	} else if scale = math.Abs(metrics.Mean(values)); scale == 0 {
		return 0
	}
	return metrics.SampleStd(values) / scale
}

// baselineVersion is the version of the file written and read here.
const baselineVersion = 1

// errNoBaseline says that a file is no baseline.
var errNoBaseline = errors.New("it is not a baseline: make one with servebench compare --save-baseline")

type baselineFile struct {
	Version int `json:"servebench_baseline"`
	*Baseline
}

// Write writes the baseline as JSON.
func (b *Baseline) Write(w io.Writer) error {
	text, err := json.MarshalIndent(baselineFile{baselineVersion, b}, "", "  ")
	if err != nil {
		return err
	}
	_, err = w.Write(append(text, '\n'))
	return err
}

// OpenBaseline reads the baseline in a file, which Write wrote.
func OpenBaseline(name string) (*Baseline, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	b, err := readBaseline(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return b, nil
}

func readBaseline(r io.Reader) (*Baseline, error) {
	f := baselineFile{Baseline: new(Baseline)}
	if err := json.NewDecoder(r).Decode(&f); err != nil || f.Version == 0 {
		return nil, errNoBaseline
	}
	if f.Version != baselineVersion {
		return nil, fmt.Errorf("it has version %d, and this servebench reads version %d", f.Version, baselineVersion)
	}
	for i, run := range f.Runs {
		if run == nil || len(run.Numbers) == 0 {
			return nil, fmt.Errorf("run %d of the baseline has no numbers", i+1)
		}
	}
	if len(f.Runs) == 0 {
		return nil, errors.New("the baseline has no runs")
	}
	return f.Baseline, nil
}
