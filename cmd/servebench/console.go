package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/servebench/servebench/loadgen"
	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/vllm"
)

// A console prints what vLLM's client prints before its block, in the words of a release, and all
// other messages of the run.
type console struct {
	out     io.Writer // what vLLM's client prints
	talk    io.Writer // all other messages
	version vllm.Version
	several bool                 // targets: each line about one begins with its name
	targets map[string]io.Writer // one for each of several targets
}

// to are the writers for a target.
func (c *console) to(target string) (out, talk io.Writer) {
	if !c.several || target == "" {
		return c.out, c.talk
	}
	if c.targets == nil {
		c.targets = map[string]io.Writer{}
	}
	if c.targets[target] == nil {
		c.targets[target] = &prefixed{w: c.talk, prefix: target + ": ", said: map[string]bool{}}
	}
	return c.targets[target], c.targets[target]
}

// temperatureWarning is vLLM's, since it no longer asks for greedy decoding.
const temperatureWarning = "WARNING: vllm bench serve no longer sets temperature==0 (greedy) in requests by default. " +
	"The default will be determined on the server side and can be model/API specific. " +
	"For the old behavior, include --temperature=0."

// Step prints the lines of vLLM's client at a step, if the release has them. For several targets it
// prints only the lines about a target.
func (c *console) Step(s loadgen.Event) {
	out, _ := c.to(s.Target)
	switch s.Kind {
	case loadgen.FindingModel, loadgen.Prepared, loadgen.Rehearsing, loadgen.Ready, loadgen.Starting:
		if c.several {
			return
		}
	}
	since := func(minor, patch int, format string, args ...any) {
		if c.version.Since(minor, patch) {
			fmt.Fprintf(out, format+"\n", args...)
		}
	}
	switch s.Kind {
	case loadgen.FindingModel:
		fmt.Fprintln(out, "Model not specified, fetching first model from server...")
	case loadgen.FoundModel:
		fmt.Fprintf(out, "First model name: %s, first model id: %s\n", s.ID, s.Model)
	case loadgen.NotAligned:
		since(24, 0, "WARNING: %s, skipping alignment.", c.unaligned(s))
	case loadgen.Aligning:
		since(24, 0, "WARNING: tokenizer mismatch (server=%d, expected=%d), re-aligning prompts.", s.Count, s.Want)
	case loadgen.Prepared:
		if s.Plan.Sampling.Temperature == nil && !s.Plan.Server.Pooling() {
			since(15, 0, temperatureWarning)
		}
	case loadgen.Rehearsing:
		fmt.Fprintln(out, "Starting initial single prompt test run...")
		if limit := s.Plan.Traffic.ReadyCheck; limit > 0 {
			since(10, 1, "Waiting for endpoint to become up in %.0f seconds", limit.Seconds())
		} else {
			since(11, 0, "Skipping endpoint ready check.")
		}
	case loadgen.Ready:
		end := "\n"
		if !c.version.Since(11, 0) {
			end = " " // the next line continued this one
		}
		fmt.Fprint(out, "Initial test run completed.", end)
	case loadgen.WarmingUp:
		since(11, 1, "Warming up with %d requests...", s.Count)
	case loadgen.WarmedUp:
		since(11, 1, "Warmup run completed.")
	case loadgen.Starting:
		fmt.Fprintln(out, "Starting main benchmark run...")
	case loadgen.StartingProfiler:
		fmt.Fprintln(out, "Starting profiler...")
	case loadgen.StartedProfiler:
		fmt.Fprintln(out, "Profiler started")
	case loadgen.StoppingProfiler:
		fmt.Fprintln(out, "Stopping profiler...")
	case loadgen.StoppedProfiler:
		fmt.Fprintln(out, "Profiler stopped")
	case loadgen.Announced:
		if s.Config.SelfTimed {
			since(23, 0, "Self timing is set, using the timestamps from the trace file.")
		} else {
			c.announceRate(out, &s.Config)
		}
		if s.Probes {
			since(27, 0, "Probe request rate: %s req/s", metrics.FormatFloat(s.Plan.Traffic.ProbeRate))
		}
	}
}

// announceRate prints what vLLM's client prints about the load: for several targets one line each.
func (c *console) announceRate(out io.Writer, load *metrics.Config) {
	var lines []string
	say := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	switch r := load.RampUp; {
	case r != nil:
		say("Traffic ramp-up strategy: %s.", r.Strategy)
		say("Will increase RPS from %d to %d RPS over the duration of the benchmark.", r.Start, r.End)
	case load.RateCurve != "":
		say("Traffic rate curve: %s", load.RateCurve)
	default:
		say("Traffic request rate: %s", metrics.FormatFloat(load.RequestRate))
	}
	distribution := "Gamma distribution"
	if load.Burstiness == 1 {
		distribution = "Poisson process"
	}
	say("Burstiness factor: %s (%s)", metrics.FormatFloat(load.Burstiness), distribution)
	limit := "None"
	if load.MaxConcurrency > 0 {
		limit = fmt.Sprint(load.MaxConcurrency)
	}
	say("Maximum request concurrency: %s", limit)
	between := "\n"
	if c.several {
		between = "; "
	}
	fmt.Fprintln(out, strings.Join(lines, between))
}

// unaligned says why /tokenize cannot be used, as vLLM's client does, with our error instead of
// Python's exception.
func (c *console) unaligned(s loadgen.Event) string {
	f, _ := errors.AsType[*record.Failure](s.Err)
	switch {
	case !c.version.Since(33, 0):
		return "/tokenize unavailable"
	case loadgen.IsDown(s.Err):
		return fmt.Sprintf("%s unreachable (%v)", s.Plan.Server.BaseURL, s.Err)
	case f == nil || f.Class != record.Status:
		return fmt.Sprintf("/tokenize probe failed (%v)", s.Err)
	case f.Status == http.StatusNotFound:
		return fmt.Sprintf("/tokenize unavailable (404 Not Found: either this server has no /tokenize route, or it does "+
			"not serve a model named `%s` "+
			"(its served names are listed by GET /v1/models))", s.Model)
	}
	return fmt.Sprintf("/tokenize unavailable (HTTP %d)", f.Status)
}

// Remark prints a message.
func (c *console) Remark(target, text string) {
	_, talk := c.to(target)
	fmt.Fprintln(talk, text)
}

// Draining says what the run waits for.
func (c *console) Draining(d loadgen.Draining) {
	if d.InFlight == 0 {
		return
	}
	why, again := "interrupted", "; interrupt again to quit at once"
	if d.Aborted {
		why, again = "too many requests failed", ""
	}
	fmt.Fprintf(c.talk, "%s: %s in flight may take %s to end%s\n", why, count(d.InFlight, "request"), d.Limit, again)
}

// note prints what was taken for something else.
func (c *console) note(notes []string) {
	for _, n := range notes {
		fmt.Fprintln(c.talk, n)
	}
}

// warn prints warnings.
func (c *console) warn(warnings []string) {
	for _, w := range warnings {
		fmt.Fprintln(c.talk, "WARNING:", w)
	}
}

// about is the writer for messages about a run. If there are several targets, each line begins with
// the name of its target.
func (c *console) about(s *metrics.Summary) io.Writer {
	if !c.several {
		return c.talk
	}
	return &prefixed{w: c.talk, prefix: s.Header.TargetName() + ": "}
}

// A prefixed writer puts a text before each line, and can suppress repeated lines. It is safe for
// concurrent use if w is.
type prefixed struct {
	w      io.Writer
	prefix string
	said   map[string]bool // lines that are not repeated; nil repeats all

	mu   sync.Mutex
	rest []byte // of a line whose end has not come
}

func (p *prefixed) Write(text []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rest = append(p.rest, text...)
	var whole strings.Builder
	for {
		line, rest, ok := bytes.Cut(p.rest, []byte("\n"))
		if !ok {
			break
		}
		if !p.said[string(line)] {
			whole.WriteString(p.prefix + string(line) + "\n")
		}
		if p.said != nil {
			p.said[string(line)] = true
		}
		p.rest = rest
	}
	if whole.Len() > 0 {
		if _, err := io.WriteString(p.w, whole.String()); err != nil {
			return 0, err
		}
	}
	return len(text), nil
}
