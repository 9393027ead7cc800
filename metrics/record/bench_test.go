package record

import (
	"testing"
	"time"
)

// typical is what most requests of a run are like: 128 chunks.
func typical() *Record {
	r := &Record{Run: "0123456789abcdef", ID: "bench-12", Index: 12, Attempts: 1, Conn: Conn{New: true, Connect: 153_000}}
	t := &r.Times
	t.Due, t.Slot, t.Sent, t.Wrote, t.FirstByte = 1e9, 1e9, 1e9+31_000, 1e9+95_000, 1e9+40e6
	for i := range 128 {
		r.Answer.Chunks.Append(1e9 + 40e6 + time.Duration(i)*21_700_321)
	}
	t.FirstContent, t.Last = r.Answer.Chunks.First(), r.Answer.Chunks.Last()
	t.Trailer, t.LastByte, t.End = t.Last+9_000, t.Last+11_000, t.Last+30_000
	r.Answer.MaxAge, r.Answer.Finish = 53_000, "length"
	r.Tokens = Tokens{In: 1024, InAsked: 1024, Out: 128, OutAsked: 128}
	r.Result.Status = 200
	return r
}

func BenchmarkAppend(b *testing.B) {
	r, line := typical(), []byte(nil)
	b.ReportAllocs()
	for b.Loop() {
		line = Append(line[:0], r)
	}
	b.SetBytes(int64(len(line)))
}

func BenchmarkScan(b *testing.B) {
	line := append(Append(nil, typical()), '}')[1:]
	var s Scanner
	var r Record
	b.ReportAllocs()
	for b.Loop() {
		s.Begin(line)
		s.Reuse(false)
		r = Record{}
		if !s.Record(&r) {
			b.Fatal("not read")
		}
	}
}

func BenchmarkPack(b *testing.B) {
	r := typical()
	var p Packed
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		n = len(p.Pack(r))
	}
	b.ReportMetric(float64(n), "bytes/request")
}

func BenchmarkUnpack(b *testing.B) {
	var p Packed
	p.keep(typical())
	b.ReportAllocs()
	for b.Loop() {
		for range p.All() {
		}
	}
}
