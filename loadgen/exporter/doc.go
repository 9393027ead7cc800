// Package exporter shows what runs are doing as Prometheus metrics.
//
// An Exporter is an http.Handler that answers scrapes. It has a Series for each
// target, which is told of a run when that begins, by its engine.Live, and of
// each request once that has ended, by the one consumer of Records. So a chunk
// costs what it cost before, and a scrape takes no lock that a request waits for.
// Counters go on from run to run, as Prometheus expects of them.
package exporter
