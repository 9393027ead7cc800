package compare

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"slices"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/compare/asked"
	"github.com/servebench/servebench/metrics/compare/brief"
	"github.com/servebench/servebench/metrics/compare/gating"
	"github.com/servebench/servebench/metrics/stats"
)

// A Baseline is a chain of sessions: the runs of one configuration on several days, kept for comparison
// with later runs. The zero value has none.
type Baseline struct {
	sessions []baselineSession // in the order of time
}

// A baselineSession is the runs that were measured and kept together.
type baselineSession struct {
	Version int          `json:"servebench_baseline"`
	Date    time.Time    `json:"date,omitzero"` // when the first run began, zero if unknown
	Runs    []*brief.Run `json:"runs"`
}

// baselineVersion is the version of what is written and read here.
const baselineVersion = 2

// errNoBaseline says that a file is no baseline.
var errNoBaseline = errors.New("it is not a baseline: make one with servebench compare --save-baseline")

// Add makes the runs the newest session. They must be good: a run with more failures than the gate
// allows makes no baseline, nor does a SUSPECT one without "suspect" in the gate's Despite. They must
// also be comparable with the other sessions, and new.
func (b *Baseline) Add(runs []*brief.Run, gate gating.Gate) error {
	if len(runs) == 0 {
		return errors.New("a baseline needs a run")
	}
	for i, r := range runs {
		if why := r.Fault(gate.Allowed); why != "" {
			return fmt.Errorf("run %d: %s", i+1, why)
		}
		doubts := r.Lacks()
		if !slices.Contains(gate.Despite, "suspect") {
			doubts = append(doubts, r.Doubts...)
		}
		for _, why := range doubts {
			return fmt.Errorf("run %d: %s", i+1, why)
		}
	}
	before := b.Runs()
	if what := brief.Twice(before, runs); what != "" {
		return errors.New(what)
	}
	if before != nil {
		if found := asked.Differences(brief.Asked(before), brief.Asked(runs), gate.Despite); found != nil {
			return fmt.Errorf("%s: begin a new baseline", found[0])
		}
	}
	b.sessions = append(b.sessions, baselineSession{baselineVersion, firstBegan(runs), runs})
	b.sort()
	return nil
}

// firstBegan is when the first of the runs began, zero if that is unknown of one.
func firstBegan(runs []*brief.Run) time.Time {
	return slices.MinFunc(runs, func(a, b *brief.Run) int { return a.Began.Compare(b.Began) }).Began
}

func (b *Baseline) sort() {
	slices.SortStableFunc(b.sessions, func(a, b baselineSession) int { return a.Date.Compare(b.Date) })
}

// Runs are the runs of all sessions, each of which has a name.
func (b *Baseline) Runs() (all []*brief.Run) {
	named := map[string]bool{}
	for i, s := range b.sessions {
		name := s.Date.UTC().Format(time.DateTime)
		if s.Date.IsZero() || named[name] {
			name = fmt.Sprintf("session %d", i+1)
		}
		named[name] = true
		for _, r := range s.Runs {
			kept := *r
			kept.Session = name
			all = append(all, &kept)
		}
	}
	return all
}

// points are the runs by load, as old ones.
func (b *Baseline) points() []Point {
	points := split(b.Runs(), b.Runs())
	for i := range points {
		points[i].New = nil
	}
	return points
}

// Describe writes how many sessions and runs there are, and how much the gated numbers differ.
func (b *Baseline) Describe(w io.Writer, gate gating.Gate) error {
	runs := b.Runs()
	_, err := fmt.Fprintf(w, "%s, %s\n", metrics.Counted(len(b.sessions), "session"), metrics.Counted(len(runs), "run"))
	for _, p := range b.points() {
		for _, l := range gate.Limits {
			if s := p.course(&l.Number); s != nil && s.deviations() != "" && err == nil {
				_, err = fmt.Fprintln(w, p.named("standard deviation of "+l.Number.Name+": "+s.deviations()))
			}
		}
	}
	return err
}

// Warnings are the reasons why later runs get no verdict from the baseline by that gate: there are
// too few sessions, or they differ by more than the gate's margins allow, or have changed.
func (b *Baseline) Warnings(gate gating.Gate) (found []string) {
	points := b.points()
	warn := func(p *Point, format string, args ...any) {
		found = append(found, p.named(fmt.Sprintf(format, args...)))
	}
	for i := range points {
		p := &points[i]
		p.arrange(&gate)
		chain := p.Design == Chain
		if why := p.tooFewSessions(&gate); why != "" {
			warn(p, "%s", why)
		} else if n, needed := len(p.old), p.Design.Needs(&gate, len(points)); !chain && n < needed {
			warn(p, "the baseline has %d %s, and the gate needs %d", n, p.noun(n), needed)
		}
		if text := oneDay(p.old); chain && text != "" {
			warn(p, "%s", text)
		}
		for _, l := range gate.Limits {
			s := p.course(&l.Number)
			if s == nil {
				continue
			}
			unseen, differing, more := s.unseenAmongRuns(), "runs", "longer runs, more of them"
			if chain {
				unseen, differing, more = s.unseen(), "sessions", "more sessions"
			}
			margin := l.Share(stats.Median(p.values(&l.Number, p.Old)).Center)
			if unseen > s.scale.Distance(gating.Promise(margin)) && !math.IsInf(unseen, 1) {
				warn(p, "%s: the %s differ so much that a change of %s may be chance; the margin is %.3g %%: keep %s, or widen "+
					"the margin",
					l.Number.Name, differing, Percent(s.scale.Share(unseen)), margin*100, more)
			}
			if !chain {
				continue
			}
			for _, c := range s.steps(gate.Level() / float64(len(gate.Limits)*len(points))) {
				warn(p, "%s %s: if it is to stay, begin a new baseline", l.Number.Name, c)
			}
		}
	}
	return found
}

// Write writes each session as a line of JSON.
func (b *Baseline) Write(w io.Writer) error {
	lines := json.NewEncoder(w)
	for _, s := range b.sessions {
		s.Version = baselineVersion
		if err := lines.Encode(s); err != nil {
			return err
		}
	}
	return nil
}

// OpenBaseline reads the baseline in a file, which Write wrote. Files of several baselines may be
// concatenated. If the file does not exist, errors.Is(err, fs.ErrNotExist), and the baseline
// is an empty one, to which a first session may be added.
func OpenBaseline(name string) (*Baseline, error) {
	file, err := os.Open(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return new(Baseline), err
	case err != nil:
		return nil, err
	}
	defer file.Close()
	b, err := readBaseline(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return b, nil
}

func readBaseline(r io.Reader) (*Baseline, error) {
	b := new(Baseline)
	for lines := json.NewDecoder(r); ; {
		var s baselineSession
		err := lines.Decode(&s)
		if err == io.EOF && len(b.sessions) > 0 {
			b.sort()
			return b, nil
		}
		n := len(b.sessions) + 1
		switch {
		case (err != nil || s.Version == 0) && n == 1:
			return nil, errNoBaseline
		case err != nil:
			return nil, fmt.Errorf("session %d: %w", n, err)
		case s.Version == 0:
			return nil, fmt.Errorf("session %d: %w", n, errNoBaseline)
		case s.Version != baselineVersion:
			return nil, fmt.Errorf("it has version %d, and this servebench reads version %d only: read it with the "+
				"servebench that wrote it", s.Version, baselineVersion)
		case len(s.Runs) == 0:
			return nil, fmt.Errorf("session %d of the baseline has no runs", n)
		}
		for i, run := range s.Runs {
			if run == nil || len(run.Numbers) == 0 {
				return nil, fmt.Errorf("session %d of the baseline: run %d has no numbers", n, i+1)
			}
		}
		b.sessions = append(b.sessions, s)
	}
}
