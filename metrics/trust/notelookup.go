package trust

import (
	"fmt"
	"strings"

	"github.com/servebench/servebench/metrics/evidence"
)

// noteLookup notes which addresses of a name took no connections, and whether its addresses are old.
func noteLookup(l evidence.Lookup) string {
	var parts []string
	// A server on this machine often listens on one family of addresses only.
	if n := len(l.LeftOut); n > 0 && l.Name != "localhost" {
		var out []string
		for _, a := range l.LeftOut {
			out = append(out, fmt.Sprintf("%s (%s)", a.Address, a.Why))
		}
		parts = append(parts, "no connections to "+strings.Join(out, ", ")+": requests went to the other addresses")
	}
	if l.Stale != "" {
		parts = append(parts, "a later lookup failed ("+l.Stale+
			"), so new connections went to the addresses of an earlier one")
	}
	if parts == nil {
		return ""
	}
	return fmt.Sprintf("%s has %s: %s", l.Name, addressCount(l.Addresses), strings.Join(parts, "; "))
}

func addressCount(n int) string {
	if n == 1 {
		return "1 address"
	}
	return fmt.Sprintf("%d addresses", n)
}
