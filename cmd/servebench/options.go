package main

import (
	"path/filepath"
	"strings"

	"github.com/servebench/servebench/loadgen"
	"github.com/servebench/servebench/report/files"
)

// options is what `servebench run` was asked to do, checked and complete:
// defaults are in place and flags that stand for others are resolved. It is
// read-only once made.
type options struct {
	loadgen.Plan // of one target, or of all of them together

	Results resultOptions
	Targets []*options // of --target, one each; nil without

	ShardGiven bool   // by --shard, so that the environment is not asked
	Stats      bool   // of servebench dataset: lengths only
	Listen     string // where our own /metrics is served; empty for nowhere

	// Warnings are to be said on stderr: what was accepted and has no effect.
	Warnings []string
}

// resultOptions say what is reported and where it goes.
type resultOptions struct {
	files.Result
	Withheld bool // result file and plots are not written at the end of the run

	Parts      partOptions
	Stream     string // where the record stream goes: a file, - for stdout, empty for nowhere
	Record     string // full, requests or compact
	Intervals  string // where the interval log goes; empty for nowhere
	NoProgress bool
	Strict     bool // a run that cannot be believed ends with exit code 3
}

// rename puts a part into the name of the result file, or into the label with which
// that begins.
func (o *options) rename(label, part string) {
	r := &o.Results
	if r.Filename == "" {
		o.Report.Label = label + "-" + part
		return
	}
	extension := filepath.Ext(r.Filename)
	r.Filename = strings.TrimSuffix(r.Filename, extension) + "-" + part + extension
}

// solo are the options of a target that is loaded alone.
func (o *options) solo() *options {
	alone := *o
	alone.rename(o.Report.Label, "alone")
	return &alone
}

// all are the options of each target.
func (o *options) all() []*options {
	if o.Targets == nil {
		return []*options{o}
	}
	return o.Targets
}

// trials is how many load tests of single targets all repeats come to.
func (o *options) trials() int {
	plan := o.Plan
	plan.Targets = make([]*loadgen.Plan, len(o.Targets))
	return plan.Trials()
}
