package samples

// SpecDecode is vLLM's section on speculative decoding.
type SpecDecode struct {
	// AcceptanceRate is the percentage of draft tokens that were accepted.
	AcceptanceRate float64 `json:"acceptance_rate"`

	// AcceptanceLength is the tokens of a draft, including the target model's.
	AcceptanceLength float64 `json:"acceptance_length"`

	Drafts         int64 `json:"drafts"`
	DraftTokens    int64 `json:"draft_tokens"`
	AcceptedTokens int64 `json:"accepted_tokens"`

	// PerPosition is the share of the drafts accepted at each position.
	PerPosition []float64 `json:"per_position,omitempty"`
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
