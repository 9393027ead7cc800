package stream

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect"
	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/tally"
)

// A shard is what is known so far about one shard of a run. All its times are on its own clock,
// also in its Collector.
type shard struct {
	index     int
	header    *metrics.Header   // from the run line that counts, changed by the ask
	headers   []*metrics.Header // of all its run lines
	ends      []*metrics.End    // all of them
	collector *metrics.Collector
	due, sent tally.Extent  // of the requests that open a conversation
	last      time.Duration // latest end of a measured record
	lines     int           // of requests
	records   int           // measured requests; known once it has joined the others
	gapless   bool          // it has records without single chunk times
	turns     bool          // it has records of a conversation's later turns
}

// unasked is the configuration of a run without a run line: everything is unknown, and vLLM's
// default metrics are reported.
func unasked() metrics.Config {
	c := metrics.UnknownConfig()
	c.Metrics, c.Percentiles = []string{"ttft", "tpot", "itl"}, []float64{99}
	return c
}

func newShard(run string, index int, ask metrics.Ask) *shard {
	h := ask.Apply(&metrics.Header{Run: run, Shard: index, Config: unasked()})
	sh := &shard{index: index, header: h, collector: aspect.Collector(h)}
	sh.collector.Keep.Outcomes, sh.collector.Keep.Timings, sh.collector.Keep.Trace = ask.Outcomes, ask.Timings, ask.Trace
	return sh
}

func (sh *shard) take(e Entry, ask metrics.Ask) {
	switch {
	case e.Header != nil:
		sh.headers = append(sh.headers, e.Header)
		if len(sh.headers) == 1 {
			*sh.header = *ask.Apply(e.Header)
			if ask.Definitions != "" {
				sh.header.Definitions = ask.Definitions
			}
			sh.collector.Keep.Trace = ask.Trace || e.Header.Group != "" || e.Header.Sampled
		}
	case e.End != nil:
		sh.ends = append(sh.ends, e.End)
	case e.Sample != nil:
		sh.collector.AddSample(e.Sample)
	default:
		sh.add(e.Record)
		if ask.Each != nil {
			ask.Each(sh.header, e.Record)
		}
	}
}

func (sh *shard) add(r *record.Record) {
	sh.lines++
	sh.turns = sh.turns || r.Turn > 0
	sh.collector.Add(r)
	if r.Phase != record.WarmUp {
		sh.last = max(sh.last, r.Times.End)
		if r.Phase == record.Main && r.Turn == 0 {
			sh.due.Add(r.Times.Due)
			sh.sent.Add(r.Times.Sent)
		}
		sh.gapless = sh.gapless || sh.header.Counted(r).Answer.Chunks.Gapless()
	}
}

// begun reports whether its run line was there.
func (sh *shard) begun() bool { return len(sh.headers) > 0 }

// end is its first end line, nil if there is none.
func (sh *shard) end() *metrics.End {
	if len(sh.ends) == 0 {
		return nil
	}
	return sh.ends[0]
}

// took is how long the measured part of the shard ran.
func (sh *shard) took() time.Duration {
	if end := sh.end(); end != nil {
		return time.Duration(end.Seconds * float64(time.Second))
	}
	return max(0, sh.last-sh.header.Began())
}

// finish adds what the end line has and the records do not. It reports whether ITL is then known.
func (sh *shard) finish() (known bool, err error) {
	end := sh.end()
	if end == nil || !sh.gapless {
		return !sh.gapless, nil
	}
	return sh.collector.AdoptGaps(end, !sh.recounted())
}

// recounted reports that the ask has other Definitions than the run, and that they differ.
func (sh *shard) recounted() bool {
	return sh.begun() && sh.header.Config.Redefined() && sh.header.Definitions.Named() != sh.headers[0].Definitions.Named()
}

// counted is the number of requests by the end lines, one for each run line.
func (sh *shard) counted() int {
	n := 0
	for _, e := range sh.ends[:min(len(sh.ends), max(len(sh.headers), 1))] {
		n += e.Completed + e.Failed
	}
	return n
}

// faults are the shard's faults, each after its name. It must have joined the others.
func (sh *shard) faults(sharded bool) []string {
	var w []string
	if !sh.begun() {
		w = append(w, "has no run line, so its parameters are unknown")
	}
	twice := len(sh.headers) > 1
	switch {
	case twice && sharded:
		w = append(w, "ran "+repeated(len(sh.headers))+": the requests of all its runs are counted")
	case twice || len(sh.ends) > 1:
		w = append(w, "has run or end lines that differ: the first of each counts")
	}
	switch {
	case len(sh.ends) == 0:
		cut := "was cut: it has no end line, so its duration ends with the last request"
		if n := sh.planned(); n > 0 && !sharded {
			cut += fmt.Sprintf("; %d of %s are in the file", sh.records, metrics.Counted(n, "request"))
		}
		w = append(w, cut)
	case len(sh.ends) < len(sh.headers):
		w = append(w, "was cut "+repeated(len(sh.headers)-len(sh.ends))+": it has fewer end lines than run lines")
	case sh.counted() != sh.records:
		w = append(w, fmt.Sprintf("counts %s in its end line, but the stream holds %d",
			metrics.Counted(sh.counted(), "request"), sh.records))
	}
	return w
}

// planned is how many requests the whole shard had, 0 if unknown: a time may end it earlier, and a
// conversation is several requests.
func (sh *shard) planned() int {
	c := &sh.header.Config
	if c.Duration > 0 || sh.turns || c.Traits.Fewer {
		return 0
	}
	return max(c.NumPrompts, 0)
}

// repeated is a number of times in words: once, twice, 3 times.
func repeated(n int) string {
	return cmp.Or(map[int]string{1: "once", 2: "twice"}[n], fmt.Sprintf("%d times", n))
}

// name names the shard and the machines that it ran on.
func (sh *shard) name() string {
	switch hosts := sh.hosts(); len(hosts) {
	case 0:
		return fmt.Sprintf("shard %d", sh.index)
	case 1:
		return fmt.Sprintf("shard %d (host %s)", sh.index, hosts[0])
	default:
		return fmt.Sprintf("shard %d (hosts %s)", sh.index, listed(hosts))
	}
}

// hosts are the machines that it ran on, in order, as far as they are known.
func (sh *shard) hosts() []string {
	var hosts []string
	for _, h := range sh.headers {
		if h.Host != "" {
			hosts = append(hosts, h.Host)
		}
	}
	slices.Sort(hosts)
	return slices.Compact(hosts)
}

// listed names things: a; a and b; a, b and c.
func listed(names []string) string {
	if n := len(names); n > 1 {
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
	return strings.Join(names, "")
}
