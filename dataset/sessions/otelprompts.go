package sessions

import (
	"fmt"
	"math"
	"slices"

	"github.com/servebench/servebench/dataset"
)

// An otelPrompts makes the blocks of the prompts of one session.
type otelPrompts struct {
	seed    int64
	scope   string // within which equal ids are equal blocks
	session string // of the scope
	list    []otelPrompt
}

// An otelPrompt is the tokens of a prompt and of its answer: those that it shares, and its own.
type otelPrompt struct {
	n, total   int // tokens of the prompt, and with its answer; 0 is a prompt of messages
	cached     int // tokens that the recorded cache had found; −1 is not known
	start, end int64

	before, shared int   // it begins with so many tokens of that prompt and its answer
	cuts           []int // where its own tokens are cut into blocks
	followed       int64 // when the first prompt that goes on from it had an answer
}

// otelBlock is the most tokens of a block. It matters to caches that forget only a part of a prompt.
const otelBlock = 512

// add takes in the next request.
func (p *otelPrompts) add(r *otelRequest, chat *otelChat) {
	made := otelPrompt{cached: r.cached, start: chat.start, end: chat.end, followed: math.MaxInt64}
	if r.texts.sent == nil {
		made.n, made.total = r.in, r.in+max(r.out, 0)
		made.cuts = []int{made.n}
	}
	p.list = append(p.list, made)
}

// follow lets a prompt go on from one of tips, earlier prompts of its agent. It returns the tips for the
// next one.
func (p *otelPrompts) follow(tips []int, number int) []int {
	made := &p.list[number]
	if made.n == 0 {
		return tips
	}
	tips = slices.DeleteFunc(tips, func(i int) bool { return p.list[i].followed <= made.start })
	best, longer := -1, false
	for _, i := range tips {
		old := &p.list[i]
		if old.end > made.start {
			continue
		}
		fits := made.n > old.total
		if best < 0 || fits && !longer || fits == longer && old.end >= p.list[best].end {
			best, longer = i, fits
		}
	}
	tips = append(tips, number)
	if best < 0 {
		return tips
	}
	old := &p.list[best]
	if longer {
		old.followed = min(old.followed, made.end)
	}
	switch {
	case made.cached >= 0:
		made.shared = min(made.cached, old.total, made.n)
	case longer:
		made.shared = old.total
	}
	for made.before = best; made.shared > 0; made.before = p.list[made.before].before {
		if owner := &p.list[made.before]; made.shared > owner.shared {
			owner.cuts = append(owner.cuts, made.shared)
			break
		}
	}
	return tips
}

// fill gives the turns the blocks of their prompts.
func (p *otelPrompts) fill(turns []dataset.Turn) {
	whole := make([][]dataset.Block, len(p.list)) // with the answers
	for i := range p.list {
		made := &p.list[i]
		if made.n == 0 {
			continue
		}
		var list []dataset.Block
		if made.shared > 0 {
			list = slices.Clone(firstBlocks(whole[made.before], made.shared))
		}
		for at := made.shared; at < made.total; {
			next := min(made.total, (at/otelBlock+1)*otelBlock)
			for _, cut := range made.cuts {
				if cut > at {
					next = min(next, cut)
				}
			}
			id := dataset.BlockID(p.seed, p.scope, fmt.Sprintf("%s:%d:%d", p.session, i, at))
			list = append(list, dataset.Block{ID: id, Tokens: int32(next - at)})
			at = next
		}
		whole[i] = list
		turns[i].Blocks = slices.Clip(firstBlocks(list, made.n))
	}
}

// firstBlocks is the first blocks of a list, of n tokens.
func firstBlocks(list []dataset.Block, n int) []dataset.Block {
	for i, b := range list {
		if n -= int(b.Tokens); n <= 0 {
			return list[:i+1]
		}
	}
	return list
}
