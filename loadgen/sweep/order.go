package sweep

import (
	"math/rand/v2"
	"slices"
)

// Blocks are the cells in the order in which they are run, in blocks during
// which the servers of one arm stay up: one for each arm and repeat.
func (p *Plan) Blocks() [][]Cell {
	shuffled := rand.New(rand.NewPCG(uint64(p.Seed), 0))
	var blocks [][]Cell
	for repeat := range p.Repeats {
		for _, arm := range p.armsOf(repeat, shuffled) {
			block := make([]Cell, len(p.Points))
			for point := range block {
				block[point] = Cell{repeat, arm, point}
			}
			if p.Order == Random {
				shuffled.Shuffle(len(block), func(i, j int) { block[i], block[j] = block[j], block[i] })
			}
			blocks = append(blocks, block)
		}
	}
	return blocks
}

// armsOf is the order of the arms in a repeat.
func (p *Plan) armsOf(repeat int, shuffled *rand.Rand) []int {
	arms := make([]int, len(p.Arms))
	for i := range arms {
		arms[i] = i
	}
	switch {
	case p.Order == Random:
		arms = shuffled.Perm(len(arms))
	case p.Order == ABBA && repeat%2 == 1:
		slices.Reverse(arms)
	}
	return arms
}
