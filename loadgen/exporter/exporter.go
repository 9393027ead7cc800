package exporter

import (
	"net/http"
	"slices"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/servebench/servebench/metrics/record"
)

// labels are the labels of each metric: the arm of a sweep, and the target. Either may be empty;
// for Prometheus, an empty label is a missing one.
var labels = []string{"arm", "target"}

// An Exporter answers scrapes with the data of its Series. It is safe for concurrent use.
type Exporter struct {
	handler   http.Handler
	registry  *prometheus.Registry
	completed *prometheus.CounterVec
	failed    *prometheus.CounterVec
	warmed    *prometheus.CounterVec
	prompt    *prometheus.CounterVec
	generated *prometheus.CounterVec

	// latencies are the exported latencies, by their names in metrics.LatencyNames.
	latencies map[string]*prometheus.HistogramVec

	mu         sync.Mutex
	series     []*Series
	liveTotals // read from the Series at a scrape
}

// New makes an Exporter for a version of servebench.
func New(version string) *Exporter {
	e := &Exporter{
		registry:  prometheus.NewRegistry(),
		completed: counter("requests_completed_total", "Measured requests that have completed."),
		failed:    counter("requests_failed_total", "Measured requests that have failed, by class of failure.", "class"),
		warmed: counter("warmup_requests_total",
			"Requests of a warm-up that have ended. They are in no other metric but those sent, in flight and waiting, and "+
				"the chunks."),
		prompt:     counter("prompt_tokens_total", "Prompt tokens of completed requests, counted when the request ends."),
		generated:  counter("generated_tokens_total", "Output tokens of completed requests, counted when the request ends."),
		latencies:  map[string]*prometheus.HistogramVec{},
		liveTotals: newLiveTotals(),
	}
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "servebench_build_info", Help: "Always 1; the label has the version of servebench.",
		ConstLabels: prometheus.Labels{"version": version},
	})
	build.Set(1)
	e.registry.MustRegister(e, build, e.completed, e.failed, e.warmed, e.prompt, e.generated)
	for _, l := range exported {
		e.latencies[l.name] = l.histogram()
		e.registry.MustRegister(e.latencies[l.name])
	}
	// Compressing would take CPU time that the load needs.
	e.handler = promhttp.HandlerFor(e.registry, promhttp.HandlerOpts{DisableCompression: true, CoalesceGather: true,
		EnableOpenMetrics: true})
	return e
}

// ServeHTTP answers a scrape.
func (e *Exporter) ServeHTTP(w http.ResponseWriter, r *http.Request) { e.handler.ServeHTTP(w, r) }

// Series is the Series of an arm's target, which it creates if needed. Either name may be empty.
func (e *Exporter) Series(arm, target string) *Series {
	e.mu.Lock()
	defer e.mu.Unlock()
	if i := slices.IndexFunc(e.series, func(s *Series) bool { return s.arm == arm && s.target == target }); i >= 0 {
		return e.series[i]
	}
	s := &Series{
		arm: arm, target: target,
		completed: e.completed.WithLabelValues(arm, target), warmed: e.warmed.WithLabelValues(arm, target),
		prompt: e.prompt.WithLabelValues(arm, target), generated: e.generated.WithLabelValues(arm, target),
		failed: map[record.Class]prometheus.Counter{}, latencies: map[string]prometheus.Observer{},
	}
	for _, class := range record.Classes {
		s.failed[class] = e.failed.WithLabelValues(arm, target, string(class))
	}
	for name, histogram := range e.latencies {
		s.latencies[name] = histogram.WithLabelValues(arm, target)
	}
	e.series = append(e.series, s)
	return s
}

func counter(name, help string, more ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: "servebench_" + name, Help: help},
		append(labels[:2:2], more...))
}
