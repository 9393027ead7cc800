package workload

import (
	"cmp"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/kinds"
	"github.com/servebench/servebench/dataset/retime"
	"github.com/servebench/servebench/loadgen/naming"
	"github.com/servebench/servebench/loadgen/settings"
	"github.com/servebench/servebench/metrics"
)

// retime changes the times of an opened dataset as the plan says, and marks its prompts.
func (w *Opened) retime(p *Spec, from Origin) (err error) {
	s := &p.Workload.Sessions
	if s.To > 0 || s.From > 0 {
		left := 0
		if w.Source, w.N, left, err = retime.Window(w.Source, s.From, s.To); err != nil {
			return err
		}
		from.Say("%s and %s leave out %s of %d", p.Spelling.Spell(naming.From), p.Spelling.Spell(naming.To),
			metrics.Counted(left, "session"), w.N+left)
		if most := p.Workload.NumPrompts; most > 0 && most < w.N {
			w.Source, w.N = dataset.First(w.Source, most), most
		}
	}
	if s.GapCap > 0 {
		var once sync.Once
		w.Source = retime.GapCap(w.Source, s.GapCap, func(total time.Duration) {
			once.Do(func() { from.Say("%s %s took %s out of all gaps", p.Spelling.Spell(naming.GapCap), s.GapCap, total) })
		})
	}
	if s.Speed > 0 && s.Speed != 1 {
		w.Source = retime.Speed(w.Source, s.Speed)
	}
	if s.Bust != "" {
		var counts func(string) int
		if t := w.Tokenizer; t != nil && w.Remote == nil {
			counts = func(text string) int { return t.Count(text, false) }
		}
		w.Source = dataset.Marked(w.Source, p.Workload.Seed, s.Bust == settings.BustSession, counts)
	}
	if p.Workload.Has(kinds.OwnTimes) {
		return w.foresee(p, from)
	}
	return nil
}

// longWait is how late the first request of a dataset may be due without a word.
const longWait = 10 * time.Minute

// foresee warns of a first request that is due long after the start of the load: the times of some
// traces count from 1970.
func (w *Opened) foresee(p *Spec, from Origin) error {
	s := &p.Workload.Sessions
	for c, err := range w.Source {
		switch {
		case err != nil:
			return err
		case c.Due == nil:
			return nil
		}
		if wait := dataset.Seconds(*c.Due); wait > longWait {
			start := s.From.Seconds() + math.Floor(*c.Due*cmp.Or(s.Speed, 1))
			from.Say("WARNING: the first request is due in %s, because the dataset's times begin so late: %s %.0f counts "+
				"from there", roughly(wait), p.Spelling.Spell(naming.From), start)
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

// untimed reports whether a plan asks for times that the workload does not have.
func (w *Opened) untimed(p *Spec) (bool, error) {
	if !p.Workload.SelfTimed || p.Workload.Source != nil {
		return false, nil
	}
	for c, err := range w.Source {
		if err != nil {
			return false, fmt.Errorf("dataset %s: %w", p.Workload.Dataset, err)
		}
		return c.Due == nil, nil
	}
	return false, nil
}
