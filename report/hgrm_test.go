package report

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/servebench/servebench/metrics"
)

// upTo are latencies of 1, 2 … n ms.
func upTo(n int) (d metrics.Distribution) {
	for i := range n {
		d.Add(float64(i+1) / 1000)
	}
	return d
}

// Its form is that of HdrHistogram's own writer.
func TestHgrmIsWhatHdrHistogramWrites(t *testing.T) {
	d := upTo(1000)
	own := hdrhistogram.New(int64(time.Microsecond), int64(8*time.Hour), 3)
	for i := range 1000 {
		if err := own.RecordValue(int64(i+1) * int64(ms)); err != nil {
			t.Fatal(err)
		}
	}
	var got, want bytes.Buffer
	if err := Hgrm(&got, &d); err != nil {
		t.Fatal(err)
	}
	if _, err := own.PercentilesPrint(&want, 5, 1e6); err != nil {
		t.Fatal(err)
	}
	if got.String() != want.String() {
		t.Errorf("got\n%s\nwant\n%s", &got, &want)
	}
}

func TestHgrmHasPercentilesInMilliseconds(t *testing.T) {
	d := upTo(1000)
	var b bytes.Buffer
	if err := Hgrm(&b, &d); err != nil {
		t.Fatal(err)
	}
	rows := 0
	for line := range strings.Lines(b.String()) {
		var value, share float64
		var n int
		if k, _ := fmt.Sscan(line, &value, &share, &n); k < 3 {
			continue
		}
		rows++
		// To three digits, and with a rank of at most one more.
		if want := 1000 * share; value < want-1 || value > max(want+1, 1)*1.001 || float64(n) < want-1e-3 {
			t.Errorf("%s: the value should be some %.3f, of %d", strings.TrimSpace(line), want, n)
		}
	}
	if rows < 20 || !strings.Contains(b.String(), "Total count    =         1000]") {
		t.Errorf("%d rows:\n%s", rows, &b)
	}
}

func TestWithoutValuesThereIsNoHgrm(t *testing.T) {
	var b bytes.Buffer
	if err := Hgrm(&b, &metrics.Distribution{}); err != nil || b.Len() != 0 {
		t.Errorf("%q, %v", &b, err)
	}
}
