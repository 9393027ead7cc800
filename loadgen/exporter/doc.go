// Package exporter publishes the progress of runs as Prometheus metrics.
//
// An Exporter is an http.Handler that answers scrapes. It has a Series for each target. The
// consumer of Records passes each Series the engine.Live of a run when the run begins, and each
// request after it has ended. So a chunk costs nothing extra, and a scrape takes no lock that a
// request waits for. Counters go on from run to run, as Prometheus expects.
package exporter
