package plot

import (
	"cmp"
	"iter"
	"slices"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/record"
)

// A moment is a latency in milliseconds and its time in seconds.
type moment struct{ at, took float64 }

// mostMoments bounds the values that are kept for a chart: 16 MB of them.
const mostMoments = 1_000_000

// moments are values over time. If there are too many, the least and the largest of each of many
// stretches of equal length stand for the others, from which a chart selects again. See J. Van Der
// Donckt et al., MinMaxLTTB, IEEE VIS 2023.
type moments struct {
	n    int // values in all
	kept []moment

	// In each stretch of the time from a beginning on: the positions in kept of the least and the
	// largest value, plus 1. Nil if all values are kept.
	stretches [][2]int
	from      float64
	width     float64
}

// momentsOf makes room for n values, most of them within a window.
func momentsOf(n int, w metrics.Window) *moments {
	m := &moments{kept: make([]moment, 0, min(n, mostMoments))}
	if n > mostMoments {
		m.stretches, m.from = make([][2]int, mostMoments/2), w.From.Seconds()
		m.width = max(w.To-w.From, 1).Seconds() / float64(len(m.stretches))
	}
	return m
}

func (m *moments) add(at, took time.Duration) {
	m.n++
	value := moment{at.Seconds(), took.Seconds() * 1000}
	if m.stretches == nil {
		m.kept = append(m.kept, value)
		return
	}
	here := &m.stretches[min(max(int((value.at-m.from)/m.width), 0), len(m.stretches)-1)]
	least, most := &here[0], &here[1]
	switch {
	case *least == 0:
		m.kept = append(m.kept, value)
		*least, *most = len(m.kept), len(m.kept)
	case value.took >= m.kept[*least-1].took && value.took <= m.kept[*most-1].took:
	case *least == *most:
		m.kept = append(m.kept, value)
		if value.took < m.kept[*least-1].took {
			*least = len(m.kept)
		} else {
			*most = len(m.kept)
		}
	case value.took < m.kept[*least-1].took:
		m.kept[*least-1] = value
	default:
		m.kept[*most-1] = value
	}
}

// points are the values in the order of their times.
func (m *moments) points() (x, y []float64) {
	slices.SortFunc(m.kept, func(a, b moment) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.took, b.took)) })
	x, y = make([]float64, len(m.kept)), make([]float64, len(m.kept))
	for i, value := range m.kept {
		x[i], y[i] = value.at, value.took
	}
	return x, y
}

// completed yields the completed requests. Each is valid until the next.
func completed(r Run) iter.Seq[*record.Record] {
	return func(yield func(*record.Record) bool) {
		for rec := range r.Summary.Measured() {
			if rec.Result.Class == record.OK && !yield(rec) {
				return
			}
		}
	}
}

// firstTokens are the TTFTs of completed requests by when they were sent.
func firstTokens(r Run) *moments {
	all := momentsOf(r.Summary.TTFT.Len(), r.Summary.Whole())
	for rec := range completed(r) {
		all.add(rec.Times.Sent, rec.TTFT())
	}
	return all
}

// gaps are the ITLs of completed requests by when the chunk came.
func gaps(r Run) *moments {
	all := momentsOf(r.Summary.ITL.Len(), r.Summary.Whole())
	for rec := range completed(r) {
		at := rec.Answer.Chunks.First()
		for gap := range rec.Answer.Chunks.Gaps() {
			at += gap
			all.add(at, gap)
		}
	}
	return all
}
