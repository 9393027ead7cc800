package scrape

import (
	"io"
	"maps"
	"slices"
	"strconv"

	"github.com/servebench/servebench/metrics/samples"
)

// Counters are a server's totals of speculative and diffusion decoding and of its prefix cache,
// summed over label sets. They count all traffic of the server.
type Counters struct {
	Drafts, DraftTokens, AcceptedTokens int64
	AcceptedAt                          map[int]int64 // accepted tokens by position in the draft

	DenoisingSteps, CanvasPositions, CommittedTokens int64

	PrefixQueries, PrefixHits int64 // prompt tokens looked up in the prefix cache, and found

	Times samples.Totals // of requests that ended

	Sample    samples.Server // other values, which distinguish processes
	StartedBy string         // the series that has Sample.Start, or _created; empty without
}

// Names under which servers count what they look up and find in their prefix cache. vLLM dropped
// the gpu_ in v0.9 and had both for some releases. SGLang counts all prompt tokens, and has
// reported only lately which of them were cached.
var (
	prefixQueryNames = []string{"vllm:prefix_cache_queries_total", "vllm:gpu_prefix_cache_queries_total",
		"sglang:prompt_tokens_total"}
	prefixHitNames = []string{"vllm:prefix_cache_hits_total", "vllm:gpu_prefix_cache_hits_total",
		"sglang:cached_tokens_total"}
)

// ParseCounters reads them from the text of a server's /metrics. What the server does not count is
// 0.
func ParseCounters(r io.Reader) (Counters, error) {
	c := Counters{AcceptedAt: map[int]int64{}}
	all, positions := totals{}, map[int]totals{}
	for s, err := range exposition(r) {
		if err != nil {
			return Counters{}, err
		}
		all.add(s)
		if at, err := strconv.Atoi(s.label("position")); err == nil {
			if positions[at] == nil {
				positions[at] = totals{}
			}
			positions[at].add(s)
		}
	}
	for at, counted := range positions {
		if accepted := counted.named("vllm:spec_decode_num_accepted_tokens_per_pos_total"); accepted != nil {
			c.AcceptedAt[at] = int64(accepted.sum())
		}
	}
	for name, to := range map[string]*int64{
		"vllm:spec_decode_num_drafts_total":          &c.Drafts,
		"vllm:spec_decode_num_draft_tokens_total":    &c.DraftTokens,
		"vllm:spec_decode_num_accepted_tokens_total": &c.AcceptedTokens,
		"vllm:diffusion_num_denoising_steps_total":   &c.DenoisingSteps,
		"vllm:diffusion_num_canvas_positions_total":  &c.CanvasPositions,
		"vllm:diffusion_num_committed_tokens_total":  &c.CommittedTokens,
	} {
		*to = int64(all.named(name).sum())
	}
	c.Times = samples.Totals{
		Queue: all.time("vllm:request_queue_time_seconds"), Prefill: all.time("vllm:request_prefill_time_seconds"),
		Generation: all.time("vllm:request_decode_time_seconds"), TTFT: all.time("vllm:time_to_first_token_seconds"),
	}
	c.Sample = all.sample()
	c.Sample.Start, c.StartedBy = all.started()
	if queries, hits := all.first(prefixQueryNames...), all.first(prefixHitNames...); queries != nil && hits != nil {
		c.PrefixQueries, c.PrefixHits = int64(*queries), int64(*hits)
	}
	return c, nil
}

// time is what a histogram of times has counted.
func (t totals) time(name string) samples.Total {
	return samples.Total{Seconds: t.named(name + "_sum").sum(), Requests: int64(t.named(name + "_count").sum())}
}

// SpecDecode is the speculation between c and later; nil without any.
func (c Counters) SpecDecode(later Counters) *samples.SpecDecode {
	s := &samples.SpecDecode{
		Drafts:         later.Drafts - c.Drafts,
		DraftTokens:    later.DraftTokens - c.DraftTokens,
		AcceptedTokens: later.AcceptedTokens - c.AcceptedTokens,
	}
	if s.DraftTokens <= 0 {
		return nil
	}
	s.AcceptanceRate = float64(s.AcceptedTokens) / float64(s.DraftTokens) * 100
	if s.Drafts <= 0 {
		return s
	}
	s.AcceptanceLength = 1 + float64(s.AcceptedTokens)/float64(s.Drafts)
	for _, at := range slices.Sorted(maps.Keys(later.AcceptedAt)) {
		accepted := later.AcceptedAt[at] - c.AcceptedAt[at]
		s.PerPosition = append(s.PerPosition, float64(accepted)/float64(s.Drafts))
	}
	return s
}

// Diffusion is the denoising between c and later in so many seconds; nil without any. The pass that
// commits a canvas does not count as a step.
func (c Counters) Diffusion(later Counters, seconds float64) *samples.Diffusion {
	steps := later.DenoisingSteps - c.DenoisingSteps
	d := &samples.Diffusion{
		CommittedTokens: later.CommittedTokens - c.CommittedTokens,
		CanvasPositions: later.CanvasPositions - c.CanvasPositions,
	}
	if seconds <= 0 || steps <= 0 || d.CanvasPositions <= 0 || d.CommittedTokens <= 0 {
		return nil
	}
	block := float64(d.CanvasPositions) / float64(steps)
	canvases := float64(d.CommittedTokens) / block
	denoising := float64(steps) - canvases
	d.DenoisingSteps = int64(denoising)
	d.CommittedThroughput = float64(d.CommittedTokens) / seconds
	d.StepsPerCanvas = denoising / canvases
	if denoising > 0 {
		d.CommittedPerStep = float64(d.CommittedTokens) / denoising
	}
	return d
}

// Plus is the sum of c and other.
func (c Counters) Plus(other Counters) Counters {
	sum := Counters{
		Drafts: c.Drafts + other.Drafts, DraftTokens: c.DraftTokens + other.DraftTokens,
		AcceptedTokens: c.AcceptedTokens + other.AcceptedTokens,
		AcceptedAt:     map[int]int64{},
		Times:          c.Times.Plus(other.Times),
		DenoisingSteps: c.DenoisingSteps + other.DenoisingSteps, CanvasPositions: c.CanvasPositions + other.CanvasPositions,
		CommittedTokens: c.CommittedTokens + other.CommittedTokens,
		PrefixQueries:   c.PrefixQueries + other.PrefixQueries, PrefixHits: c.PrefixHits + other.PrefixHits,
	}
	for _, counts := range []map[int]int64{c.AcceptedAt, other.AcceptedAt} {
		for at, n := range counts {
			sum.AcceptedAt[at] += n
		}
	}
	return sum
}
