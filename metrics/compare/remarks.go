package compare

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/compare/asked"
	"github.com/servebench/servebench/metrics/compare/brief"
	"github.com/servebench/servebench/metrics/compare/gating"
	"github.com/servebench/servebench/metrics/verdict"
)

// remarks are what a reader should know about a point's runs. They do not change the verdict.
type remarks struct {
	p       *Point
	reasons *reasons
	gate    *gating.Gate
	alpha   float64
	loads   int // of the comparison
}

func (m *remarks) note(format string, args ...any) { m.reasons.note(m.p, format, args...) }

// all notes them.
func (m *remarks) all() {
	if m.p.Old[0].Session == "" && inOrder(m.p.Old, m.p.New) { // a baseline always comes before
		m.note("all runs of one side came before all of the other, so whatever else changed in between is part of " +
			"the difference; servebench sweep alternates the sides")
	}
	m.order()
	m.sessions()
	if was, is := seeds(m.p.Old), seeds(m.p.New); was != "" && is != "" && was != is {
		m.note("the two sides had different prompts: the seeds are %s in the old runs and %s in the new ones", was, is)
	}
	if m.p.alone > 0 {
		m.note("left out of the pairs: %s without a partner on the other side", metrics.Counted(m.p.alone, "run"))
	}
	m.cached()
	m.held("old", m.p.Old)
	m.held("new", m.p.New)
	m.definitions()
	for _, tokens := range []struct {
		name string
		of   func(*brief.Run) int
	}{
		{"prompts", func(r *brief.Run) int { return r.Input }}, {"answers", func(r *brief.Run) int { return r.Output }},
	} {
		was, is := brief.PerRequest(m.p.Old, tokens.of), brief.PerRequest(m.p.New, tokens.of)
		if change := is/was - 1; math.Abs(change) > lengthMargin {
			m.note("the %s had %s tokens in the old runs and %s in the new ones (%s)", tokens.name,
				metrics.Readable(was, 1), metrics.Readable(is, 1), Percent(change))
		}
	}
}

// order says that the sides took turns, but always in the same order.
func (m *remarks) order() {
	first := m.p.alwaysFirst()
	if first == "" {
		return
	}
	second := map[string]string{"old": "new", "new": "old"}[first]
	m.note("the %s run came first each time, so a drift, or what disturbs every second run, is part of the "+
		"difference: "+
		"in every second pair, run the %s server first, as servebench sweep does (order abba)", first, second)
}

// alwaysFirst is the side that began first in each of three or more turns, "" if neither did.
func (p *Point) alwaysFirst() string {
	var turns []pair
	switch p.Design {
	case InPairs:
		turns = slices.Concat(p.pairs...)
	case InTurns:
		for i := range min(len(p.old), len(p.new)) {
			turns = append(turns, pair{p.old[i][0], p.new[i][0]})
		}
	}
	slices.SortFunc(turns, func(a, b pair) int { return a.began().Compare(b.began()) })
	old, new := 0, 0
	for i, t := range turns {
		switch follows := i == 0 || later(turns[i-1].old.Began, turns[i-1].new.Began).Before(t.began()); {
		case follows && t.old.Began.Before(t.new.Began):
			old++
		case follows && t.new.Began.Before(t.old.Began):
			new++
		}
	}
	switch len(turns) {
	case 0, 1, 2:
		return ""
	case old:
		return "old"
	case new:
		return "new"
	}
	return ""
}

// cached says that later runs may have found their prompts in the server's prefix
// cache, because earlier runs with the same seed sent the same prompts.
func (m *remarks) cached() {
	r := m.p.find("median_ttft")
	same := seeds(m.p.Old)
	if r == nil || same == "" || same == asked.NotGiven || same != seeds(m.p.New) {
		return
	}
	later, change := m.p.New, r.Effect.Share
	switch {
	case before(m.p.Old, m.p.New):
	case before(m.p.New, m.p.Old):
		later, change = m.p.Old, 1/(1+change)-1
	default:
		return
	}
	if change > cachedDrop || !slices.ContainsFunc(later, func(r *brief.Run) bool { return !r.CacheTold }) {
		return
	}
	m.note("median_ttft is %s in the later runs, which sent the same prompts (seed %s): the server may have had "+
		"them in its prefix cache, "+
		"and it does not report cache hits. To rule that out, give the later runs another --seed, or reset the cache in "+
		"between", Percent(change), same)
}

// held says that requests of a side waited for slots, which is the load that was asked for if
// all runs have as many slots.
func (m *remarks) held(side string, runs []*brief.Run) {
	var numbers []string
	for i, r := range runs {
		if r.Held != "" {
			numbers = append(numbers, strconv.Itoa(i+1))
		}
	}
	if all := brief.Asked(runs); numbers != nil && m.p.sameSlots() {
		m.note("%s: %s, so the requests were sent at a lower rate than %s a second; all runs have the same limit of "+
			"%s. TTFT leaves out the wait for a slot",
			which(side, numbers, len(runs)), verdict.HeldBack, asked.Text(all, "request-rate"),
			asked.Text(all, "max-concurrency"))
	}
}

// definitions says that runs of a chat may have been counted differently from the others: a
// file that vLLM wrote does not name its release.
func (m *remarks) definitions() {
	known, unknown := "", false
	for _, r := range slices.Concat(m.p.Old, m.p.New) {
		if !strings.Contains(r.Asked["backend"], "chat") {
			continue
		}
		if d := r.Asked[asked.Definitions]; d != "" {
			known = d
		} else {
			unknown = true
		}
	}
	if known != "" && unknown {
		m.note("TTFT and ITL of chats are counted by the definitions of vLLM %s in some runs, and in the others by an "+
			"unknown release; "+
			"the definitions changed in 0.30.0 and in 0.33.0", known)
	}
}

// cachedDrop is the least drop of TTFT if the server knows the prompts: all of TTFT is prefill,
// except the queue and one step.
const cachedDrop = -0.3

// before says whether all runs of one side began before all of the other.
func before(one, other []*brief.Run) bool {
	byTime := func(a, b *brief.Run) int { return a.Began.Compare(b.Began) }
	if len(one) == 0 || len(other) == 0 || slices.MinFunc(one, byTime).Began.IsZero() {
		return false
	}
	return slices.MaxFunc(one, byTime).Began.Before(slices.MinFunc(other, byTime).Began)
}

// lengthMargin is by which share prompts or answers may differ in length without a remark.
const lengthMargin = 0.02

func seeds(runs []*brief.Run) string {
	return strings.Join(asked.Values(brief.Asked(runs), asked.Seed), ", ")
}

// inOrder says whether all runs of one side began before all runs of the other.
func inOrder(old, new []*brief.Run) bool {
	return len(old) > 1 && len(new) > 1 && (before(old, new) || before(new, old))
}
