package main

import (
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
)

// simulatorFault is an entry of the simulator's list of faults, on one line.
var simulatorFault = regexp.MustCompile(`(?m)^([a-z-]+)(\[=N\])?  +(.*?)(?: \(default (\d+)\))?$`)

// continued is the break before a further line of an entry.
var continued = regexp.MustCompile(`\n {10,}`)

// simulatorClaims has the expected outcome of each of the simulator's faults. With Failed, the
// fault affects every fourth request; otherwise all of them.
var simulatorClaims = map[string]Case{
	"refuse":     {Want: Want{Failed: Failures{"truncated": 5}}},
	"never":      {Want: Want{Failed: Failures{"first-byte": 5}}, Args: []string{"--first-byte-timeout", "0.5"}},
	"status":     {Want: Want{Failed: Failures{"status": 5}}},
	"html":       {Want: Want{Failed: Failures{"status": 5}}},
	"blank":      {Want: Want{Failed: Failures{"status": 5}}},
	"empty":      {Want: Want{Failed: Failures{"empty": 5}}},
	"error":      {Want: Want{Failed: Failures{"in-stream": 5}}},
	"error-flat": {Want: Want{Failed: Failures{"in-stream": 5}}},
	"cut":        {Want: Want{Failed: Failures{"truncated": 5}}},
	"truncate":   {Want: Want{Failed: Failures{"truncated": 5}}},
	"stall":      {Want: Want{Failed: Failures{"stall": 5}}, Args: []string{"--stall-timeout", "0.5"}},
	"endless":    {Want: Want{Failed: Failures{"malformed": 5}}, Alone: true},
	"huge-event": {Want: Want{Failed: Failures{"malformed": 5}}, Alone: true},
	"garbage":    {Want: Want{Failed: Failures{"malformed": 5}}},
	"tokens": {Want: Want{Says: "4.00 tokens a chunk, so vLLM's ITL and peak throughput are per chunk"},
		Lost: "the ITL of single tokens"},
	"answer": {Want: Want{Suspect: []string{"answer lengths"}}, Lost: "the load: it is less than requested"},
	"merge": {Want: Want{Suspect: []string{"lumpy delivery"}}, Lost: "ITL: it measures how the server bundles",
		Alone: true},

	"no-done": {}, "crlf": {}, "cr": {}, "comment": {}, "event-line": {}, "multi-line": {}, "no-space": {}, "split": {},
	"usage-zero": {}, "usage-null": {}, "usage-in-finish": {},
}

// simulatorCases makes a case of each fault that the simulator has. A fault without a claim is an
// error, so none is forgotten.
func simulatorCases(ctx context.Context, bin string) ([]*Case, error) {
	help, err := exec.CommandContext(ctx, bin, "sim", "--help").Output()
	if err != nil {
		return nil, fmt.Errorf("asking for the simulator's faults: %w", err)
	}
	found := simulatorFault.FindAllStringSubmatch(continued.ReplaceAllString(string(help), " "), -1)
	if len(found) < len(simulatorClaims) {
		return nil, fmt.Errorf("the simulator has %d faults, and claims are made of %d", len(found), len(simulatorClaims))
	}
	var cases []*Case
	for _, f := range found {
		c, claimed := simulatorClaims[f[1]]
		if !claimed {
			return nil, fmt.Errorf("the simulator has a fault %s of which simulatorClaims says nothing", f[1])
		}
		cases = append(cases, simulatorCase(c, f))
	}
	return cases, nil
}

func simulatorCase(c Case, f []string) *Case {
	n := f[4]
	if n == "1" {
		n = "2" // of chunks
	}
	args := []string{"--fault", strings.TrimSuffix(f[1]+"="+n, "=")}
	if len(c.Want.Failed) > 0 {
		args = append(args, "--fault-every", "4")
		c.Want.Suspect = []string{"failed"}
	}
	c.Group = "The simulator's faults"
	c.Fault = regexp.MustCompile(`\bN\b`).ReplaceAllString(f[3], n)
	c.How = "`sim " + strings.Join(args, " ") + "`"
	c.Make = func(s *Stage) (string, error) {
		sim, err := s.sim(args...)
		if err != nil {
			return "", err
		}
		return sim.URL, nil
	}
	if len(c.Want.Suspect) == 0 {
		c.Want.Check = (*Outcome).short
	}
	return &c
}
