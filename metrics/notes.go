package metrics

import (
	"cmp"
	"fmt"
)

// notes are what a reader of the verdict should know besides.
func (j *judge) notes() []string {
	var notes []string
	for _, note := range []func() string{
		j.noteEvidence, j.noteInterrupted, j.noteFailed, j.noteTokens, j.noteShared, j.noteStamps,
		j.noteProxy, j.noteClosed, j.noteProtocol, j.notePrefix,
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
	case j.unwatched > 0:
		return fmt.Sprintf("the evidence of %s is missing: the verdict rests on the records and on the other shards'",
			counted(j.unwatched, "shard"))
	}
	return ""
}

func (j *judge) noteInterrupted() string {
	if !j.Interrupted {
		return ""
	}
	return "the run was stopped before all requests were sent"
}

func (j *judge) noteFailed() string {
	if j.Failed == 0 || j.Completed == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %s failed: latencies are those of the others", j.Failed, counted(j.Completed+j.Failed, "request"))
}

// noteTokens says where a chunk is not a token.
func (j *judge) noteTokens() string {
	t := j.Truth.Tokens
	switch {
	case t.Bundled > 0:
		return fmt.Sprintf("chunk ≠ token: %.2f tokens a chunk, so vLLM's ITL and peak throughput are per chunk; "+
			"--continuous-usage-stats tells single tokens' ITL, if the server has it", t.Mean())
	case t.Differ():
		return fmt.Sprintf("chunk ≠ token: %.2f tokens a chunk, so vLLM's ITL and peak throughput are per chunk", t.Mean())
	case t.Fewer > 0:
		return fmt.Sprintf("%s had fewer tokens than chunks: was there no usage? Their ITL per token is not known", counted(t.Fewer, "request"))
	}
	return ""
}

func (j *judge) noteShared() string {
	if j.sharedShare() <= sharedLimit || j.late() {
		return ""
	}
	return fmt.Sprintf("%s of chunks came in one read with another and we read in time: the server or a proxy sends several events at once",
		showPercent(j.sharedShare()))
}

func (j *judge) noteStamps() string {
	if j.seen.UserStamps == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d chunks were stamped after reading, not by the kernel: our scheduling and GC are inside",
		j.seen.UserStamps, j.seen.UserStamps+j.seen.KernelStamps)
}

func (j *judge) noteProxy() string {
	if j.seen.Proxy == "" {
		return ""
	}
	return fmt.Sprintf("requests went through the proxy %s: stamps and connections are to it", j.seen.Proxy)
}

func (j *judge) noteClosed() string {
	if j.seen.Closed == 0 {
		return ""
	}
	return fmt.Sprintf("the server closed the connection after %s: the next request connects anew",
		counted(int(j.seen.Closed), "answer"))
}

func (j *judge) noteProtocol() string {
	if j.seen.Protocol != "HTTP/1.0" {
		return ""
	}
	return "the server answers in HTTP/1.0: an answer ends where its connection does"
}

func (j *judge) notePrefix() string {
	if j.seen.PrefixHits == 0 || !j.sharesPrefixes() {
		return ""
	}
	hits := float64(j.seen.PrefixHits) / float64(cmp.Or(j.seen.PrefixQueries, j.seen.PrefixHits)) * 100
	return fmt.Sprintf("the server had %s of the prompt tokens in its prefix cache, as this workload has it", showPercent(hits))
}
