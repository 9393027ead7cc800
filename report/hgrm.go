package report

import (
	"bytes"
	"io"
	"time"

	"github.com/servebench/servebench/metrics"
)

// hgrmTicks is the number of percentiles for each halving of the distance to 100 %, as in
// HdrHistogram's tools.
const hgrmTicks = 5

// Hgrm writes the percentiles of a latency, in milliseconds, in the format that HdrHistogram's
// tools plot. It writes nothing without samples.
func Hgrm(w io.Writer, d *metrics.Distribution) error {
	if d.Len() == 0 {
		return nil
	}
	var b bytes.Buffer
	if _, err := d.Histogram().PercentilesPrint(&b, hgrmTicks, float64(time.Millisecond)); err != nil {
		return err
	}
	_, err := w.Write(b.Bytes())
	return err
}
