package loadgen

import (
	"cmp"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/kinds"
	"github.com/servebench/servebench/dataset/reuse"
)

// Sessions says which sessions a Workload has, and how they are changed before they are sent. The
// zero value sends a dataset as it is.
type Sessions struct {
	// SlotsFlag is the flag that set Traffic.MaxSessions, for remedies; empty is --max-sessions.
	SlotsFlag string

	// Answers are the earlier answers that a prompt has, if its history is not part of the dataset;
	// empty means Live, but Recorded for synthetic sessions.
	Answers Answers

	// Reasoning keeps the reasoning of live answers in later prompts; templates drop it.
	Reasoning bool

	// Bust keeps prompts out of prefix caches; empty means nothing does.
	Bust CacheBust

	// Speed divides all times and gaps of the dataset; 0 means 1. From and To cut it by its times,
	// before Speed does: sessions start from From on and before To, and From is the new zero. 0 cuts
	// nothing. GapCap bounds each gap, before Speed divides it; 0 bounds nothing.
	Speed    float64
	From, To time.Duration
	GapCap   time.Duration
}

// Answers says where the earlier answers in a prompt come from.
type Answers string

const (
	Live     Answers = "live"     // the server: prompts then depend on it
	Recorded Answers = "recorded" // the dataset
	Stored   Answers = "server"   // the server, which keeps them: prompts are only what a turn adds
)

// A CacheBust says which prompts a server's prefix cache cannot know from others.
type CacheBust string

const (
	BustRun     CacheBust = "run"     // from runs with another seed
	BustSession CacheBust = "session" // from other sessions, too
)

// Live reports whether prompts have the server's answers.
func (w *Workload) Live() bool {
	return w.Sessions.Answers == Live || w.Sessions.Answers == Stored || w.Sessions.Answers == "" &&
		!w.Has(kinds.OwnAnswers)
}

// retime changes the times of an opened dataset as the plan says, and marks its prompts.
func (w *workload) retime(p *Plan, from tokenizerSource) (err error) {
	s := &p.Workload.Sessions
	if s.To > 0 || s.From > 0 {
		left := 0
		if w.source, w.n, left, err = dataset.Window(w.source, s.From, s.To); err != nil {
			return err
		}
		from.say("--trace-from and --trace-to leave out %s of %d", count(left, "session"), w.n+left)
		if most := p.Workload.NumPrompts; most > 0 && most < w.n {
			w.source, w.n = dataset.First(w.source, most), most
		}
	}
	if s.GapCap > 0 {
		var once sync.Once
		w.source = dataset.GapCap(w.source, s.GapCap, func(total time.Duration) {
			once.Do(func() { from.say("--trace-gap-cap %s took %s out of all gaps", s.GapCap, total) })
		})
	}
	if s.Speed > 0 && s.Speed != 1 {
		w.source = dataset.Speed(w.source, s.Speed)
	}
	if s.Bust != "" {
		var counts func(string) int
		if t := w.tokenizer; t != nil && w.remote == nil {
			counts = func(text string) int { return t.Count(text, false) }
		}
		w.source = dataset.Marked(w.source, p.Workload.Seed, s.Bust == BustSession, counts)
	}
	if p.Workload.Has(kinds.OwnTimes) {
		return w.foresee(s, from)
	}
	return nil
}

// longWait is how late the first request of a dataset may be due without a word.
const longWait = 10 * time.Minute

// foresee warns of a first request that is due long after the start of the load: the times of some
// traces count from 1970.
func (w *workload) foresee(s *Sessions, from tokenizerSource) error {
	for c, err := range w.source {
		switch {
		case err != nil:
			return err
		case c.Due == nil:
			return nil
		}
		if wait := dataset.Seconds(*c.Due); wait > longWait {
			start := s.From.Seconds() + math.Floor(*c.Due*cmp.Or(s.Speed, 1))
			from.say("WARNING: the first request is due in %s, because the dataset's times begin so late: --trace-from %.0f "+
				"counts from there",
				roughly(wait), start)
		}
		return nil
	}
	return nil
}

// roughly is a long time in the units that people use for it.
func roughly(d time.Duration) string {
	const day = 24 * time.Hour
	if d < 2*day {
		return d.Round(time.Second).String()
	}
	return fmt.Sprintf("%.0f days", float64(d)/float64(day))
}

// noun is what the workload's dataset consists of.
func (w *Workload) noun() string {
	if w.Settings.MultiTurn.On || w.Has(kinds.SeveralTurns) {
		return "session"
	}
	return "prompt"
}

// reuse returns what tells how many tokens of prompts a prefix cache would have; nil if sessions have
// one turn and prompts of no blocks.
func (t *prepared) reuse() func(*dataset.Conversation, int) int {
	d := &t.plan.Workload
	several := d.noun() == "session"
	if d.Has(kinds.Printed) {
		for c := range t.workload.source {
			several = c != nil && (len(c.Turns) > 1 || c.Mint != nil)
			break
		}
	}
	if !several {
		return nil
	}
	return (&reuse.Cache{Live: d.Live()}).Next
}

// untimed reports whether a plan asks for times that the workload does not have.
func (w *workload) untimed(p *Plan) (bool, error) {
	if !p.Workload.SelfTimed || p.Workload.Source != nil {
		return false, nil
	}
	for c, err := range w.source {
		if err != nil {
			return false, fmt.Errorf("dataset %s: %w", p.Workload.Dataset, err)
		}
		return c.Due == nil, nil
	}
	return false, nil
}
