package asked

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/servebench/servebench/metrics"
)

// Parameters are what one run was asked for, by the names of flags, and its arm, target and client. Unknown ones are
// missing.
type Parameters map[string]string

// NotGiven is the value of a parameter that a run does not have. It needs a run of which all
// parameters are known.
const NotGiven = "not given"

// Value is a parameter by its name, empty if unknown. It is NotGiven if the run says all others.
func (p Parameters) Value(name string) string {
	v, known := p[name]
	if _, whole := p[Client]; !known && whole &&
		!slices.Contains([]string{Cores, Host, transport, Definitions}, name) {
		return NotGiven
	}
	return v
}

// Values lists the values of a parameter among runs, each once, in order.
func Values(all []Parameters, name string) []string {
	var values []string
	for _, p := range all {
		if v := p.Value(name); v != "" {
			values = append(values, v)
		}
	}
	values = metrics.Distinct(values)
	if name == Client {
		values = distinctClients(values)
	}
	slices.SortFunc(values, ByNumber)
	return values
}

// ByNumber orders numeric texts as numbers, others as texts.
func ByNumber(a, b string) int {
	x, err := strconv.ParseFloat(a, 64)
	y, err2 := strconv.ParseFloat(b, 64)
	if err != nil || err2 != nil || x == y {
		return strings.Compare(a, b)
	}
	if x < y {
		return -1
	}
	return 1
}

// Names lists the names of all parameters of some runs, in order.
func Names(sides ...[]Parameters) []string {
	names := map[string]bool{}
	for _, all := range sides {
		for _, p := range all {
			for name := range p {
				names[name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// Differences describes the parameters that differ between the two sides, which make their numbers
// differ without any change of the server. A parameter that is unknown on one side does not count,
// nor one that despite names.
func Differences(old, new []Parameters, despite []string) []string {
	var found []string
	for _, name := range Names(old, new) {
		if slices.Contains(despite, name) {
			continue
		}
		if (name == Arm || name == Target) && len(Values(old, name)) == 1 && len(Values(new, name)) == 1 {
			continue // comparing arms or targets is the purpose
		}
		if name == Seed && (len(old) == 1 || len(new) == 1) {
			continue // a run alone has no other with its prompts
		}
		if name == Seed && len(Values(old, name)) == 1 && len(Values(new, name)) == 1 {
			continue // other prompts of the same kind: a note says so
		}
		if name == "request-rate" && (differ(old, new, "ramp-up-strategy") || differ(old, new, "rate-curve")) {
			continue // which replaces the rate
		}
		if differ(old, new, name) {
			found = append(found, fmt.Sprintf("%s is %s in the old runs and %s in the new ones", name, Text(old, name),
				Text(new, name)))
		}
	}
	return found
}

// differ reports that a parameter is known on both sides, and not the same.
func differ(old, new []Parameters, name string) bool {
	a, b := Text(old, name), Text(new, name)
	if name == Client && a != "" && b != "" {
		was, is := Values(old, name), Values(new, name)
		return len(was) != len(is) || len(distinctClients(slices.Concat(was, is))) > len(was)
	}
	return a != "" && b != "" && a != b
}

// Text writes the values of a parameter among runs. For seeds it says whether all runs shared one seed or each
// had a different one.
func Text(all []Parameters, name string) string {
	values := Values(all, name)
	if name == Seed && len(values) > 1 {
		return "different in each run"
	}
	return strings.Join(values, ", ")
}
