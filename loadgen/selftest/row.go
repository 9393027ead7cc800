package selftest

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/numpy"
)

// A Row is the measurement of one Load. RSS is nil if the system does not report it.
type Row struct {
	Name    string  `json:"name"`
	Load    string  `json:"load"`    // steps, at-once or poisson
	Streams int     `json:"streams"` // at once; the mean for poisson
	StepMS  float64 `json:"step_ms"` // between the tokens of a stream
	Events  int64   `json:"events"`
	PerS    float64 `json:"events_per_s"` // over the whole row

	Stamp Spread `json:"stamp_error"` // an event's arrival less its write
	TTFT  Spread `json:"ttft_error"`
	ITL   Spread `json:"itl_error"`

	// Alone is Stamp without the events that shared a read with another.
	Alone Spread `json:"-"`
	// Lag is how late the requests were sent.
	Lag Spread `json:"-"`

	MeanTTFT Pair `json:"ttft_mean_ms"`
	P99TTFT  Pair `json:"ttft_p99_ms"`
	P99ITL   Pair `json:"itl_p99_ms"`

	Kernel float64 `json:"kernel_stamped_percent"` // of the events
	Shared float64 `json:"shared_reads_percent"`   // of the events
	// Beyond counts the requests with a stamp whose error is larger than its Record admits.
	Beyond int `json:"beyond_bound"`
	// CPU is of this process; 0 if the system does not report it.
	CPU       float64  `json:"cpu_per_event_us"`
	ServerCPU float64  `json:"server_cpu_per_event_us"`
	RSS       *float64 `json:"rss_per_stream_kib"`  // without what the selftest itself records
	Late      float64  `json:"server_late_percent"` // of the events
	Failed    int      `json:"failed"`              // requests
	Failure   string   `json:"failure,omitempty"`   // the first message

	Disturbance
}

// A Spread is the distribution of errors, in microseconds.
type Spread struct {
	Samples int     `json:"samples"`
	P50     float64 `json:"p50_us"`
	P99     float64 `json:"p99_us"`
	P999    float64 `json:"p99_9_us"`
	Max     float64 `json:"max_us"`
}

// A Pair is a statistic of the measured times and of the true times, in milliseconds.
type Pair struct {
	Measured float64 `json:"measured"`
	True     float64 `json:"true"`
}

// compare fills in the errors of the measured times.
func (row *Row) compare(probes []probe) error {
	var stamps, alone, gaps, ttfts []float64 // errors, in microseconds
	var itl, trueITL, ttft, trueTTFT []float64
	for i := range probes {
		p := &probes[i]
		if p.err != nil {
			return p.err
		}
		if p.outOfBound() {
			row.Beyond++
		}
		for _, s := range p.samples[:p.n] {
			stamps = append(stamps, off(s.stamp, 0))
			if !s.shared {
				alone = append(alone, off(s.stamp, 0))
			}
			gaps = append(gaps, off(s.gap, s.trueGap))
			itl, trueITL = append(itl, s.gap.Seconds()), append(trueITL, s.trueGap.Seconds())
		}
		if p.last.IsZero() {
			continue
		}
		ttfts = append(ttfts, off(p.ttft, p.trueTTFT))
		ttft, trueTTFT = append(ttft, p.ttft.Seconds()), append(trueTTFT, p.trueTTFT.Seconds())
	}
	row.Stamp, row.Alone = newSpread(stamps), newSpread(alone)
	row.ITL, row.TTFT = newSpread(gaps), newSpread(ttfts)
	if len(ttft) > 0 {
		row.MeanTTFT = Pair{rounded(1000 * numpy.Mean(ttft)), rounded(1000 * numpy.Mean(trueTTFT))}
		row.P99TTFT = Pair{p99(ttft), p99(trueTTFT)}
	}
	if len(itl) > 0 {
		row.P99ITL = Pair{p99(itl), p99(trueITL)}
	}
	return nil
}

// right reports whether no request failed and the errors are small enough.
func (row *Row) right() bool {
	return row.Failed == 0 && row.ITL.P99 <= itlErrorLimit && row.TTFT.P99 <= ttftErrorLimit
}

// describe says how right the row is.
func (row *Row) describe() string {
	if row.Failed > 0 {
		return fmt.Sprintf("at %d %s failed: %s", row.Streams, metrics.Counted(row.Failed, "request"), row.Failure)
	}
	return fmt.Sprintf("at %d the error at p99 is %.3g ms in ITL and %.3g ms in TTFT", row.Streams, row.ITL.P99/1000,
		row.TTFT.P99/1000)
}

// newSpread describes values in microseconds, which it sorts.
func newSpread(us []float64) Spread {
	if len(us) == 0 {
		return Spread{}
	}
	slices.Sort(us)
	at := func(p float64) float64 { return rounded(numpy.Percentile(us, p)) }
	return Spread{len(us), at(50), at(99), at(99.9), at(100)}
}

// off is the error of a time, in microseconds.
func off(measured, truth time.Duration) float64 {
	return float64((measured - truth).Abs()) / float64(time.Microsecond)
}

// p99 is in milliseconds. It sorts its argument, which is in seconds.
func p99(seconds []float64) float64 {
	slices.Sort(seconds)
	return rounded(1000 * numpy.Percentile(seconds, 99))
}

// rounded keeps three digits after the point.
func rounded(v float64) float64 { return math.Round(v*1000) / 1000 }
