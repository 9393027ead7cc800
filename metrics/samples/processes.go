package samples

import (
	"cmp"
	"fmt"
	"math"
	"time"
)

// Contradicts says why s and a later sample cannot be from one process: it restarted, or there are
// several replicas behind one URL. It is "" if they can.
func (s *Server) Contradicts(later *Server) string {
	if s.Start != nil && later.Start != nil && *s.Start != *later.Start {
		return fmt.Sprintf("it comes from processes that started at %s and at %s", instant(*s.Start), instant(*later.Start))
	}
	for _, c := range []struct {
		name          string
		before, after *float64
	}{
		{"prompt tokens looked up in the prefix cache", s.PrefixQueries, later.PrefixQueries},
		{"prompt tokens found in the prefix cache", s.PrefixHits, later.PrefixHits},
		{"tokens generated", s.Generated, later.Generated},
		{"preemptions", s.Preemptions, later.Preemptions},
	} {
		if c.before != nil && c.after != nil && *c.after < *c.before {
			return fmt.Sprintf("its count of %s went back from %.0f to %.0f", c.name, *c.before, *c.after)
		}
	}
	return ""
}

// instant is a time in seconds of Unix time, as text.
func instant(seconds float64) string {
	return time.UnixMicro(int64(math.Round(seconds * 1e6))).UTC().Format("2006-01-02T15:04:05.000000Z")
}

// Processes checks the samples of each URL. The zero value is ready.
type Processes struct {
	// last is by Sample.From: the last known value of each counter, nil if there was none.
	last map[string]*Server
}

// Last is the last known value of each counter of a URL; nil if there was no sample.
func (p *Processes) Last(from string) *Server { return p.last[from] }

// Len is the number of URLs.
func (p *Processes) Len() int { return len(p.last) }

// Add takes a sample, in order for each URL, and says why it cannot be from the same process as the
// previous one; "" if it can.
func (p *Processes) Add(s *Sample) string {
	if s.Server == nil && s.From == "" {
		return "" // it is about GPUs or a pool, or empty
	}
	if p.last == nil {
		p.last = map[string]*Server{}
	}
	before := p.last[s.From]
	switch {
	case s.Server == nil:
		p.last[s.From] = before
		return ""
	case before == nil:
		p.last[s.From] = s.Server
		return ""
	}
	p.last[s.From] = &Server{
		Preemptions:   cmp.Or(s.Server.Preemptions, before.Preemptions),
		PrefixQueries: cmp.Or(s.Server.PrefixQueries, before.PrefixQueries),
		PrefixHits:    cmp.Or(s.Server.PrefixHits, before.PrefixHits),
		Generated:     cmp.Or(s.Server.Generated, before.Generated),
		Start:         cmp.Or(s.Server.Start, before.Start),
	}
	why := before.Contradicts(s.Server)
	if why != "" && s.From != "" {
		why = "at " + s.From + " " + why
	}
	return why
}
