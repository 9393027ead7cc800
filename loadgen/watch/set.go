package watch

import (
	"time"

	"github.com/servebench/servebench/metrics/samples"
)

// A Set samples during a run. The zero value samples nothing.
type Set struct {
	// Mask hides secrets in what samples say; nil hides nothing.
	Mask func(text string) string

	rows []row
}

// A row is a sampler, its name, and its watch once it has begun.
type row struct {
	name   string
	sample Sampler
	watch  *watch
}

// Add adds a sampler by the name of what it samples: the setting that asks for it, if one does.
func (s *Set) Add(name string, sample Sampler) {
	s.rows = append(s.rows, row{name: name, sample: sample})
}

// Has reports whether there is a sampler of that name.
func (s *Set) Has(name string) bool {
	for i := range s.rows {
		if s.rows[i].name == name {
			return true
		}
	}
	return false
}

// Start begins to sample. Call Stop.
func (s *Set) Start(epoch time.Time) {
	for i := range s.rows {
		s.rows[i].watch = start(epoch, s.rows[i].sample)
	}
}

// Drain returns the samples since the last call. The caller owns them.
func (s *Set) Drain() (drained []*samples.Sample) {
	for _, r := range s.rows {
		if r.watch != nil {
			drained = append(drained, r.watch.drain()...)
		}
	}
	for _, sample := range drained {
		sample.Error = s.masked(sample.Error)
	}
	return drained
}

// Stop ends the sampling of sets at one moment, and waits for its end: a sampler may have a last look, which takes
// time. Drain then still returns the last samples. Stop may be called again, and without Start.
func Stop(sets ...*Set) {
	var begun []*watch
	for _, s := range sets {
		for _, r := range s.rows {
			if r.watch != nil {
				begun = append(begun, r.watch)
				r.watch.stop()
			}
		}
	}
	for _, w := range begun {
		<-w.done
	}
}

// Troubles say which samplers failed, and why.
func (s *Set) Troubles() (said []string) {
	for _, r := range s.rows {
		if r.watch == nil {
			continue
		}
		if text := r.watch.said(); text != "" {
			said = append(said, r.name+": "+s.masked(text))
		}
	}
	return said
}

func (s *Set) masked(text string) string {
	if s.Mask == nil {
		return text
	}
	return s.Mask(text)
}
