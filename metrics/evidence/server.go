package evidence

import (
	"cmp"

	"github.com/servebench/servebench/metrics/samples"
)

// Server is what two looks at a server's /metrics, before and after the load, say about it.
type Server struct {
	// PrefixQueries are the prompt tokens that the server looked up in its prefix cache, and
	// PrefixHits those that it found there.
	PrefixQueries int64 `json:"prefix_queries,omitempty"`
	PrefixHits    int64 `json:"prefix_hits,omitempty"`
	// Times are what the server's histograms of times counted; nil for none.
	Times *samples.Totals `json:"times,omitempty"`
	// Mixed is why the server's counters say nothing about this run: its /metrics are of several
	// processes, or include other load.
	Mixed string `json:"mixed,omitempty"`
	// Restarted is why the run measured several starts of the server, as far as this machine can tell;
	// empty if it may be one.
	Restarted string `json:"restarted,omitempty"`
}

// add adds what another shard saw. Each shard saw the whole server's counters: one shard's counters are enough.
func (s *Server) add(other *Server) {
	s.PrefixQueries = max(s.PrefixQueries, other.PrefixQueries)
	s.PrefixHits = max(s.PrefixHits, other.PrefixHits)
	if s.Times == nil || other.Times != nil && other.Times.Prefill.Requests > s.Times.Prefill.Requests {
		s.Times = other.Times
	}
	if s.Mixed = cmp.Or(s.Mixed, other.Mixed); s.Mixed != "" {
		s.PrefixQueries, s.PrefixHits, s.Times = 0, 0, nil
	}
	s.Restarted = cmp.Or(s.Restarted, other.Restarted)
}
