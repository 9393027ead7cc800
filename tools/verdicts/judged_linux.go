package main

import (
	"fmt"
	"math"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/verdict"
)

// A number of a block is off by the difference of what was measured and what is true. Both are in
// milliseconds.
type number struct {
	name            string // as in result files: p99_itl_ms
	measured, truth float64
}

const (
	mostRelative = 0.05 // of the truth
	mostAbsolute = 1    // ms
)

// wrong reports whether a number is off by more than 5 %, and by more than 1 ms.
func (n number) wrong() bool {
	off := math.Abs(n.measured - n.truth)
	return !(off <= max(mostRelative*n.truth, mostAbsolute)) // NaN is wrong
}

// relative is how far a number is off as a part of the truth.
func (n number) relative() float64 { return math.Abs(n.measured-n.truth) / n.truth }

func (n number) String() string {
	return fmt.Sprintf("%s %.2f, true %.2f", n.name, n.measured, n.truth)
}

// A judged is what the table needs of a run. A run without verdict or truth has no numbers.
type judged struct {
	about
	name    string
	numbers []number
	verdict verdict.Verdict
	failed  []verdict.Check
	printed bool // the verdict is the one that the run printed
}

// judge compares the numbers of a run with the truth.
func (k *kept) judge() *judged {
	j := &judged{about: k.about, name: k.name}
	s := k.summary
	if s == nil || s.Trust == nil || s.Completed == 0 {
		return j
	}
	truths := latencies(k.truth)
	if len(truths) == 0 {
		return j
	}
	j.verdict, j.failed = s.Trust.Verdict, s.Trust.Failed()
	j.printed = len(k.Verdict) >= len(j.verdict) && k.Verdict[:len(j.verdict)] == string(j.verdict)
	for _, latency := range []struct {
		name string
		of   *metrics.Distribution
	}{{"ttft", &s.TTFT}, {"tpot", &s.TPOT}, {"itl", &s.ITL}, {"e2el", &s.E2EL}} {
		values := truths[latency.name]
		if len(values) == 0 {
			continue
		}
		measured := [...]float64{latency.of.Mean(), latency.of.Median(), latency.of.Percentile(99)}
		exact := statistics(values)
		for i, statistic := range []string{"mean", "median", "p99"} {
			j.numbers = append(j.numbers, number{statistic + "_" + latency.name + "_ms", measured[i], exact[i]})
		}
	}
	return j
}

// wrong are the numbers that are wrong.
func (j *judged) wrong() (all []number) {
	for _, n := range j.numbers {
		if n.wrong() {
			all = append(all, n)
		}
	}
	return all
}

// largest is the largest relative error of a number.
func (j *judged) largest() (most float64) {
	for _, n := range j.numbers {
		most = max(most, n.relative())
	}
	return most
}

// judgeAll reads and judges all runs in a folder.
func judgeAll(dir string) (all []*judged, err error) {
	names, err := keptRuns(dir)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		k, err := readKept(dir, name)
		if err != nil {
			return nil, err
		}
		all = append(all, k.judge())
	}
	return all, nil
}
