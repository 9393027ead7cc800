// Package targets says what targets that were loaded together did to each other.
//
// A Group is the runs of one repeat: of all targets together, and of each alone. Its Total is what the
// machine did for all of them. Its Interference is how much slower each target was with the others, and
// how evenly they shared. Pair collects the repeats.
package targets

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect"
	"github.com/servebench/servebench/metrics/record"
)

// A Group is the runs of one experiment on several targets, or the same part of each of them. Its
// methods need their Traces, except Interference.
type Group struct {
	ID     string
	Shared []*metrics.Summary // of the targets loaded together, on one clock
	Solo   []*metrics.Summary // of the targets loaded alone, as far as they were
	Pairs  []*metrics.Summary // of the targets loaded with one other, as far as they were
}

// Groups are the groups of the runs, in the order of their first runs. Runs on a single target have
// no group.
func Groups(sums []*metrics.Summary) []Group {
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
		switch {
		case s.Header.Solo:
			g.Solo = append(g.Solo, s)
		case s.Header.With != "":
			g.Pairs = append(g.Pairs, s)
		default:
			g.Shared = append(g.Shared, s)
		}
	}
	return groups
}

// Lead is how far the clock of a shared run is behind the clock of the first: what to add to its
// times.
func (g *Group) Lead(s *metrics.Summary) time.Duration {
	first := g.Shared[0].Header
	if first.Epoch.IsZero() || s.Header.Epoch.IsZero() {
		return 0
	}
	return s.Header.Start().Sub(first.Start())
}

// whole is from the earliest beginning of a shared run to the latest end.
func (g *Group) whole() metrics.Window {
	var all metrics.Window
	for i, s := range g.Shared {
		w := s.Whole().Shift(g.Lead(s))
		if i == 0 {
			all = w
		}
		all = metrics.Window{From: min(all.From, w.From), To: max(all.To, w.To)}
	}
	return all
}

// Total is the shared runs as one, with a Trace: the requests to all targets together, from the
// earliest beginning to the latest end. There must be a shared run.
func (g *Group) Total() *metrics.Summary {
	whole := g.whole()
	h := &metrics.Header{
		Epoch: g.Shared[0].Header.Epoch, ClockOffset: g.Shared[0].Header.ClockOffset, Version: g.Shared[0].Header.Version,
		Commit: g.Shared[0].Header.Commit,
		Group:  g.ID, Config: g.config(),
	}
	var records []*record.Record
	for _, s := range g.Shared {
		lead := g.Lead(s)
		for r := range s.Measured() {
			moved := *r
			moved.Shift(lead)
			records = append(records, &moved)
		}
	}
	slices.SortStableFunc(records, func(a, b *record.Record) int { return cmp.Compare(a.Times.End, b.Times.End) })
	c := aspect.Collector(h)
	c.Keep.Trace = true
	for _, r := range records {
		c.Add(r)
	}
	total := c.Summary(whole.Seconds())
	total.When.Began = whole.From
	if c.Gapless() {
		total.ITL = metrics.Distribution{Quoted: metrics.NewQuote()}
	}
	if !h.Epoch.IsZero() {
		total.When.Date = h.Epoch.Add(whole.To)
	}
	for _, s := range g.Shared {
		total.Ending.Interrupted = total.Ending.Interrupted || s.Ending.Interrupted
		total.Ending.StoppedBy = cmp.Or(total.Ending.StoppedBy, s.Ending.StoppedBy)
		total.Printed.Probes = total.Printed.Probes.Merge(s.Printed.Probes)
	}
	return total
}

// Loaded is the window in which all shared runs had their load, on the clock of the first: outside
// it, some target has its server, or its share of a GPU, for itself. It is false if there is no
// such window.
func (g *Group) Loaded() (metrics.Window, bool) {
	var all metrics.Window
	for i, s := range g.Shared {
		w, ok := s.Loaded()
		if !ok {
			return metrics.Window{}, false
		}
		w = w.Shift(g.Lead(s))
		if i == 0 {
			all = w
		}
		all = all.Meet(w)
	}
	return all, all.From < all.To
}

// Within is the same window of each shared run. For each solo run it is the window in which its own
// load was on, so that like is compared with like. The window is on the clock of the first shared
// run.
func (g *Group) Within(w metrics.Window) *Group {
	part := &Group{ID: g.ID}
	for _, s := range g.Shared {
		part.Shared = append(part.Shared, s.Within(w.Shift(-g.Lead(s))))
	}
	for _, s := range g.Solo {
		if own, ok := s.Loaded(); ok {
			part.Solo = append(part.Solo, s.Within(own))
		}
	}
	return part
}

// config is the parameters of all shared runs together: sums if all have a number, and otherwise
// the value that they share, or none.
func (g *Group) config() metrics.Config {
	c := g.Shared[0].Header.Config
	c.RampUp = nil
	c.Goodput, c.Metrics, c.Percentiles = slices.Clone(c.Goodput), slices.Clone(c.Metrics), slices.Clone(c.Percentiles)
	c.Backend = g.each(func(c *metrics.Config) string { return c.Backend })
	c.BaseURL = g.each(func(c *metrics.Config) string { return c.BaseURL })
	c.Endpoint = g.each(func(c *metrics.Config) string { return c.Endpoint })
	c.Model = g.each(func(c *metrics.Config) string { return c.Model })
	c.Tokenizer = g.each(func(c *metrics.Config) string { return c.Tokenizer })
	c.Dataset = g.each(func(c *metrics.Config) string { return c.Dataset })
	c.RateCurve = g.each(func(c *metrics.Config) string { return c.RateCurve })
	for _, s := range g.Shared[1:] {
		other := &s.Header.Config
		c.SkipTokenizer = c.SkipTokenizer || other.SkipTokenizer
		c.SelfTimed = c.SelfTimed || other.SelfTimed
		c.IgnoreEOS = c.IgnoreEOS && other.IgnoreEOS
		c.Traits.Chat = c.Traits.Chat && other.Traits.Chat
		c.Traits.Pooled = c.Traits.Pooled && other.Traits.Pooled
		c.Traits.Spoken = c.Traits.Spoken && other.Traits.Spoken
		c.Traits.OwnLength = c.Traits.OwnLength || other.Traits.OwnLength
		c.Traits.Answers = max(c.Traits.Answers, other.Traits.Answers)
		c.RequestRate += other.RequestRate
		if c.Burstiness != other.Burstiness {
			c.Burstiness = math.NaN()
		}
		c.NumPrompts = sumKnown(c.NumPrompts, other.NumPrompts)
		c.MaxConcurrency = sumKnown(c.MaxConcurrency, other.MaxConcurrency)
		c.MaxSessions = sumKnown(c.MaxSessions, other.MaxSessions)
		c.Duration = max(c.Duration, other.Duration)
	}
	return c
}

// sumKnown is the sum of a and b, but unknown (-1) or without a limit (0) if one of them is.
func sumKnown(a, b int) int {
	if a > 0 && b > 0 {
		return a + b
	}
	return min(a, b)
}

// each is what the shared runs have there, each different text once.
func (g *Group) each(of func(*metrics.Config) string) string {
	var all []string
	for _, s := range g.Shared {
		if text := of(&s.Header.Config); text != "" && !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return strings.Join(all, ", ")
}
