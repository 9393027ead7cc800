package compare

import (
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/record"
)

// Properties in Run.Asked that are not flags.
const (
	client = "client" // version of the program that measured
	cores  = "cores"  // that the program could use
	host   = "host"   // where it ran, if --metadata host=… says so
	arm    = "arm"    // of a sweep
	target = "target" // one of several, and whether it was alone
	seed   = "seed"

	backend = "backend" // openai and vllm are two names of the same
	shards  = "shards"  // load generators that shared the run

	transport   = "transport"   // code for HTTP/1.1
	definitions = "definitions" // of vLLM's client, where they make a difference
)

// Asked is the parameters of a run by the names of flags, as far as known, and its arm, target and client.
func Asked(s *metrics.Summary) map[string]string {
	c := &s.Header.Config
	found := map[string]string{
		"model": c.Model, backend: canonical(backend, c.Backend), "endpoint": c.Endpoint, "dataset-name": c.Dataset,
		"tokenizer":  c.Tokenizer,
		"rate-curve": c.RateCurve, client: clientName(s.Header.Version, s.Header.Commit),
		arm: metrics.Value(c.Metadata, arm), target: s.Header.TargetName(), definitions: string(s.Header.InForce()),
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
		found[seed] = strconv.FormatInt(c.Seed, 10)
	}
	if s.Evidence != nil && s.Evidence.CPU.Cores > 0 {
		found[cores] = strconv.Itoa(s.Evidence.CPU.Cores)
	}
	if n := s.Header.Shards; n > 1 {
		found[shards] = strconv.Itoa(n)
	}
	found[host] = metrics.Value(c.Metadata, host)
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

// canonical is the one name of a property's value.
func canonical(name, value string) string {
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
// shards a run begins, what is sampled during it, and what its GPUs cost. So are those for which Asked has another
// property. All other flags do, also new ones.
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

// notGiven is the value of a property that a run does not have. It needs a run of which all
// properties are known.
const notGiven = "not given"

// property is a parameter of a run by its name, empty if unknown.
func (r *Run) property(name string) string {
	v, known := r.Asked[name]
	if _, whole := r.Asked[client]; !known && whole &&
		!slices.Contains([]string{cores, host, transport, definitions}, name) {
		return notGiven
	}
	return v
}

// propertyOf lists the values of a property among the runs, each once, in order.
func propertyOf(runs []*Run, name string) []string {
	var values []string
	for _, r := range runs {
		if v := r.property(name); v != "" {
			values = append(values, v)
		}
	}
	values = metrics.Distinct(values)
	if name == client {
		values = distinctClients(values)
	}
	slices.SortFunc(values, byNumber)
	return values
}

// byNumber orders numeric texts as numbers, others as texts.
func byNumber(a, b string) int {
	x, err := strconv.ParseFloat(a, 64)
	y, err2 := strconv.ParseFloat(b, 64)
	if err != nil || err2 != nil || x == y {
		return strings.Compare(a, b)
	}
	if x < y {
		return -1
	}
	return 1
}

// properties lists the names of all properties of the runs, in order.
func properties(sides ...[]*Run) []string {
	names := map[string]bool{}
	for _, runs := range sides {
		for _, r := range runs {
			for name := range r.Asked {
				names[name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// Differences describes the parameters that differ between the two sides, which make their numbers
// differ without any change of the server. A parameter that is unknown on one side does not count,
// nor one that despite names.
func Differences(old, new []*Run, despite []string) []string {
	var found []string
	for _, name := range properties(old, new) {
		if slices.Contains(despite, name) {
			continue
		}
		if (name == arm || name == target) && len(propertyOf(old, name)) == 1 && len(propertyOf(new, name)) == 1 {
			continue // comparing arms or targets is the purpose
		}
		if name == seed && (len(old) == 1 || len(new) == 1) {
			continue // a run alone has no other with its prompts
		}
		if name == seed && len(propertyOf(old, name)) == 1 && len(propertyOf(new, name)) == 1 {
			continue // other prompts of the same kind: a note says so
		}
		if name == "request-rate" && (differ(old, new, "ramp-up-strategy") || differ(old, new, "rate-curve")) {
			continue // which replaces the rate
		}
		if differ(old, new, name) {
			found = append(found, fmt.Sprintf("%s is %s in the old runs and %s in the new ones", name, shown(old, name),
				shown(new, name)))
		}
	}
	return found
}

// differ reports that a property is known on both sides, and not the same.
func differ(old, new []*Run, name string) bool {
	a, b := shown(old, name), shown(new, name)
	if name == client && a != "" && b != "" {
		was, is := propertyOf(old, name), propertyOf(new, name)
		return len(was) != len(is) || len(distinctClients(slices.Concat(was, is))) > len(was)
	}
	return a != "" && b != "" && a != b
}

// shown writes the values of a property. For seeds it says whether all runs shared one seed or each
// had a different one.
func shown(runs []*Run, name string) string {
	values := propertyOf(runs, name)
	if name == seed && len(values) > 1 {
		return "different in each run"
	}
	return strings.Join(values, ", ")
}

// Recount are the definitions by which to recount recorded streams so that all runs use the same:
// the definitions of runs without single requests, which cannot be recounted, else the newest. It
// is empty if all runs use the same already, and if that is impossible.
func Recount(runs ...[]*Run) record.Definitions {
	var found, fixed []record.Definitions
	for _, r := range slices.Concat(runs...) {
		d := record.Definitions(r.Asked[definitions])
		if d == "" {
			continue
		}
		found = append(found, d)
		if !r.measured.recounts {
			fixed = append(fixed, d)
		}
	}
	older := func(a, b record.Definitions) int {
		if a.Older(b) {
			return -1
		}
		return 1
	}
	slices.SortFunc(found, older)
	slices.SortFunc(fixed, older)
	found, fixed = slices.Compact(found), slices.Compact(fixed)
	switch {
	case len(found) < 2 || len(fixed) > 1:
		return ""
	case len(fixed) == 1:
		return fixed[0]
	}
	return found[len(found)-1]
}
