package plot

import (
	"fmt"
	"slices"
)

// MostOverlaid is up to how many runs a chart lays over each other, and up to how many runs
// have charts of single requests and over time.
const MostOverlaid = 10

// A Chapter is charts of one kind.
type Chapter struct {
	Name, Title string // Name is short, as part of an address
	Charts      []Chart
}

// Comparison has the charts of several runs together, which have Labels. For more than
// MostOverlaid it has the sweep's charts alone.
func Comparison(runs []Run) []Chapter {
	all := []Chapter{{"sweep", "Latency, throughput and the grid", sweep(runs)}}
	if len(runs) <= MostOverlaid {
		all = append(all, Chapter{"distributions", "Latencies side by side", distributions(runs)},
			Chapter{"history", "Side by side over time", overTime(runs)})
	}
	return filled(all)
}

// Single has the charts of one run, one of so many.
func Single(r Run, of int) []Chapter {
	all := []Chapter{{"distributions", "Latency distributions", distributions([]Run{r})}}
	if of <= MostOverlaid {
		all = append(all, Chapter{"requests", "Single requests", singleRequests(r)}, Chapter{"history", "Over time", overTime([]Run{r})})
	}
	return filled(all)
}

// Charts are all charts of the runs, each with a unique name. Where there are several
// runs, the names of a single run's charts begin with its number. Charts labels the
// runs.
func Charts(runs []Run) (all []Chart) {
	Label(runs)
	add := func(prefix string, chapters []Chapter) {
		for _, chapter := range chapters {
			for _, c := range chapter.Charts {
				c.Name = prefix + c.Name
				all = append(all, c)
			}
		}
	}
	if len(runs) == 1 {
		add("", Single(runs[0], 1))
		return all
	}
	add("", Comparison(runs))
	for i, r := range runs {
		add(fmt.Sprintf("run-%d-", i+1), Single(r, len(runs)))
	}
	return all
}

// filled leaves out charts without data, and chapters without charts.
func filled(all []Chapter) []Chapter {
	for i := range all {
		all[i].Charts = slices.DeleteFunc(all[i].Charts, func(c Chart) bool { return c.empty() })
	}
	return slices.DeleteFunc(all, func(c Chapter) bool { return len(c.Charts) == 0 })
}
