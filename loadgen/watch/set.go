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

// A row is a sampler, the setting that asks for it, and its watch once it has begun.
type row struct {
	setting string
	sample  Sampler
	watch   *watch
}

// Add adds a sampler that a setting asks for.
func (s *Set) Add(setting string, sample Sampler) {
	s.rows = append(s.rows, row{setting: setting, sample: sample})
}

// Has reports whether a setting has a sampler.
func (s *Set) Has(setting string) bool {
	for i := range s.rows {
		if s.rows[i].setting == setting {
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

// Stop ends the sampling and waits for its end. Drain then still returns the last samples. Stop may be
// called again, and without Start.
func (s *Set) Stop() {
	for _, r := range s.rows {
		if r.watch != nil {
			r.watch.end()
		}
	}
}

// Troubles say which samplers failed, and why.
func (s *Set) Troubles() (said []string) {
	for _, r := range s.rows {
		if r.watch == nil {
			continue
		}
		if text := r.watch.said(); text != "" {
			said = append(said, r.setting+": "+s.masked(text))
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
