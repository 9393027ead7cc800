// Package asked says what runs were asked for, and how the parameters of two sides differ.
//
// Parameters are texts by the names of flags, so that a new flag makes another load without a word here. The flags that
// make no other load are listed: where the numbers go, where the server is, when a run begins. What nobody knows of a
// run differs from nothing.
package asked

import (
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/servebench/servebench/metrics"
)

// Names of parameters that are not flags.
const (
	Client = "client" // version of the program that measured
	Cores  = "cores"  // that the program could use
	Host   = "host"   // where it ran, if --metadata host=… says so
	Arm    = "arm"    // of a sweep
	Target = "target" // one of several, and whether it was alone
	Seed   = "seed"

	backend = "backend" // openai and vllm are two names of the same
	Shards  = "shards"  // load generators that shared the run

	transport   = "transport"   // code for HTTP/1.1
	Definitions = "definitions" // of vLLM's client, where they make a difference
)

// Of are the parameters of a run, as far as known.
func Of(s *metrics.Summary) Parameters {
	c := &s.Header.Config
	found := Parameters{
		"model": c.Model, backend: Canonical(backend, c.Backend), "endpoint": c.Endpoint, "dataset-name": c.Dataset,
		"tokenizer":  c.Tokenizer,
		"rate-curve": c.RateCurve, Client: clientName(s.Header.Version, s.Header.Commit),
		Arm: metrics.Value(c.Metadata, Arm), Target: s.Header.TargetName(), Definitions: string(s.Header.InForce()),
	}
	if c.NumPrompts > 0 {
		found["num-prompts"] = strconv.Itoa(c.NumPrompts)
	}
	if !math.IsNaN(c.RequestRate) {
		found["request-rate"] = rate(c.RequestRate)
		found["max-concurrency"] = "unlimited"
	}
	if c.MaxConcurrency > 0 {
		found["max-concurrency"] = strconv.Itoa(c.MaxConcurrency)
	}
	if c.MaxSessions > 0 {
		found["max-sessions"] = strconv.Itoa(c.MaxSessions)
	}
	if !math.IsNaN(c.Burstiness) {
		found["burstiness"] = rate(c.Burstiness)
	}
	if r := c.RampUp; r != nil {
		found["ramp-up-strategy"] = fmt.Sprintf("%s from %d to %d", r.Strategy, r.Start, r.End)
	}
	if s.Header.Version != "" { // a file without a version has no seed either, which is then 0
		found[Seed] = strconv.FormatInt(c.Seed, 10)
	}
	if s.Evidence != nil && s.Evidence.CPU.Cores > 0 {
		found[Cores] = strconv.Itoa(s.Evidence.CPU.Cores)
	}
	if n := s.Header.Shards; n > 1 {
		found[Shards] = strconv.Itoa(n)
	}
	found[Host] = metrics.Value(c.Metadata, Host)
	for _, kv := range s.Header.Flags {
		if _, config := found[kv.Key]; !config && !slices.Contains(apart, kv.Key) {
			found[kv.Key] = kv.Value
		}
	}
	for _, short := range []string{"input-len", "output-len"} { // it takes the place of the dataset's own flag
		if length := metrics.Value(s.Header.Flags, short); length != "" {
			found[strings.ReplaceAll(c.Dataset, "_", "-")+"-"+short] = length
		}
	}
	if found["served-model-name"] == c.Model {
		delete(found, "served-model-name") // it is the default
	}
	if file, ok := found["dataset-path"]; ok { // the same file may be elsewhere
		found["dataset-path"] = filepath.Base(file)
	}
	maps.DeleteFunc(found, func(_, v string) bool { return v == "" })
	return found
}

// Canonical is the one name of a parameter's value.
func Canonical(name, value string) string {
	if name == backend && value == "vllm" {
		return "openai"
	}
	return value
}

// rate writes a number as in a flag.
func rate(v float64) string {
	if math.IsInf(v, 1) {
		return "inf"
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// OutputFlags are the flags that only say where the numbers of a run go.
var OutputFlags = []string{
	"percentile-metrics", "metric-percentiles", "label", "metadata", "save-result", "save-detailed", "append-result",
	"result-dir", "result-filename",
	"plot-timeline", "timeline-itl-thresholds", "plot-dataset-stats", "record-to", "record", "compress", "hlog",
	"vllm-version", "window", "slice", "extended",
	"metrics-addr", "disable-tqdm", "strict", "abort-on-failures", "config", "price", "gpus",
}

// apart are flags that do not make a different load: where the server is, when and by which of its
// shards a run begins, what is sampled during it, and what its GPUs cost. So are those for which Of has another
// parameter. All other flags do, also new ones.
var apart = slices.Concat(OutputFlags, []string{
	"base-url", "host", "port", "unix-socket", "header", "insecure", "ca-cert", "client-cert", "client-key", "input-len",
	"output-len",
	"request-rate", "max-concurrency", "multi-turn-concurrency", "ramp-up-start-rps", "ramp-up-end-rps",
	"request-id-prefix",
	"ready-check-timeout-sec", "delay", "connect-timeout", "first-byte-timeout", "stall-timeout", "total-timeout",
	"drain-limit", "deadline", "drain-timeout",
	"shard", "run-id", "start-at", "clock-offset", "target", "solo-first", "pairs", "repeat", "server-metrics",
	"server-metrics-interval", "gpu-metrics", "kvcached-metrics", "price", "gpus",
	"goodput",
})
