package metrics

import (
	"cmp"
	"slices"
	"time"
)

// A Group is the runs of one experiment on several targets, or the same part of
// each of them. Its methods need their Traces, but for Interference.
type Group struct {
	ID     string
	Shared []*Summary // of the targets loaded together, on one clock
	Solo   []*Summary // of the targets loaded alone, as far as they were
}

// Groups are those that the runs belong to, in the order of their first ones.
// Runs on a single target belong to none.
func Groups(sums []*Summary) []Group {
	var groups []Group
	at := map[string]int{}
	for _, s := range sums {
		id := s.Header.Group
		if id == "" {
			continue
		}
		if _, known := at[id]; !known {
			at[id] = len(groups)
			groups = append(groups, Group{ID: id})
		}
		g := &groups[at[id]]
		if s.Header.Solo {
			g.Solo = append(g.Solo, s)
		} else {
			g.Shared = append(g.Shared, s)
		}
	}
	return groups
}

// lead is how far the clock of a shared run is behind that of the first: what to
// add to its times.
func (g *Group) lead(s *Summary) time.Duration {
	first := g.Shared[0].Header
	if first.Epoch.IsZero() || s.Header.Epoch.IsZero() {
		return 0
	}
	return s.Header.Start().Sub(first.Start())
}

// whole is from the earliest beginning of a shared run to the latest end.
func (g *Group) whole() Window {
	var all Window
	for i, s := range g.Shared {
		w := s.Whole().shift(g.lead(s))
		if i == 0 {
			all = w
		}
		all = Window{min(all.From, w.From), max(all.To, w.To)}
	}
	return all
}

// Total is the shared runs as one, with a Trace: what was asked of all targets
// together, from the earliest beginning to the latest end. There must be one.
func (g *Group) Total() *Summary {
	whole := g.whole()
	h := &Header{
		Epoch: g.Shared[0].Header.Epoch, ClockOffset: g.Shared[0].Header.ClockOffset, Version: g.Shared[0].Header.Version,
		Group: g.ID, Config: g.config(),
	}
	var records []*Record
	for _, s := range g.Shared {
		lead := g.lead(s)
		for r := range s.measured() {
			if lead != 0 {
				moved := *r
				moved.shift(lead)
				r = &moved
			}
			records = append(records, r)
		}
	}
	slices.SortStableFunc(records, func(a, b *Record) int { return cmp.Compare(a.End, b.End) })
	c := NewCollector(h)
	c.KeepTrace = true
	for _, r := range records {
		c.Add(r)
	}
	total := c.Summary(whole.Seconds())
	total.Began = whole.From
	if c.evened > 0 {
		total.ITL = Distribution{Quoted: NewQuote()}
	}
	if !h.Epoch.IsZero() {
		total.Date = h.Epoch.Add(whole.To)
	}
	for _, s := range g.Shared {
		total.Interrupted = total.Interrupted || s.Interrupted
		total.StoppedBy = cmp.Or(total.StoppedBy, s.StoppedBy)
		total.Probes = total.Probes.merge(s.Probes)
	}
	return total
}

// Loaded is the window in which all shared runs had their load on, on the clock
// of the first: outside it one has its server, or its share of a GPU, for itself.
// It is false where there is none.
func (g *Group) Loaded() (Window, bool) {
	var all Window
	for i, s := range g.Shared {
		w, ok := s.Loaded()
		if !ok {
			return Window{}, false
		}
		w = w.shift(g.lead(s))
		if i == 0 {
			all = w
		}
		all = all.Meet(w)
	}
	return all, all.From < all.To
}

// Within is the same window of each shared run, and of each that was alone the
// window in which its own load was on, so that like is compared with like. The
// window is on the clock of the first shared run.
func (g *Group) Within(w Window) *Group {
	part := &Group{ID: g.ID}
	for _, s := range g.Shared {
		part.Shared = append(part.Shared, s.Within(w.shift(-g.lead(s))))
	}
	for _, s := range g.Solo {
		if own, ok := s.Loaded(); ok {
			part.Solo = append(part.Solo, s.Within(own))
		}
	}
	return part
}
