package metrics

import (
	"slices"
	"time"

	"github.com/servebench/servebench/metrics/record"
)

// LateStamps are the marked chunks of completed requests: see Record.
type LateStamps struct {
	Chunks int `json:"chunks"` // that are marked
	Of     int `json:"of"`     // all chunks of these requests

	bounds [len(lateNames)]bounds
}

// lateNames are the metrics that marked chunks can bend.
var lateNames = [...]string{"itl", "ttft", "tpot", "e2el"}

// bounds are the values of a metric that depend on a marked chunk, and how small and how large each may be.
type bounds struct{ are, least, most Distribution }

// put adds a value in seconds that lies between two others, as exact as its metric has it; keep is how many are
// kept.
func (b *bounds) put(is, least, most float64, keep int) {
	b.are.limit, b.least.limit, b.most.limit = keep, keep, keep
	b.are.Add(is)
	b.least.Add(max(0, least))
	b.most.Add(most)
}

// histograms are the Distributions by the names of their histograms.
func (l *LateStamps) histograms() map[string]*Distribution {
	all := map[string]*Distribution{}
	for i, name := range lateNames {
		b := &l.bounds[i]
		all["late_"+name], all["late_"+name+"_least"], all["late_"+name+"_most"] = &b.are, &b.least, &b.most
	}
	return all
}

func (l *LateStamps) merge(other *LateStamps) {
	l.Chunks += other.Chunks
	l.Of += other.Of
	others := other.histograms()
	for name, d := range l.histograms() {
		d.Merge(others[name])
	}
}

// add adds a completed request; keep is how many values are kept exactly. A chunk stamped t that may
// be late by b arrived between t−b and t, so a gap lies between t₂−b₂−t₁, or 0, and t₂−(t₁−b₁).
func (l *LateStamps) add(r *record.Record, keep int) {
	l.Of += r.Answer.Chunks.Len()
	if len(r.Answer.Late) == 0 || r.Answer.Chunks.Gapless() {
		return
	}
	late := make([]time.Duration, r.Answer.Chunks.Len())
	for i, by := range r.Answer.Late.All() {
		if i < len(late) {
			late[i] = by
			l.Chunks++
		}
	}
	i := 0
	for gap := range r.Answer.Chunks.Gaps() {
		if i++; late[i-1] > 0 || late[i] > 0 {
			l.bounds[0].put(gap.Seconds(), (gap - late[i]).Seconds(), (gap + late[i-1]).Seconds(), keep)
		}
	}
	first, last := late[0], late[len(late)-1]
	if ttft := r.TTFT(); first > 0 {
		l.bounds[1].put(ttft.Seconds(), (ttft - first).Seconds(), ttft.Seconds(), keep)
	}
	if max(first, last) > 0 && r.Tokens.Out > 1 {
		o, steps := Outcome{Out: r.Tokens.Out, TTFT: r.TTFT().Seconds(), Latency: r.E2EL().Seconds()}, float64(r.Tokens.Out-1)
		tpot := o.tpot()
		l.bounds[2].put(tpot, tpot-last.Seconds()/steps, tpot+first.Seconds()/steps, keep)
	}
	if e2el := r.E2EL(); last > 0 {
		l.bounds[3].put(e2el.Seconds(), (e2el - last).Seconds(), e2el.Seconds(), keep)
	}
}

// LateBounds are the values of a metric, by its name in Metrics, with each as small as the marked chunks
// allow, and with each as large. They are nil if no marked chunk bends the metric.
func (s *Summary) LateBounds(metric string) (least, most *Distribution) {
	i := slices.Index(lateNames[:], metric)
	if s.Truth == nil || i < 0 {
		return nil, nil
	}
	b, d := &s.Truth.Late.bounds[i], s.Latency(metric)
	if b.are.Len() == 0 || d.Len() == 0 {
		return nil, nil
	}
	return d.instead(&b.are, &b.least), d.instead(&b.are, &b.most)
}

// LateITL is how small and how large the p-th percentile of ITL may be, in milliseconds, by the
// marked chunks: with each gap as short as possible, and as long. It is false if none is marked.
func (s *Summary) LateITL(p float64) (least, most float64, marked bool) {
	short, long := s.LateBounds("itl")
	if short == nil {
		return 0, 0, false
	}
	itl := s.ITL.Percentile(p)
	return min(short.Percentile(p), itl), max(long.Percentile(p), itl), true
}
