package metrics

import (
	"cmp"
	"time"
)

// Resent counts measured requests that were sent again after they had failed, and
// those that were sent anew because a connection had died.
type Resent struct {
	Requests int `json:"requests"`       // that were sent again
	Times    int `json:"times"`          // all of them together
	Anew     int `json:"anew,omitempty"` // requests that were sent anew: see Record.Anew
}

func (n *Resent) add(r *Record) {
	if again := r.Attempts - r.Anew - 1; again > 0 {
		n.Requests++
		n.Times += again
	}
	if r.Anew > 0 {
		n.Anew++
	}
}

func (n *Resent) merge(other Resent) {
	n.Requests += other.Requests
	n.Times += other.Times
	n.Anew += other.Anew
}

// A RateChange is a moment at which a ramp reached its next whole number of
// requests a second.
type RateChange struct {
	RPS int       `json:"rps"`
	At  time.Time `json:"at"`
}

// Probes sums up the single-token requests sent beside the load.
type Probes struct {
	Completed int     `json:"completed"`
	Failed    int     `json:"failed"`
	Median    float64 `json:"median_e2el_ms"`
	P99       float64 `json:"p99_e2el_ms"`
	Max       float64 `json:"max_e2el_ms"`
}

// Merge adds the probes of another shard. Of two medians or percentiles the
// larger stands, since theirs together cannot be known.
func (p *Probes) Merge(other *Probes) *Probes {
	if p == nil || other == nil {
		return cmp.Or(p, other)
	}
	return &Probes{
		Completed: p.Completed + other.Completed,
		Failed:    p.Failed + other.Failed,
		Median:    max(p.Median, other.Median),
		P99:       max(p.P99, other.P99),
		Max:       max(p.Max, other.Max),
	}
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

// Shards says from what a run was put together that several load generators made.
type Shards struct {
	Of     int      // shards that make the run
	Sound  int      // of them, those that are there, once and whole, and were asked for what the others were
	Faults []string // what is amiss with the others
	Hosts  []string // machines that they ran on, in order, each once; none where that is not known

	// Late is how late the first and the last shard were to send their first
	// measured request, by the clock of the run and what their schedules wanted.
	// It is nil for fewer than two.
	Late *Window
	Last string // the shard that was last

	// Offsets are the least and the greatest offset of a shard's clock that is
	// known, nil for none, and they may be wrong by Error. Unclocked are the
	// machines, or else the shards, of which none is.
	Offsets   *Window
	Error     time.Duration
	Unclocked []string
}

// Apart is for how long the shards' first requests were apart.
func (s *Shards) Apart() time.Duration {
	if s.Late == nil {
		return 0
	}
	return s.Late.To - s.Late.From
}
