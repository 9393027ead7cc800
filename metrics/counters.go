package metrics

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Counters are a server's totals of speculative and diffusion decoding and of
// its prefix cache, summed over label sets. They count all of the server's
// traffic.
type Counters struct {
	Drafts, DraftTokens, AcceptedTokens int64
	AcceptedAt                          map[int]int64 // accepted tokens by position in the draft

	DenoisingSteps, CanvasPositions, CommittedTokens int64

	PrefixQueries, PrefixHits int64 // prompt tokens looked up in the prefix cache, and found
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

// ParseCounters reads them from the text of a server's /metrics.
func ParseCounters(r io.Reader) (Counters, error) {
	c := Counters{AcceptedAt: map[int]int64{}}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		c.addLine(lines.Text())
	}
	if err := lines.Err(); err != nil {
		return Counters{}, fmt.Errorf("reading metrics: %w", err)
	}
	return c, nil
}

// addLine counts a line of the Prometheus text format if it is one of ours.
func (c *Counters) addLine(line string) {
	if !strings.HasPrefix(line, "vllm:") {
		return
	}
	name, labels, value := splitSample(line)
	v, err := strconv.ParseFloat(value, 64)
	if err != nil {
		return
	}
	n := int64(v)
	switch name {
	case "vllm:spec_decode_num_drafts_total":
		c.Drafts += n
	case "vllm:spec_decode_num_draft_tokens_total":
		c.DraftTokens += n
	case "vllm:spec_decode_num_accepted_tokens_total":
		c.AcceptedTokens += n
	case "vllm:spec_decode_num_accepted_tokens_per_pos_total":
		if at, err := strconv.Atoi(label(labels, "position")); err == nil {
			c.AcceptedAt[at] += n
		}
	case "vllm:diffusion_num_denoising_steps_total":
		c.DenoisingSteps += n
	case "vllm:diffusion_num_canvas_positions_total":
		c.CanvasPositions += n
	case "vllm:diffusion_num_committed_tokens_total":
		c.CommittedTokens += n
	case "vllm:prefix_cache_queries_total", "vllm:gpu_prefix_cache_queries_total":
		c.PrefixQueries += n
	case "vllm:prefix_cache_hits_total", "vllm:gpu_prefix_cache_hits_total":
		c.PrefixHits += n
	}
}

// splitSample cuts `name{labels} value` or `name value`.
func splitSample(line string) (name, labels, value string) {
	if open := strings.IndexByte(line, '{'); open >= 0 {
		if end := strings.LastIndexByte(line, '}'); end > open {
			return line[:open], line[open+1 : end], strings.TrimSpace(line[end+1:])
		}
	}
	name, value, _ = strings.Cut(line, " ")
	return name, "", strings.TrimSpace(value)
}

// label finds the value of a label whose value holds no comma or quote.
func label(labels, name string) string {
	for pair := range strings.SplitSeq(labels, ",") {
		if k, v, ok := strings.Cut(pair, "="); ok && strings.TrimSpace(k) == name {
			return strings.Trim(v, `"`)
		}
	}
	return ""
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
