// Package metrics turns what single requests did into what a run was worth.
//
// A Record says what one request did. A Collector takes Records and gives a
// Summary at any time: the numbers that vLLM's serving benchmark defines, the
// Truth that those leave out, and the Evidence of how well was measured. With a
// Trace a Summary can be cut into windows and slices.
//
// A latency is a Distribution: exact values up to a limit, and an HDR histogram
// of all. Values go in as seconds and come out as milliseconds, as vLLM's client
// has them. Times are offsets from the start of the run.
//
// A Summary can also be read from what others wrote. It then quotes what is
// printed there: numbers it does not know are NaN, counts it does not know -1.
//
// This package imports no other of ours. Its rooms do, each only those above it:
//
//	metrics
//	metrics/pyjson   JSON as Python writes it
//	metrics/scrape   servers' metrics in Prometheus' format
//	metrics/trust    whether a Summary can be believed
//	metrics/vllm     vLLM's result block and result file, both ways
//	metrics/stream   Records written down, and read again
//	metrics/compare  statistics between runs
package metrics
