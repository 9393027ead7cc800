package dataset

import "github.com/servebench/servebench/dataset/nprand"

// oversample gives the positions, among have > 0 conversations, of the want that
// are sent: those that there are in their order, and then some again. As in
// vLLM's client, rng is seeded anew before it draws those.
func oversample(rng *nprand.Python, seed int64, have, want int) []int {
	order := make([]int, want)
	for i := range min(have, want) {
		order[i] = i
	}
	if want > have {
		*rng = *nprand.NewPython(seed)
		for i := have; i < want; i++ {
			order[i] = rng.Intn(have)
		}
	}
	return order
}
