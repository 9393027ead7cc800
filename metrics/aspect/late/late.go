// Package late is which chunks of a run have the stamp of a later one, and how far that may bend its latencies.
//
// What the client reads late shares a read with what came next, and has its time. Such a chunk has a mark, which
// says by how much its stamp may be late.
package late

import (
	"slices"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/record"
)

// Stamps are the marked chunks of completed requests: see Record.
type Stamps struct {
	Chunks int `json:"chunks,omitempty"` // that are marked
	Of     int `json:"-"`                // all chunks of these requests

	bounds [len(bent)]bounds
}

// Kind is the aspect as the list has it.
var Kind = &metrics.Kind{
	Name: "late", New: func(*metrics.Header) metrics.Aspect { return new(Stamps) }, Facts: facts, Text: text,
}

// facts say how many chunks have the timestamp of a later one, and between what P99 ITL lies if they may change
// it.
func facts(s *metrics.Summary) []metrics.Fact {
	stamps := Of(s)
	if stamps.Chunks == 0 {
		return nil
	}
	all := []metrics.Fact{
		{Key: "late_chunks", Value: stamps.Chunks},
		{Key: "late_chunks_percent", Value: 100 * float64(stamps.Chunks) / float64(stamps.Of)},
	}
	if least, most, marked := ITL(s, 99); marked && least < most {
		all = append(all, metrics.Fact{Key: "late_p99_itl_least_ms", Value: least},
			metrics.Fact{Key: "late_p99_itl_most_ms", Value: most})
	}
	return all
}

const text = `Late timestamps
	{{if .late_chunks}}{{printf "%.2f" .late_chunks_percent}} % of the chunks have the timestamp of a later one;
	{{if known .late_p99_itl_least_ms}}P99 ITL lies between
	{{printf "%.2f and %.2f ms" .late_p99_itl_least_ms .late_p99_itl_most_ms}}{{end}}{{end}}`

// bent are the metrics that marked chunks can bend.
var bent = [...]string{"itl", "ttft", "tpot", "e2el"}

// bounds are the values of a metric that depend on a marked chunk, and how small and how large each may be.
type bounds struct{ are, least, most metrics.Distribution }

// put adds a value in seconds that lies between two others.
func (b *bounds) put(is, least, most float64) {
	b.are.Add(is)
	b.least.Add(max(0, least))
	b.most.Add(most)
}

// Of is the aspect of a run.
func Of(s *metrics.Summary) *Stamps { return metrics.View[Stamps](s) }

// Add adds a request. A chunk stamped t that may be late by b arrived between t−b and t, so a gap lies
// between t₂−b₂−t₁, or 0, and t₂−(t₁−b₁).
func (s *Stamps) Add(r *record.Record) {
	if !r.Answered() {
		return
	}
	s.Of += r.Answer.Chunks.Len()
	if len(r.Answer.Late) == 0 || r.Answer.Chunks.Gapless() {
		return
	}
	late := make([]time.Duration, r.Answer.Chunks.Len())
	for i, by := range r.Answer.Late.All() {
		if i < len(late) {
			late[i] = by
			s.Chunks++
		}
	}
	i := 0
	for gap := range r.Answer.Chunks.Gaps() {
		if i++; late[i-1] > 0 || late[i] > 0 {
			s.bounds[0].put(gap.Seconds(), (gap - late[i]).Seconds(), (gap + late[i-1]).Seconds())
		}
	}
	first, last := late[0], late[len(late)-1]
	if ttft := r.TTFT(); first > 0 {
		s.bounds[1].put(ttft.Seconds(), (ttft - first).Seconds(), ttft.Seconds())
	}
	if max(first, last) > 0 && r.Tokens.Out > 1 {
		o := metrics.Outcome{Out: r.Tokens.Out, TTFT: r.TTFT().Seconds(), Latency: r.E2EL().Seconds()}
		tpot, steps := o.TPOT(), float64(r.Tokens.Out-1)
		s.bounds[2].put(tpot, tpot-last.Seconds()/steps, tpot+first.Seconds()/steps)
	}
	if e2el := r.E2EL(); last > 0 {
		s.bounds[3].put(e2el.Seconds(), (e2el - last).Seconds(), e2el.Seconds())
	}
}

// Merge adds another shard's requests.
func (s *Stamps) Merge(o metrics.Aspect) {
	other := o.(*Stamps)
	s.Chunks += other.Chunks
	s.Of += other.Of
	others := other.histograms()
	for name, d := range s.histograms() {
		d.Merge(others[name])
	}
}

// histograms are the Distributions by the names of their histograms.
func (s *Stamps) histograms() map[string]*metrics.Distribution {
	all := map[string]*metrics.Distribution{}
	for i, name := range bent {
		b := &s.bounds[i]
		all["late_"+name], all["late_"+name+"_least"], all["late_"+name+"_most"] = &b.are, &b.least, &b.most
	}
	return all
}

// Distributions are settled and condensed with the Summary's.
func (s *Stamps) Distributions() (all []*metrics.Distribution) {
	for i := range s.bounds {
		b := &s.bounds[i]
		all = append(all, &b.are, &b.least, &b.most)
	}
	return all
}

// Kept are what the end line of a stream has: records without single chunk times have no marks.
func (s *Stamps) Kept() (counts any, histograms map[string]*metrics.Distribution) {
	return s, s.histograms()
}

// Adopt takes them if the gaps are known, too. The records have the number of all chunks.
func (s *Stamps) Adopt(end metrics.Aspect, known bool) {
	if known {
		s.Merge(end)
	}
}

// Bounds are the values of a metric, by its name in Metrics, with each as small as the marked chunks allow, and
// with each as large. They are nil if no marked chunk bends the metric.
func Bounds(s *metrics.Summary, metric string) (least, most *metrics.Distribution) {
	i := slices.Index(bent[:], metric)
	if i < 0 {
		return nil, nil
	}
	b, d := &Of(s).bounds[i], s.Latency(metric)
	if b.are.Len() == 0 || d.Len() == 0 {
		return nil, nil
	}
	return d.Instead(&b.are, &b.least), d.Instead(&b.are, &b.most)
}

// ITL is how small and how large the p-th percentile of ITL may be, in milliseconds, by the marked chunks: with
// each gap as short as possible, and as long. It is false if none is marked.
func ITL(s *metrics.Summary, p float64) (least, most float64, marked bool) {
	short, long := Bounds(s, "itl")
	if short == nil {
		return 0, 0, false
	}
	itl := s.ITL.Percentile(p)
	return min(short.Percentile(p), itl), max(long.Percentile(p), itl), true
}
