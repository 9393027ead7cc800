package exporter

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/servebench/servebench/loadgen/engine"
)

// A liveTotal is a metric that is read from a run's own counters at a scrape.
type liveTotal struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
	of   func(engine.Count) int64
}

type liveTotals []liveTotal

func newLiveTotals() liveTotals {
	total := func(name, help string, kind prometheus.ValueType, of func(engine.Count) int64) liveTotal {
		return liveTotal{prometheus.NewDesc("servebench_"+name, help, labels, nil), kind, of}
	}
	return liveTotals{
		total("requests_sent_total", "Requests sent so far, including warm-up requests.", prometheus.CounterValue,
			func(c engine.Count) int64 { return c.Sent }),
		total("chunks_received_total", "Chunks of answers that have come so far, which on most servers are output tokens.",
			prometheus.CounterValue,
			func(c engine.Count) int64 { return c.Chunks }),
		total("requests_in_flight", "Requests that have been sent and have not ended.", prometheus.GaugeValue,
			engine.Count.InFlight),
		total("requests_waiting", "Requests in flight of whose answer no chunk has come.", prometheus.GaugeValue,
			engine.Count.Waiting),
		total("sessions_running", "Sessions that have begun and are not over, also during their gaps. A request of a "+
			"dataset without sessions is a session.", prometheus.GaugeValue,
			engine.Count.SessionsRunning),
	}
}

// Describe sends what Collect can, as a prometheus.Collector.
func (all liveTotals) Describe(to chan<- *prometheus.Desc) {
	for _, total := range all {
		to <- total.desc
	}
}

// Collect reads the counters, as a prometheus.Collector.
func (e *Exporter) Collect(to chan<- prometheus.Metric) {
	e.mu.Lock()
	series := e.series
	e.mu.Unlock()
	for _, s := range series {
		c := s.now()
		for _, total := range e.liveTotals {
			to <- prometheus.MustNewConstMetric(total.desc, total.kind, float64(total.of(c)), s.arm, s.target)
		}
	}
}
