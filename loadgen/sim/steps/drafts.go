package steps

import (
	"fmt"
	"math/rand/v2"

	"github.com/servebench/servebench/loadgen/sim/exposition"
)

// Speculative makes a decoding request draft Tokens tokens in each step. It keeps the longest
// accepted run, plus one token: several tokens in a chunk.
type Speculative struct {
	Tokens     int     // drafts in a step; 0 turns it off
	Acceptance float64 // chance that a draft token is accepted, if those before it were
}

// drafts counts what speculative decoding did.
type drafts struct {
	spec           Speculative
	made, accepted int   // drafts, and tokens of them
	acceptedAt     []int // by position in the draft
}

func newDrafts(s Speculative) drafts { return drafts{spec: s, acceptedAt: make([]int, s.Tokens)} }

// draw makes a draft and returns how many of its tokens were accepted.
func (d *drafts) draw(chance *rand.Rand) (accepted int) {
	for accepted < d.spec.Tokens && chance.Float64() < d.spec.Acceptance {
		accepted++
	}
	d.made++
	d.accepted += accepted
	for i := range accepted {
		d.acceptedAt[i]++
	}
	return accepted
}

// write adds the counts to an exposition, unless nothing is speculated.
func (d *drafts) write(x *exposition.Text) {
	if d.spec.Tokens == 0 {
		return
	}
	const name = "vllm:spec_decode_num_"
	x.Metric(name+"drafts_total", "Number of drafts.", "counter", float64(d.made))
	x.Metric(name+"draft_tokens_total", "Number of draft tokens.", "counter", float64(d.made*d.spec.Tokens))
	x.Metric(name+"accepted_tokens_total", "Number of accepted draft tokens.", "counter", float64(d.accepted))
	x.Head(name+"accepted_tokens_per_pos_total", "Number of accepted draft tokens by position.", "counter")
	for i, n := range d.acceptedAt {
		x.Sample(name+"accepted_tokens_per_pos_total", fmt.Sprintf("position=%q", fmt.Sprint(i)), float64(n))
	}
}
