package plot

import "slices"

// MostOverlaid is the largest number of runs that one chart overlays. More runs have no charts
// of single requests and none over time.
const MostOverlaid = 10

// A Chapter is charts of one kind.
type Chapter struct {
	Name, Title string // Name is short, as part of an address
	Charts      []Chart
}

// Comparison has the charts that compare several runs, which must have Labels. For more than
// MostOverlaid runs it has only the sweep's charts.
func Comparison(runs []Run) []Chapter {
	all := []Chapter{{"sweep", "Latency and throughput", sweep(runs)}}
	if len(runs) <= MostOverlaid {
		all = append(all, Chapter{"distributions", "Latencies side by side", distributions(runs)},
			Chapter{"sessions", "Sessions side by side", sessionCharts(runs)},
			Chapter{"history", "Side by side over time", overTime(runs)})
	}
	return filled(all)
}

// Single has the charts of one run, out of a number of runs on the same page.
func Single(r Run, of int) []Chapter {
	all := []Chapter{{"distributions", "Latency distributions", distributions([]Run{r})}}
	if of <= MostOverlaid {
		all = append(all, Chapter{"sessions", "Sessions", sessionCharts([]Run{r})},
			Chapter{"waterfall", "Where the time went", waterfalls(r)},
			Chapter{"requests", "Single requests", singleRequests(r)}, Chapter{"history", "Over time", overTime([]Run{r})})
	}
	return filled(all)
}

// Chapters has the charts of one run, or the charts that compare several runs, which must
// have Labels. The names of the charts are unique.
func Chapters(runs []Run) []Chapter {
	if len(runs) == 1 {
		return Single(runs[0], 1)
	}
	return Comparison(runs)
}

// Headline is the chart that says most at a glance; nil without charts. For one run it shows
// the requests over time. For several runs it shows latency against throughput if their loads
// differ, and otherwise the TTFT of all, by percentile or, for many runs, its medians.
func Headline(chapters []Chapter) *Chart {
	var found *Chart
	best := 0
	for i := range chapters {
		for k := range chapters[i].Charts {
			c := &chapters[i].Charts[k]
			rank := 1
			switch {
			case c.Name == "timeline", c.follows():
				rank = 4
			case c.Name == "ttft-percentiles":
				rank = 3
			case c.Name == "ttft-median-spread":
				rank = 2
			}
			if rank > best {
				found, best = c, rank
			}
		}
	}
	return found
}

// filled leaves out charts without data, and chapters without charts.
func filled(all []Chapter) []Chapter {
	for i := range all {
		all[i].Charts = slices.DeleteFunc(all[i].Charts, func(c Chart) bool { return c.empty() })
	}
	return slices.DeleteFunc(all, func(c Chapter) bool { return len(c.Charts) == 0 })
}
