package nprand

import (
	"bytes"
	"testing"
)

// In numpy 2.4.6, after g = default_rng(7): g.integers(0, 256, n, dtype=uint8), and then g.random().
func TestBytesAreNumPys(t *testing.T) {
	g := NewGenerator(7)
	for _, want := range []struct {
		bytes  []byte
		double float64
	}{
		{[]byte{139, 74, 229}, 0.8972138009695755},
		{[]byte{169, 65, 6, 160, 98}, 0.22520718999059186},
		{[]byte{95, 86, 147, 198, 69, 81, 55, 14}, 0.8735534453962619},
		{[]byte{153}, 0.005265304565574724},
	} {
		drawn := make([]byte, len(want.bytes))
		g.Bytes(drawn)
		if double := g.Double(); !bytes.Equal(drawn, want.bytes) || double != want.double {
			t.Errorf("%v and %v, want %v", drawn, double, want)
		}
	}
}

func TestSkipBytesEqualsBytes(t *testing.T) {
	drawn := NewGenerator(7)
	skipped := drawn
	for n := range 1000 {
		drawn.Bytes(nil)
		if skipped.SkipBytes(0); drawn.state != skipped.state || drawn.buffered != skipped.buffered {
			t.Fatalf("no bytes after %d: %+v, want %+v", n, skipped, drawn)
		}
		drawn.Bytes(make([]byte, n))
		skipped.SkipBytes(n)
		if drawn.state != skipped.state || drawn.buffered != skipped.buffered {
			t.Fatalf("after %d bytes: %+v, want %+v", n, skipped, drawn)
		}
		if n%3 == 0 {
			drawn.Double()
			skipped.Double()
		}
	}
}
