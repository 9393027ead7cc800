package gpus

import (
	"slices"
	"testing"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/gpu"
	"github.com/servebench/servebench/metrics/samples"
)

// Samples of the warm-up are not of the load, and a shard's GPUs are other GPUs.
func TestClocksAreOfTheLoad(t *testing.T) {
	h := &metrics.Header{WarmUp: 2 * time.Second}
	c, other := metrics.NewCollector(h, Kind), metrics.NewCollector(h, Kind)
	sample := func(at time.Duration, reasons ...gpu.Reasons) *samples.Sample {
		s := &samples.Sample{At: at}
		for i, r := range reasons {
			s.GPUs = append(s.GPUs, samples.GPU{Index: i, Reasons: &r})
		}
		return s
	}
	c.AddSample(sample(2*time.Second-1, 0x20, 0x20))
	c.AddSample(sample(2*time.Second, 0x20, 0))
	c.AddSample(sample(3*time.Second, 0x4, 0x1))
	c.AddSample(&samples.Sample{At: 3 * time.Second, GPUs: []samples.GPU{{Index: 5}}}) // it does not say
	other.AddSample(sample(3*time.Second, 0x2))
	c.Merge(other, 0)
	want := []gpu.Clocks{{Index: 0, Samples: 2, Slowed: 1, Capped: 1, Reasons: 0x24}, {Index: 1, Samples: 1}, {Index: 0, Samples: 1, Reasons: 0x2}}
	if got := of(c.Summary(1)).clocks; !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}
