package stream

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect"
	"github.com/servebench/servebench/metrics/samples"
)

func TestSamplesAreKeptOnTheRunsClock(t *testing.T) {
	later := testHeader("r")
	later.Shard, later.Shards, later.Epoch = 1, 2, later.Epoch.Add(time.Second)
	first := testHeader("r")
	first.Shards = 2
	server := &samples.Sample{At: 1500 * time.Millisecond, Took: time.Millisecond, Server: &samples.Server{Running: new(2.0), Waiting: new(0.0)}}
	gpus := &samples.Sample{At: 700 * time.Millisecond, GPUs: []samples.GPU{{Index: 0}, {Index: 1, Power: new(99.5), Energy: new(1234.5)}}}
	broken := &samples.Sample{At: 2 * time.Second, Error: strings.Repeat("no \"answer\" ", 50)}
	for _, maxLine := range []int{0, PipeLine, 200} {
		var buf bytes.Buffer
		for _, h := range []*metrics.Header{first, later} {
			sw := NewWriter(&buf)
			sw.MaxLine, sw.NoChunks = maxLine, true
			var errs []error
			errs = append(errs, sw.Begin(h), sw.Sample(server), sw.Write(testRecord("r", h.Shard, 3)), sw.Sample(gpus), sw.Sample(broken))
			errs = append(errs, sw.End(aspect.Collector(h).Summary(3)))
			for _, err := range errs {
				if err != nil {
					t.Fatal(err)
				}
			}
		}
		sums, err := Read(&buf, metrics.Ask{Trace: true})
		if err != nil || len(sums) != 1 {
			t.Fatalf("%d runs, %v", len(sums), err)
		}
		shifted := func(s *samples.Sample, by time.Duration) *samples.Sample {
			moved := *s
			moved.At += by
			return &moved
		}
		want := []*samples.Sample{gpus, server, shifted(gpus, time.Second), broken, shifted(server, time.Second), shifted(broken, time.Second)}
		if got := sums[0].Kept.Trace.Samples; !reflect.DeepEqual(got, want) {
			t.Errorf("lines of %d: samples %v, want %v", maxLine, times(got), times(want))
		}
		if sums[0].Completed != 2 {
			t.Errorf("%d completed beside the samples, want 2", sums[0].Completed)
		}
	}
}

func times(samples []*samples.Sample) (at []time.Duration) {
	for _, s := range samples {
		at = append(at, s.At)
	}
	return at
}
