package sharing

import "math"

// A field is what one target did in each bin of one run, as regressions need it.
type field struct {
	signals
	history [][]float64 // prefill in windows of bins before each bin, which together have all lags
}

// windows are the lags of the history: from the first, to but not including the second.
var windows = [][2]int{{0, 1}, {1, 2}, {2, 4}, {4, 8}, {8, 16}, {16, lags + 1}}

func fieldsOf(all []signals) (fields []field) {
	for _, s := range all {
		f := field{signals: s}
		for _, w := range windows {
			before := make([]float64, len(s.prefill))
			for k := lags; k < len(before); k++ {
				before[k] = sum(s.prefill[k-w[1]+1:k-w[0]+1]) / float64(w[1]-w[0])
			}
			f.history = append(f.history, before)
		}
		fields = append(fields, f)
	}
	return fields
}

// blocksOf is how many blocks a run has.
func blocksOf(fields []field) int {
	return min((len(fields[0].prefill)-lags)/blockBins, mostBlocks)
}

// A timeBlock is what neighbouring bins say for each lag.
type timeBlock struct{ correlations, effects []float64 }

// lagged are the blocks of one run for the target by on the target on. A block in which one of the two
// does not vary is left out.
func lagged(fields []field, by, on int) (blocks []timeBlock) {
	var rows []int // bins in which a gap ends
	for k := lags; k < len(fields[on].gap); k++ {
		if !math.IsNaN(fields[on].gap[k]) {
			rows = append(rows, k)
		}
	}
	n := min(blocksOf(fields), len(rows)/leastRows)
	if n < 1 {
		return nil
	}
	r := newRegression(controls(fields, by, on, rows))
	gaps := r.residuals(at(fields[on].gap, rows, 0))
	prefill := make([][]float64, lags+1)
	raw := make([][]float64, lags+1)
	for lag := range prefill {
		raw[lag] = at(fields[by].prefill, rows, lag)
		prefill[lag] = r.residuals(raw[lag])
	}
	for i := range n {
		from, to := i*len(rows)/n, (i+1)*len(rows)/n
		b := timeBlock{}
		for lag := range prefill {
			b.correlations = append(b.correlations, correlation(prefill[lag][from:to], gaps[from:to]))
			b.effects = append(b.effects, excess(raw[lag][from:to], gaps[from:to]))
		}
		if !math.IsNaN(sum(b.correlations)) && !math.IsNaN(sum(b.effects)) {
			blocks = append(blocks, b)
		}
	}
	return blocks
}

// controls are what is taken out: a constant, the own prefill and decoding of the target on, and the
// prefill of all others but by.
func controls(fields []field, by, on int, rows []int) (columns [][]float64) {
	constant := make([]float64, len(rows))
	for i := range constant {
		constant[i] = 1
	}
	columns = append(columns, constant, at(fields[on].decoded, rows, 0))
	for i, f := range fields {
		if i == by {
			continue
		}
		for _, before := range f.history {
			columns = append(columns, at(before, rows, 0))
		}
	}
	return columns
}

// at are the values at some bins, or so many bins before each.
func at(values []float64, rows []int, lag int) []float64 {
	found := make([]float64, len(rows))
	for i, k := range rows {
		found[i] = values[k-lag]
	}
	return found
}

// correlation is Pearson's; NaN if one side does not vary.
func correlation(x, y []float64) float64 {
	mx, my := sum(x)/float64(len(x)), sum(y)/float64(len(y))
	var xx, yy, xy float64
	for i := range x {
		dx, dy := x[i]-mx, y[i]-my
		xx, yy, xy = xx+dx*dx, yy+dy*dy, xy+dx*dy
	}
	return xy / math.Sqrt(xx*yy)
}

// excess is by how much the mean of y is larger where x is above its mean than where it is not.
func excess(x, y []float64) float64 {
	mean := sum(x) / float64(len(x))
	var more, less, nMore, nLess float64
	for i := range x {
		if x[i] > mean {
			more, nMore = more+y[i], nMore+1
		} else {
			less, nLess = less+y[i], nLess+1
		}
	}
	return more/nMore - less/nLess
}

// A regression takes columns out of values, by least squares. The columns are orthonormal, by the
// modified Gram-Schmidt process; a column that the others before it explain is left out.
type regression struct{ columns [][]float64 }

// explained is the part of a column's length that rounding may leave of it.
const explained = 1e-9

func newRegression(columns [][]float64) *regression {
	r := &regression{}
	for _, c := range columns {
		left := r.residuals(c)
		length := math.Sqrt(dot(left, left))
		if length <= explained*math.Sqrt(dot(c, c)) {
			continue
		}
		for i := range left {
			left[i] /= length
		}
		r.columns = append(r.columns, left)
	}
	return r
}

// residuals are what is left of values.
func (r *regression) residuals(values []float64) []float64 {
	left := append([]float64(nil), values...)
	for _, c := range r.columns {
		along := dot(left, c)
		for i := range left {
			left[i] -= along * c[i]
		}
	}
	return left
}

func dot(a, b []float64) (total float64) {
	for i := range a {
		total += a[i] * b[i]
	}
	return total
}
