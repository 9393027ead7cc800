// Package metrics turns the records of single requests into the numbers of a run.
//
// A Record says what one request did. A Collector takes Records and returns a Summary at any time:
// the numbers that vLLM's serving benchmark defines, the Truth that those leave out, and the
// Evidence of how good the measurement was. With a Trace, a Summary can be cut into windows and
// slices.
//
// A latency is a Distribution: exact values up to a limit, and an HDR histogram of all values.
// Values go in as seconds and come out as milliseconds, as in vLLM's client. Times are offsets from
// the start of the run.
//
// A Summary can also be read from the output of other tools. It then quotes what is printed there:
// unknown numbers are NaN, unknown counts are -1.
//
// This package imports no other package of servebench. The packages below it import only those above them
// in this list:
//
//	metrics
//	metrics/pyjson   JSON as Python writes it
//	metrics/scrape   servers' metrics in Prometheus' format
//	metrics/trust    whether to believe a Summary
//	metrics/vllm     vLLM's result block and result file, both ways
//	metrics/stream   Records in a file, written and read
//	metrics/compare  statistics between runs
package metrics
