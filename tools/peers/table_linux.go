package main

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/servebench/servebench/metrics/numpy"
)

// A better says which of two figures is.
type better int

const (
	nearer better = iota // to zero: an error
	lower
	higher
)

// A row compares a figure of one measurement.
type row struct {
	measurement, figure, unit string
	of                        func(r result) float64
	better                    better
}

// A table is a group of rows.
type table struct {
	title, text string
	rows        []row
}

// tables are all that the page shows.
func tables() []table {
	var wrong, cost, memory, late []row
	for _, m := range accuracy(false) {
		wrong = append(wrong,
			row{m.name, "mean TTFT", "ms", func(r result) float64 { return r.Figures.MeanTTFT - r.Truth.TTFT.Mean }, nearer},
			row{m.name, "P99 TTFT", "ms", func(r result) float64 { return r.Figures.P99TTFT - r.Truth.TTFT.P99 }, nearer},
			row{m.name, "P99 ITL", "ms", func(r result) float64 { return r.Figures.P99ITL - r.Truth.ITL.P99 }, nearer},
			row{m.name, "P99 ITL, unmarked", "ms", unmarkedITL, nearer})
	}
	wait := func(r result) float64 { return r.Wait }
	peak := func(r result) float64 { return r.Memory }
	for _, m := range costs(false) {
		switch {
		case m.load.ITL > 0:
			cost = append(cost, row{m.name, "CPU a chunk", "µs", func(r result) float64 { return r.Unit }, lower})
		case m.less != nil:
			cost = append(cost,
				row{m.name, "CPU a request", "µs", func(r result) float64 { return r.Unit }, lower},
				row{m.name, "starts a second", "", func(r result) float64 { return float64(r.Truth.Requests) / r.Truth.Seconds },
					higher})
		default:
			cost = append(cost, row{m.name, "CPU", "s", func(r result) float64 { return r.CPU }, lower},
				row{m.name, "time to the first request", "ms", wait, lower},
				row{m.name, "time to the last answer", "ms", func(r result) float64 { return r.Wait + 1000*r.Truth.Seconds },
					lower})
			memory = append(memory, row{m.name, "peak memory", "MB", peak, lower})
		}
	}
	cost = append(cost, row{"64 at once", "time to the first request", "ms", wait, lower})
	for _, name := range []string{"1024 at once", "64 at once"} {
		memory = slices.Insert(memory, 0, row{name, "peak memory", "MB", peak, lower})
	}
	for _, m := range schedules(false) {
		late = append(late,
			row{m.name, "median lag", "ms", func(r result) float64 { return r.Truth.Lag.P50 }, lower},
			row{m.name, "P99 lag", "ms", func(r result) float64 { return r.Truth.Lag.P99 }, lower})
	}
	return []table{
		{"Accuracy", "What the client reports less what happened, in milliseconds. A request connects within TTFT, so a " +
			"cold client's TTFT has that time, too. Here servebench also writes its record stream. It marks chunks whose " +
			"timestamps may be late; the rows of unmarked chunks leave these out, and the other clients mark nothing.", wrong},
		{"Cost", "CPU a chunk and CPU a request are the difference between a long and a short run of the whole process, " +
			"so prompts are part of a request. vLLM's clients draw all prompts before the first request, and servebench " +
			"draws them meanwhile, which lowers its starts a second. Times are from the start of the program.", cost},
		{"Memory", "The sum of the largest resident memory of all its processes.", memory},
		{"Schedule", "How late requests arrive that are due at even gaps, behind the earliest.", late},
	}
}

// unmarkedITL is the error of P99 ITL, for servebench of unmarked chunks.
func unmarkedITL(r result) float64 {
	if r.Client == ours || r.Client == warm {
		return r.Unmarked
	}
	return r.Figures.P99ITL - r.Truth.ITL.P99
}

// A cell is a client's figure in all turns.
type cell struct {
	values []float64 // in ascending order
	failed string    // why there are none
}

// cellOf has what a client's runs of a measurement give.
func (r row) cellOf(results []result, client string) (c cell) {
	for _, x := range results {
		switch {
		case x.Measurement != r.measurement || x.Client != client:
		case x.Error != "":
			c.failed = x.Error
		default:
			c.values = append(c.values, r.of(x))
		}
	}
	slices.Sort(c.values)
	return c
}

func (c cell) median() float64 { return numpy.Median(c.values) }

// text shows the median, with least and most.
func (c cell) text(better better) string {
	if len(c.values) == 0 {
		if c.failed != "" {
			return "failed"
		}
		return "–"
	}
	show := func(v float64) string { return rounded(v, better) }
	if len(c.values) == 1 {
		return show(c.median())
	}
	return fmt.Sprintf("%s (%s to %s)", show(c.median()), show(c.values[0]), show(c.values[len(c.values)-1]))
}

// rounded has two decimals for small values, one for larger ones, and none for large ones. Errors
// have their sign.
func rounded(v float64, better better) string {
	decimals := 2
	switch size := math.Abs(v); {
	case size >= 1000:
		decimals = 0
	case size >= 100:
		decimals = 1
	}
	text := fmt.Sprintf("%.*f", decimals, v)
	if better != nearer {
		return text
	}
	if strings.Trim(text, "-0.") == "" {
		return "0.00"
	}
	return fmt.Sprintf("%+.*f", decimals, v)
}

const (
	clearly     = 1.1  // so many times worse counts
	leastErrors = 0.05 // ms that errors must differ by
)

// worse says whether a's figure is clearly worse than b's.
func (r row) worse(a, b cell) bool {
	if len(a.values) == 0 || len(b.values) == 0 {
		return false
	}
	x, y := a.median(), b.median()
	switch r.better {
	case nearer:
		x, y = math.Abs(x), math.Abs(y)
		if x-y < leastErrors {
			return false
		}
	case higher:
		x, y = y, x
	}
	return x > clearly*y
}

// doubt says that the turns of two clients overlap, if they do.
func (r row) doubt(a, b cell) string {
	if a.values[0] <= b.values[len(b.values)-1] && b.values[0] <= a.values[len(a.values)-1] {
		return ", but their turns overlap"
	}
	return ""
}

// suffix is the unit, after a number.
func (r row) suffix() string {
	if r.unit == "" {
		return ""
	}
	return " " + r.unit
}

// short is only the median.
func (c cell) short(better better) string { return rounded(c.median(), better) }
