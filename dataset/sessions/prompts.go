package sessions

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/servebench/servebench/dataset"
)

// A prompts makes the blocks of the turns of one session. Prompts that extend one another share an
// array, so a session costs its longest prompts, not the sum.
type prompts struct {
	seed    int64
	scope   string // within which equal ids are equal blocks
	session string // of the scope, for what has no id
	size    int    // tokens of a whole block

	arrays [][]dataset.Block
	parts  []prefix // of the turns
}

// A prefix is the first whole blocks of an array.
type prefix struct{ array, whole int }

// add takes in the next turn, of n tokens: the blocks of ids, and after them a tail that no other
// prompt has. It returns the last one if that is a part of a block. An array of before, the number
// of an earlier turn or −1, may have the first of them. The whole blocks come with share.
func (p *prompts) add(ids hashIDs, n, before int) (tail dataset.Block) {
	whole := min(len(ids), n/p.size)
	if rest := n - whole*p.size; rest > 0 {
		tail = dataset.Block{Tokens: int32(rest)}
		if whole < len(ids) {
			tail.ID = dataset.BlockID(p.seed, p.scope, ids[whole])
		} else {
			tail.ID = dataset.BlockID(p.seed, p.scope, fmt.Sprintf("%s:%d:tail", p.session, len(p.parts)))
		}
	}
	list := make([]dataset.Block, whole)
	for i, id := range ids[:whole] {
		list[i] = dataset.Block{ID: dataset.BlockID(p.seed, p.scope, id), Tokens: int32(p.size)}
	}
	array := len(p.arrays)
	if before >= 0 {
		old := p.parts[before].array
		have := p.arrays[old]
		if both := min(whole, len(have)); slices.Equal(have[:both], list[:both]) {
			array = old
			p.arrays[old] = append(have, list[both:]...)
		}
	}
	if array == len(p.arrays) {
		p.arrays = append(p.arrays, list)
	}
	p.parts = append(p.parts, prefix{array, whole})
	return tail
}

// share gives the turns their whole blocks.
func (p *prompts) share(turns []dataset.Turn) {
	for i, part := range p.parts {
		turns[i].Blocks = p.arrays[part.array][:part.whole:part.whole]
	}
}

// surplus is the error for more ids than a prompt of n tokens can have, or nil.
func surplus(ids, n, size int) error {
	if most := (n + size - 1) / size; ids > most {
		return fmt.Errorf("%d hash ids of %d tokens for a prompt of %d: at most %d fit, so --trace-block-size may be "+
			"smaller", ids, size, n, most)
	}
	return nil
}

// A hashIDs is a list of numbers, as they are written.
type hashIDs []string

// UnmarshalJSON reads a list of numbers or null. Traces have millions of them, so it makes one string
// of all.
func (h *hashIDs) UnmarshalJSON(raw []byte) error {
	list, ok := strings.CutPrefix(string(raw), "[")
	if !ok {
		if string(raw) == "null" {
			return nil
		}
		return errors.New("hash ids are not a list")
	}
	list = strings.TrimSpace(strings.TrimSuffix(list, "]"))
	if list == "" {
		return nil
	}
	*h = make(hashIDs, 0, 1+strings.Count(list, ","))
	for id := range strings.SplitSeq(list, ",") {
		if id = strings.TrimSpace(id); id[0] != '-' && (id[0] < '0' || id[0] > '9') {
			return fmt.Errorf("hash id %.20s is not a number", id)
		}
		*h = append(*h, id)
	}
	return nil
}
