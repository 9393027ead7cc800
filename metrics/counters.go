package metrics

import (
	"io"
	"maps"
	"slices"
	"strconv"
)

// Counters are a server's totals of speculative and diffusion decoding and of
// its prefix cache, summed over label sets. They count all of the server's
// traffic.
type Counters struct {
	Drafts, DraftTokens, AcceptedTokens int64
	AcceptedAt                          map[int]int64 // accepted tokens by position in the draft

	DenoisingSteps, CanvasPositions, CommittedTokens int64

	PrefixQueries, PrefixHits int64 // prompt tokens looked up in the prefix cache, and found

	Sample ServerSample // what else was said: it tells processes apart
}

// SpecDecode is vLLM's section on speculative decoding.
type SpecDecode struct {
	AcceptanceRate   float64   `json:"acceptance_rate"`   // percent of draft tokens
	AcceptanceLength float64   `json:"acceptance_length"` // tokens a draft, the target model's own included
	Drafts           int64     `json:"drafts"`
	DraftTokens      int64     `json:"draft_tokens"`
	AcceptedTokens   int64     `json:"accepted_tokens"`
	PerPosition      []float64 `json:"per_position,omitempty"` // accepted at each position, a share of the drafts
}

// Diffusion is vLLM's section on diffusion decoding.
type Diffusion struct {
	CommittedThroughput float64 `json:"committed_throughput"` // tokens a second
	StepsPerCanvas      float64 `json:"steps_per_canvas"`
	CommittedPerStep    float64 `json:"committed_per_step"` // tokens
	CommittedTokens     int64   `json:"committed_tokens"`
	DenoisingSteps      int64   `json:"denoising_steps"`
	CanvasPositions     int64   `json:"canvas_positions"`
}

// Names under which servers count what they look up in their prefix cache and
// find there. vLLM dropped the gpu_ in v0.9 and had both for some releases. SGLang
// counts all prompt tokens, and has told only lately which of them were cached.
var (
	prefixQueryNames = []string{"vllm:prefix_cache_queries_total", "vllm:gpu_prefix_cache_queries_total", "sglang:prompt_tokens_total"}
	prefixHitNames   = []string{"vllm:prefix_cache_hits_total", "vllm:gpu_prefix_cache_hits_total", "sglang:cached_tokens_total"}
)

// ParseCounters reads them from the text of a server's /metrics. What the server
// does not count is 0.
func ParseCounters(r io.Reader) (Counters, error) {
	c := Counters{AcceptedAt: map[int]int64{}}
	all := totals{}
	for s, err := range exposition(r) {
		if err != nil {
			return Counters{}, err
		}
		all.add(s)
		if s.name == "vllm:spec_decode_num_accepted_tokens_per_pos_total" {
			if at, err := strconv.Atoi(s.label("position")); err == nil {
				c.AcceptedAt[at] += int64(s.value)
			}
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
		*to = int64(all[name].sum)
	}
	c.Sample = all.sample()
	c.Sample.Start = all.started()
	if queries, hits := all.first(prefixQueryNames...), all.first(prefixHitNames...); queries != nil && hits != nil {
		c.PrefixQueries, c.PrefixHits = int64(*queries), int64(*hits)
	}
	return c, nil
}

// SpecDecode is what was speculated between c and later; nil when nothing was.
func (c Counters) SpecDecode(later Counters) *SpecDecode {
	s := &SpecDecode{
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

// Diffusion is what was denoised between c and later in so many seconds; nil
// when nothing was. The pass that commits a canvas counts as no step.
func (c Counters) Diffusion(later Counters, seconds float64) *Diffusion {
	steps := later.DenoisingSteps - c.DenoisingSteps
	d := &Diffusion{
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
	d.CommittedThroughput = rate(float64(d.CommittedTokens), seconds)
	d.StepsPerCanvas = denoising / canvases
	if denoising > 0 {
		d.CommittedPerStep = float64(d.CommittedTokens) / denoising
	}
	return d
}
