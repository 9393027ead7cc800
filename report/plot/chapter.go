package plot

import "slices"

// MostOverlaid is how many runs are laid over each other, and up to how many each
// has charts of its single requests and of the time.
const MostOverlaid = 10

// A Chapter is charts of one kind.
type Chapter struct {
	Name, Title string // Name is short, as part of an address
	Charts      []Chart
}

// Comparison is what charts tell of several runs together, which have Labels. Of
// more than MostOverlaid it is only the sweep.
func Comparison(runs []Run) []Chapter {
	all := []Chapter{{"sweep", "Latency, throughput and the grid", Sweep(runs)}}
	if len(runs) <= MostOverlaid {
		all = append(all, Chapter{"distributions", "Latencies side by side", Distributions(runs)},
			Chapter{"history", "Side by side over time", Histories(runs)})
	}
	return filled(all)
}

// Single is what charts tell of a run by itself, which is one of so many.
func Single(r Run, of int) []Chapter {
	all := []Chapter{{"distributions", "Latency distributions", Distributions([]Run{r})}}
	if of <= MostOverlaid {
		all = append(all, Chapter{"requests", "Single requests", Requests(r)}, Chapter{"history", "Over time", Histories([]Run{r})})
	}
	return filled(all)
}

func filled(all []Chapter) []Chapter {
	return slices.DeleteFunc(all, func(c Chapter) bool { return len(c.Charts) == 0 })
}
