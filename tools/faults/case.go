package main

import (
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
)

// requests is how many a case sends; each asks for outputLen tokens.
const (
	requests  = 20
	outputLen = 20
)

// A Case is one fault, how to make it happen, and what we claim about a run with it.
type Case struct {
	Group string
	Fault string   // what is wrong
	How   string   // how a reader makes it happen, in Markdown
	Args  []string // flags of servebench run, in addition to the usual ones

	Needs []string                             // programs
	Make  func(*Stage) (url string, err error) // makes it happen
	Alone bool                                 // no other case may run at the same time
	Own   bool                                 // not over net/http, which keeps an event back until the next one is whole

	Want Want
	Lost string // what is lost apart from requests
}

// Want is the claim. The zero value: all requests are answered, and the verdict has
// nothing against the server.
type Want struct {
	Exit    int
	Failed  Failures
	Suspect []string // names of the checks that speak of the server
	Perhaps []string // checks that may fail or not
	Says    string   // what else stderr says
	Unsent  int      // requests that were not sent, or are in no file
	Check   func(*Outcome) error
}

// Failures counts failed requests by class.
type Failures map[string]int

// ofMachine are the checks that judge this machine, and those about so short a run. A case claims
// nothing about them.
var ofMachine = []string{
	"lag", "send delay", "socket age", "wake-up", "shared reads", "longest stop", "stopped", "busiest second", "own CPU",
	"stolen CPU", "longest GC pause", "GC pauses", "clock step", "selftest", "CPU quota", "other processes", "connecting",
	"Little's law",
}

// standstill are the checks that fail if a machine is too busy for any test.
var standstill = []string{"lag", "socket age", "shared reads", "longest stop", "stopped", "longest GC pause",
	"GC pauses", "other processes"}

// An errMissing names what a case needs and does not find.
type errMissing string

func (e errMissing) Error() string { return string(e) }

// missing is the programs that are not there, nil if all are.
func (c *Case) missing() error {
	for _, name := range c.Needs {
		if _, err := exec.LookPath(name); err != nil {
			return errMissing(name + " is not installed")
		}
	}
	return nil
}

// verify compares the outcome with the claim.
func (c *Case) verify(o *Outcome) error {
	w := &c.Want
	var wrong []error
	claim := func(what string, got, want any) {
		if fmt.Sprint(got) != fmt.Sprint(want) {
			wrong = append(wrong, fmt.Errorf("%s: %v, not %v", what, got, want))
		}
	}
	claim("exit code", o.Exit, w.Exit)
	claim("failed requests by class", o.failures(), map[string]int(w.Failed))
	lost := w.Unsent
	for _, n := range w.Failed {
		lost += n
	}
	claim("completed requests", o.completed(), requests-lost)
	claim("checks that failed", o.accusations(w.Perhaps), slices.Sorted(slices.Values(w.Suspect)))
	if !strings.Contains(o.talk(), w.Says) {
		wrong = append(wrong, fmt.Errorf("it does not say %q", w.Says))
	}
	if w.Check != nil {
		wrong = append(wrong, w.Check(o))
	}
	if err := errors.Join(wrong...); err != nil {
		return fmt.Errorf("%s, %s: %w\nit says %s\n%s", c.Group, c.Fault, err, o.says(w), o.Stderr)
	}
	return nil
}

// usual are the flags of servebench run that all cases share.
func usual(url string) []string {
	return []string{
		"--base-url", url, "--num-prompts", fmt.Sprint(requests), "--random-input-len", "10",
		"--random-output-len", fmt.Sprint(outputLen), "--prompt-token-ids", "--metric-percentiles", "90",
	}
}
