package evidence

import (
	"cmp"
	"slices"
	"time"
)

// A Lookup is what the name of a server or of its proxy led to.
type Lookup struct {
	Name      string        `json:"name"`
	Took      time.Duration `json:"took"`      // the first lookup, before the load
	Addresses int           `json:"addresses"` // in the last answer
	// Stale is why the last lookup failed, if the addresses are from an earlier one.
	Stale string `json:"stale,omitempty"`
	// LeftOut are the addresses that took no connection, when the name had others.
	LeftOut []LeftOut `json:"left_out,omitempty"`
}

// LeftOut is an address that took no connection, with its port, and why.
type LeftOut struct {
	Address string `json:"address"`
	Why     string `json:"why"`
}

// addLookups adds the lookups of another shard, which may have found other addresses.
func addLookups(all, other []Lookup) []Lookup {
	all = slices.Clone(all)
	for _, l := range other {
		i := slices.IndexFunc(all, func(have Lookup) bool { return have.Name == l.Name })
		if i < 0 {
			all = append(all, l)
			continue
		}
		have := &all[i]
		have.Took, have.Addresses = max(have.Took, l.Took), max(have.Addresses, l.Addresses)
		have.Stale = cmp.Or(have.Stale, l.Stale)
		have.LeftOut = slices.Clone(have.LeftOut)
		for _, out := range l.LeftOut {
			if !slices.ContainsFunc(have.LeftOut, func(h LeftOut) bool { return h.Address == out.Address }) {
				have.LeftOut = append(have.LeftOut, out)
			}
		}
	}
	return all
}
