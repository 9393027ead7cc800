package trust

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect/backlog"
	"github.com/servebench/servebench/metrics/aspect/counts"
	"github.com/servebench/servebench/metrics/aspect/delivery"
	"github.com/servebench/servebench/metrics/aspect/failures"
	"github.com/servebench/servebench/metrics/aspect/gpus"
	"github.com/servebench/servebench/metrics/aspect/lengths"
	"github.com/servebench/servebench/metrics/aspect/loading"
	"github.com/servebench/servebench/metrics/aspect/processes"
	"github.com/servebench/servebench/metrics/aspect/prompts"
	"github.com/servebench/servebench/metrics/aspect/sessions"
	"github.com/servebench/servebench/metrics/aspect/tokens"
	"github.com/servebench/servebench/metrics/verdict"
)

// notes are what else a reader of the verdict should know.
func (j *judge) notes() []string {
	conns, again := &j.seen.Connections, failures.Of(j.run).Resent
	var n notes
	// First, so that a report that shows a few notes shows it.
	n.add(conns.Unverified, "nobody verified the server's TLS certificate (--insecure): what answered may be anybody")
	n.add(j.run.Evidence == nil,
		"the file has no measurements of the load generator, so the verdict uses only the requests")
	n.add(j.run.Evidence != nil && j.run.Source.Unwatched > 0,
		"the measurements of the load generator are missing for %s: the verdict uses the requests and the other shards",
		metrics.Counted(j.run.Source.Unwatched, "shard"))
	n.text(j.noteInterrupted())
	// Each shard has its own queue.
	shards, limit := j.run.Header.Shards, j.run.Header.Config.MaxConcurrency
	n.add(shards > 1 && limit > 0, "--max-concurrency %d was split over %d shards: each has its own queue, "+
		"so the order in which waiting requests get their slots is approximately first in, first out", limit, shards)
	n.kept(failures.Check(j.run))
	n.add(again.Requests > 0, "%s sent again after failures, %s in all: their latencies include the failed attempts "+
		"and the waits",
		metrics.Counted(again.Requests, "request"), metrics.Counted(again.Times, "time"))
	n.add(again.Reconnects > 0 && conns.Unprocessed == 0,
		"%s sent again over a new connection: the used one died before any byte of the answer; latencies count from the "+
			"first sending",
		metrics.Counted(again.Reconnects, "request"))
	n.add(conns.Unprocessed > 0, "the server refused requests on its HTTP/2 connections (GOAWAY or REFUSED_STREAM): "+
		"%s sent again, %s in all; latencies count from the first sending",
		metrics.Counted(again.Reconnects, "request"), metrics.Counted(int(conns.Unprocessed), "time"))
	n.kept(prompts.Check(j.run))
	n.text(prompts.Note(j.run))
	n.text(loading.Note(j.run))
	n.kept(lengths.Check(j.run))
	n.text(counts.Note(j.run))
	lost := counts.Of(j.run)
	n.add(lost.NoInput > 0, "the server counted 0 prompt tokens in %d of %s: total input tokens lack the %s that the "+
		"dataset has there",
		lost.NoInput, metrics.Counted(lost.Of, "answer"), metrics.Counted(lost.Lost, "token"))
	n.text(j.noteTokens())
	n.text(j.noteSingleTokens())
	n.text(j.noteShared())
	n.text(j.noteStops())
	j.noteCourse(&n)
	j.noteLoad(&n)
	j.noteConnections(&n)
	j.noteServer(&n)
	j.noteSessions(&n)
	j.noteGPUs(&n)
	j.noteEnergy(&n)
	n.add(j.seen.WriteBlocked > 0, "records waited for %s, as they were not taken: what reads them or their disk was "+
		"slow. No request waited for that",
		verdict.ShowDigits(j.seen.WriteBlocked.Seconds())+" s")
	return n
}

type notes []string

// add takes a note that applies.
func (n *notes) add(applies bool, format string, args ...any) {
	if applies {
		*n = append(*n, fmt.Sprintf(format, args...))
	}
}

// text takes a note unless it is empty.
func (n *notes) text(note string) { n.add(note != "", "%s", note) }

// kept notes a check that found something within its limit.
func (n *notes) kept(c verdict.Check, found bool) { n.add(found && c.Fine(), "%s", c.Text) }

// noteConnections notes what happened between the server and the stamps.
func (j *judge) noteConnections(n *notes) {
	conns := &j.seen.Connections
	n.add(j.seen.Stamps.Disordered > 0,
		"%s came before an earlier one, which the network had lost or held up: what was in them had to wait for that",
		metrics.Counted(int(j.seen.Stamps.Disordered), "packet"))
	n.add(j.seen.Stamps.User > 0, "%d of %d chunks were stamped after reading, not by the kernel: our scheduling and GC "+
		"are inside",
		j.seen.Stamps.User, j.seen.Stamps.User+j.seen.Stamps.Kernel)
	n.text(j.noteVouched())
	n.add(conns.Proxy != "", "requests went through the proxy %s: stamps and connections are to it", conns.Proxy)
	n.add(len(conns.Cookies) > 0, "the server set cookies (%s), and requests returned them as from one client: a "+
		"balancer that goes by them sends all requests to one replica",
		strings.Join(conns.Cookies, ", "))
	for _, l := range conns.Names {
		n.text(noteLookup(l))
	}
	n.add(conns.Closed > 0, "the server closed the connection after %s: the next request opens a new connection",
		metrics.Counted(int(conns.Closed), "answer"))
	n.add(conns.Dropped > 0, "the server closes connections right after its answers without announcing it: %s not "+
		"used again, so the next requests opened new connections",
		metrics.Counted(int(conns.Dropped), "connection"))
	n.add(conns.Packed > 0, "%s came compressed: the compressor held each event back until its block was complete, "+
		"and latencies include that wait",
		metrics.Counted(int(conns.Packed), "answer"))
	n.add(conns.Protocol == "HTTP/1.0", "the server answers in HTTP/1.0: an answer ends where its connection does")
}

// noteServer notes whether the server kept up, and how far its counters can be used.
func (j *judge) noteServer(n *notes) {
	b := backlog.Of(j.run)
	n.add(b.Late > 0, "from when they were due, requests of the second half took %s, requests of the first %s: "+
		"the run is too short for its answers to show whether the server keeps up",
		verdict.ShowMS(metrics.Milliseconds(b.Late)),
		verdict.ShowMS(metrics.Milliseconds(b.Early)))
	n.add(j.run.Header.Wake != nil && j.run.Header.Wake.Unproven,
		"nothing but its own answers shows that the server slept (--sleep-first): GET /server_info does not say whether "+
			"it has a sleep mode")
	mixed := processes.Why(j.run)
	restarted := j.seen.Server.Restarted != "" && j.seen.Server.Restarted != mixed
	ignored := map[bool]string{true: ". Its /metrics are of several processes, so they are ignored"}[mixed != ""]
	n.add(restarted, "the server restarted during the run: %s%s", j.seen.Server.Restarted, ignored)
	n.add(!restarted && mixed != "", "the server's /metrics are not from one process under only this load: %s. "+
		"They are ignored. "+
		"Behind a load balancer or router, %s", mixed, j.replicas())
	hits, of := counts.PrefixCache(j.run)
	_, known := j.reused()
	share := verdict.Percent(hits, cmp.Or(of, hits))
	n.add(hits > 0 && j.sharesPrefixes() && !known,
		"the server had %s of the prompt tokens in its prefix cache, as expected for this workload",
		verdict.ShowPercent(share))
	n.add(share > prefixWarned && !j.sharesPrefixes() && !known && j.byTemplate(hits, j.run.Completed+j.run.Failed),
		"the server had %s of the prompt tokens in its prefix cache: no more than the beginning of a chat template, which "+
			"is the same in all prompts", verdict.ShowPercent(share))
}

// shortEnergy is the shortest run for which the energy of a GPU means something. The sensors of the
// A100 and the H100 see a quarter of the time: arXiv 2312.02741.
const shortEnergy = 60 // s

// noteEnergy notes how far the energy can be used.
func (j *judge) noteEnergy(n *notes) {
	e := gpus.Energy(j.run)
	if e == nil {
		return
	}
	n.add(e.Unknown != "", "the energy is unknown: %s. A DCGM exporter reports each 30 s unless it is started with -c "+
		"1000", e.Unknown)
	n.add(e.Unknown == "" && e.Seconds < shortEnergy,
		"the energy is of %.1f s: the sensors of some GPUs see a quarter of the time, so take runs of a minute or more",
		e.Seconds)
	n.add(e.Unknown == "" && e.Share != 1, "the targets shared the GPUs: this energy is an estimate, by share of busy "+
		"time")
}

func (j *judge) noteInterrupted() string {
	if !j.run.Ending.Interrupted {
		return ""
	}
	text := "the run was stopped before its end"
	if n := j.run.Failed - failures.Uncut(j.run); n > 0 {
		text += fmt.Sprintf(", and %s cut short", metrics.Counted(n, "request"))
	}
	if j.run.Ending.StoppedBy != "" {
		text += ", by " + j.run.Ending.StoppedBy
	}
	return text
}

// noteTokens says if a chunk is not a token.
func (j *judge) noteTokens() string {
	t := tokens.Of(j.run)
	text := fmt.Sprintf("chunk ≠ token: %s, so vLLM's ITL and peak throughput are per chunk", perChunk(t))
	left := fmt.Sprintf("%s with more tokens than chunks left out of the ITL per token",
		metrics.Counted(t.Bundled, "request"))
	switch {
	case j.run.Header.Config.Whole:
		return ""
	case t.Bundle() && j.run.Header.Config.Traits.CountsEach:
		return text + "; the server was asked to count the tokens of each chunk, and does not"
	case t.Bundle() && j.run.Header.Config.Traits.CountsLast:
		return text
	case t.Bundle():
		return text + "; --continuous-usage-stats tells single tokens' ITL, if the server has it"
	case t.Differ() && t.Bundled > 0:
		return text + "; " + left
	case t.Differ():
		return text
	case t.Bundled > 0:
		return left
	case t.Fewer > 0 && !delivery.Repeats(j.run) &&
		(counts.Of(j.run).Nobody == 0 || j.run.Header.Config.SkipTokenizer):
		return fmt.Sprintf("%s had fewer tokens than chunks: was there no usage? Their ITL per token is not known",
			metrics.Counted(t.Fewer, "request"))
	}
	return ""
}

// perChunk says how many tokens the chunks had. If nearly each has one, a mean would hide the others.
func perChunk(t *tokens.Tokens) string {
	if mean := fmt.Sprintf("%.2f", t.Mean()); mean != "1.00" {
		return mean + " tokens a chunk"
	}
	return fmt.Sprintf("%d tokens in %s", t.Tokens, metrics.Counted(int(t.Chunks), "chunk"))
}

// noteSingleTokens says if every answer was too short for the latencies between tokens, which the
// block then prints as 0.00.
func (j *judge) noteSingleTokens() string {
	var unmeasured []string
	for _, m := range metrics.Metrics {
		if (m.Name == "tpot" || m.Name == "itl") && j.run.Header.Config.Selected(m.Name) && m.Of(j.run).Len() == 0 {
			unmeasured = append(unmeasured, m.Label)
		}
	}
	if j.run.TTFT.Len() == 0 || j.run.TPOT.Len() > 0 || unmeasured == nil {
		return ""
	}
	are := map[bool]string{true: "are", false: "is"}[len(unmeasured) > 1]
	return fmt.Sprintf("no answer had two tokens: %s %s not measured", strings.Join(unmeasured, " and "), are)
}

func (j *judge) noteShared() string {
	if j.sharedShare() <= sharedLimit || j.late() {
		return ""
	}
	const others = "the server or a proxy sends several events at once"
	text := verdict.ShowPercent(j.sharedShare()) + " of chunks came in one read with another"
	switch {
	case !j.userStamped():
		return text + " and we read in time: " + others
	case j.seen.Pauses.WakeP99 > 0:
		return text + ": " + others + ", or we read late, of which all that is known is that " + j.process() +
			" woke up late by " +
			verdict.ShowMS(metrics.Milliseconds(j.seen.Pauses.WakeP99)) + " at p99"
	}
	return text + ": " + others + ", or we read late, of which nothing is known"
}

// noteVouched says why the selftest proves nothing here.
func (j *judge) noteVouched() string {
	v, n := j.seen.Selftest, j.run.Truth.PeakConcurrency+j.seen.OtherInFlight
	_, found := j.selftestCoverage()
	switch {
	case v == nil || found:
		return ""
	case v.Kernel && j.userStamped():
		return j.selftest() + " says nothing of stamps taken after reading"
	}
	return fmt.Sprintf("%s has nothing on %d requests in flight at once: it vouches for %d", j.selftest(), n, v.Streams)
}

// warnings are what a reader of the verdict should look into.
func (j *judge) warnings() []string {
	if c, found := j.prefixHits(); found && c.Fine() && c.Figure > prefixWarned {
		why := ", although this workload shares no prefixes"
		hits, _ := counts.PrefixCache(j.run)
		prompts := j.run.Completed + j.run.Failed
		if known, _, first := j.knownBefore(); first {
			why, hits, prompts = "", known, sessions.Of(j.run).Rows[0].Sent
		}
		if j.byTemplate(hits, prompts) {
			return nil
		}
		return []string{c.Text + why + ": a rehearsal's request, a chat template's beginning or an earlier run"}
	}
	return nil
}
