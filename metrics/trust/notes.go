package trust

import (
	"cmp"
	"fmt"

	"github.com/servebench/servebench/metrics"
)

// notes are what a reader of the verdict should know besides.
func (j *judge) notes() []string {
	var notes []string
	for _, note := range []func() string{
		j.noteEvidence, j.noteInterrupted, j.noteQueues, j.noteFailed, j.noteResent, j.noteAnew, j.noteAnswers, j.noteCounts, j.noteTokens, j.noteShared, j.noteDisorder,
		j.noteStamps, j.noteVouched, j.noteProxy, j.noteUnverified, j.noteClosed, j.noteDropped, j.notePacked, j.noteProtocol, j.noteSlower, j.noteMixed, j.notePrefix,
		j.noteBlocked,
	} {
		if text := note(); text != "" {
			notes = append(notes, text)
		}
	}
	return notes
}

func (j *judge) noteEvidence() string {
	switch {
	case j.Evidence == nil:
		return "there is no evidence of the load generator itself: the verdict rests on the records alone"
	case j.Unwatched > 0:
		return fmt.Sprintf("the evidence of %s is missing: the verdict rests on the records and on the other shards'",
			metrics.Counted(j.Unwatched, "shard"))
	}
	return ""
}

func (j *judge) noteInterrupted() string {
	if !j.Interrupted {
		return ""
	}
	text := "the run was stopped before its end"
	if n := j.Failed - j.Failures(); n > 0 {
		text += fmt.Sprintf(", and %s cut short", metrics.Counted(n, "request"))
	}
	if j.StoppedBy != "" {
		text += ", by " + j.StoppedBy
	}
	return text
}

func (j *judge) noteFailed() string {
	if c, found := j.failed(); found && fine(c) {
		return c.Text
	}
	return ""
}

func (j *judge) noteAnswers() string {
	if c, found := j.answers(); found && fine(c) {
		return c.Text
	}
	return ""
}

func (j *judge) noteResent() string {
	n := j.Resent
	if n.Requests == 0 {
		return ""
	}
	return fmt.Sprintf("%s sent again after failures, %s in all: their latencies have what failed and the waits inside",
		metrics.Counted(n.Requests, "request"), metrics.Counted(n.Times, "time"))
}

func (j *judge) noteAnew() string {
	if j.Resent.Anew == 0 {
		return ""
	}
	return fmt.Sprintf("%s sent anew over a new connection: the used one died before any byte of the answer; latencies count from the first sending",
		metrics.Counted(j.Resent.Anew, "request"))
}

// noteTokens says where a chunk is not a token.
func (j *judge) noteTokens() string {
	t := j.Truth.Tokens
	text := fmt.Sprintf("chunk ≠ token: %.2f tokens a chunk, so vLLM's ITL and peak throughput are per chunk", t.Mean())
	left := fmt.Sprintf("%s with more tokens than chunks left out of the ITL per token", metrics.Counted(t.Bundled, "request"))
	switch {
	case t.Bundles():
		return text + "; --continuous-usage-stats tells single tokens' ITL, if the server has it"
	case t.Differ() && t.Bundled > 0:
		return text + "; " + left
	case t.Differ():
		return text
	case t.Bundled > 0:
		return left
	case t.Fewer > 0 && (j.Truth.Counts.Nobody == 0 || j.Header.Config.SkipTokenizer):
		return fmt.Sprintf("%s had fewer tokens than chunks: was there no usage? Their ITL per token is not known", metrics.Counted(t.Fewer, "request"))
	}
	return ""
}

func (j *judge) noteShared() string {
	if j.sharedShare() <= sharedLimit || j.late() {
		return ""
	}
	const others = "the server or a proxy sends several events at once"
	text := showPercent(j.sharedShare()) + " of chunks came in one read with another"
	switch {
	case !j.userStamped():
		return text + " and we read in time: " + others
	case j.seen.WakeP99 > 0:
		return text + ": " + others + ", or we read late, of which all that is known is that " + j.process() + " woke up late by " +
			showMS(metrics.Milliseconds(j.seen.WakeP99)) + " at p99"
	}
	return text + ": " + others + ", or we read late, of which nothing is known"
}

func (j *judge) noteDisorder() string {
	if j.seen.Disordered == 0 {
		return ""
	}
	return metrics.Counted(int(j.seen.Disordered), "packet") +
		" came before an earlier one, which the network had lost or held up: what was in them had to wait for that"
}

func (j *judge) noteBlocked() string {
	if j.seen.WriteBlocked == 0 {
		return ""
	}
	return fmt.Sprintf("records waited for %s, as they were not taken: what reads them or their disk was slow. No request waited for that",
		showDigits(j.seen.WriteBlocked.Seconds())+" s")
}

func (j *judge) noteStamps() string {
	if j.seen.UserStamps == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d chunks were stamped after reading, not by the kernel: our scheduling and GC are inside",
		j.seen.UserStamps, j.seen.UserStamps+j.seen.KernelStamps)
}

// noteVouched says why the selftest is no witness.
func (j *judge) noteVouched() string {
	v, n := j.seen.Vouched, j.Truth.PeakConcurrency+j.seen.Beside
	_, found := j.vouched()
	switch {
	case v == nil || found:
		return ""
	case v.Kernel && j.userStamped():
		return j.selftest() + " says nothing of stamps taken after reading"
	}
	return fmt.Sprintf("%s has nothing on %d requests in flight at once: it vouches for %d", j.selftest(), n, v.Streams)
}

func (j *judge) noteProxy() string {
	if j.seen.Proxy == "" {
		return ""
	}
	return fmt.Sprintf("requests went through the proxy %s: stamps and connections are to it", j.seen.Proxy)
}

func (j *judge) noteUnverified() string {
	if !j.seen.Unverified {
		return ""
	}
	return "nobody verified the server's TLS certificate (--insecure): what answered may be anybody"
}

func (j *judge) noteClosed() string {
	if j.seen.Closed == 0 {
		return ""
	}
	return fmt.Sprintf("the server closed the connection after %s: the next request connects anew",
		metrics.Counted(int(j.seen.Closed), "answer"))
}

func (j *judge) notePacked() string {
	if j.seen.Packed == 0 {
		return ""
	}
	return fmt.Sprintf("%s came compressed: the compressor kept each event back until it wrote out its block, and that wait is in the latencies",
		metrics.Counted(int(j.seen.Packed), "answer"))
}

func (j *judge) noteDropped() string {
	if j.seen.Dropped == 0 {
		return ""
	}
	return fmt.Sprintf("the server closes connections right after its answers without announcing it: %s not used again, so the next requests connected anew",
		metrics.Counted(int(j.seen.Dropped), "connection"))
}

// noteSlower is of a run that is too short to tell whether the server keeps up.
func (j *judge) noteSlower() string {
	b := j.Truth.Backlog
	if b.Late == 0 {
		return ""
	}
	return fmt.Sprintf("requests of the second half took %s from when they were due, those of the first %s: "+
		"the run is too short beside its answers to tell whether the server keeps up", showMS(metrics.Milliseconds(b.Late)), showMS(metrics.Milliseconds(b.Early)))
}

func (j *judge) noteProtocol() string {
	if j.seen.Protocol != "HTTP/1.0" {
		return ""
	}
	return "the server answers in HTTP/1.0: an answer ends where its connection does"
}

func (j *judge) notePrefix() string {
	hits, of := j.PrefixCache()
	if hits == 0 || !j.sharesPrefixes() {
		return ""
	}
	share := percent(hits, cmp.Or(of, hits))
	return fmt.Sprintf("the server had %s of the prompt tokens in its prefix cache, as this workload has it", showPercent(share))
}

// warnings are what a reader of the verdict should look into.
func (j *judge) warnings() []string {
	if c, found := j.prefixHits(); found && fine(c) && c.Figure > prefixWarned {
		return []string{c.Text + ", although this workload shares no prefixes: a rehearsal's request, a chat template's beginning or an earlier run"}
	}
	return nil
}

// noteMixed says why nothing rests on what the server's /metrics count.
func (j *judge) noteMixed() string {
	why := j.WhyMixed()
	if why == "" {
		return ""
	}
	return "the server's /metrics is not that of one process under this load alone: " + why + ". Nothing that it says is used. " +
		"Behind a load balancer or router, name each replica: --server-metrics http://REPLICA1:8000,http://REPLICA2:8000"
}
