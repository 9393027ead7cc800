package brief

import (
	"slices"
	"strings"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/compare/asked"
	"github.com/servebench/servebench/metrics/compare/gating"
	"github.com/servebench/servebench/metrics/verdict"
)

// disturbances are the checks that say that the client, its machine or somebody else on the GPU disturbed
// a run. No other check makes a run disturbed: what a server may cause is a finding about it.
var disturbances = []string{
	"CPU quota", "other processes", "lag", "later turns", "send delay", "socket age", "wake-up", "shared reads",
	"longest stop", "stopped",
	"busiest second", "own CPU", "stolen CPU", "longest GC pause", "GC pauses", "clock step", "exhaustion", "selftest",
	"foreign processes",
}

// UsedAnyway is the metadata of runs of a sequential sweep that is despite suspect.
var UsedAnyway = metrics.KV{Key: "disturbed-pairs", Value: "used"}

// Disturbance is how the client was disturbed in a run; empty if it was not. No latency of the run, and no
// other number of the server, decides it.
func Disturbance(s *metrics.Summary) string {
	found := failed(s, func(c verdict.Check) bool { return !heldBack(c) && slices.Contains(disturbances, c.Name) })
	if len(found) == 0 || metrics.Value(s.Header.Config.Metadata, UsedAnyway.Key) == UsedAnyway.Value {
		return ""
	}
	return "SUSPECT: " + found[0].Text
}

// Disturbed are the pairs of a sequential sweep in which a run was disturbed, by repeat, and how. Such a
// pair says nothing about the servers. A gate that is despite suspect knows none.
func Disturbed(runs []*Run, g *gating.Gate) map[int]string {
	found := map[int]string{}
	if slices.Contains(g.Despite, "suspect") {
		return found
	}
	for _, r := range runs {
		if r.MaxPairs > 0 && r.Repeat > 0 && r.Source.Disturbed != "" && found[r.Repeat] == "" {
			found[r.Repeat] = strings.TrimPrefix(r.Asked[asked.Arm]+": "+r.Source.Disturbed, ": ")
		}
	}
	return found
}

// DisturbedRepeats are the repeats of sequential sweeps that were disturbed, by their label.
func DisturbedRepeats(sums []*metrics.Summary) map[string]bool {
	found := map[string]bool{}
	for _, s := range sums {
		if Disturbance(s) != "" && metrics.Value(s.Header.Config.Metadata, "max-pairs") != "" {
			found[metrics.Value(s.Header.Config.Metadata, "repeat")] = true
		}
	}
	return found
}
