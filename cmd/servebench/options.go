package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/servebench/servebench/cmd/servebench/internal/argv"
	"github.com/servebench/servebench/loadgen/settings"
	"github.com/servebench/servebench/loadgen/spool"
	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/pyjson"
	"github.com/servebench/servebench/report"
	"github.com/servebench/servebench/report/save"

	"github.com/servebench/servebench/loadgen"
	"github.com/servebench/servebench/report/files"
)

// options is a checked and complete command line of `servebench run`: it has defaults, and flags
// that set other flags are resolved. Nobody changes it after it is made.
type options struct {
	Plan    loadgen.Plan // of one target, or of all of them together
	Results resultOptions
	Targets []*options // one for each --target; nil without

	ShardGiven bool   // --shard was given, so the environment is ignored
	Stats      bool   // of servebench dataset: lengths only
	Simulate   string // of servebench dataset: the profile of a dry run; empty for none
	Listen     string // address of our /metrics; empty for none

	// Notes say on stderr what was taken for something else.
	Notes []string

	// Warnings go to stderr: flags that were accepted and have no effect.
	Warnings []string
}

// resultOptions say what to report and where it goes.
type resultOptions struct {
	files.Result

	Parts      report.Parts
	Stream     string // where the record stream goes: a file, - for stdout, empty for nowhere
	Record     string // full, prompts or requests
	Compress   string // zstd, or empty for nothing
	Intervals  string // where the interval log goes; empty for nowhere
	NoProgress bool
	Strict     bool // a run with untrusted numbers ends with exit code 3
}

// rename puts part into the name of the result file, or into the label that begins it.
func (o *options) rename(label, part string) {
	r := &o.Results
	if r.Filename == "" {
		o.Plan.Report.Label = label + "-" + part
		return
	}
	extension := filepath.Ext(r.Filename)
	r.Filename = strings.TrimSuffix(r.Filename, extension) + "-" + part + extension
}

// part are the options of a target that is loaded in a part of the targets, which the words name as
// alone or with-b do; the options themselves for all targets.
func (o *options) part(words string) *options {
	if words == "" {
		return o
	}
	part := *o
	part.rename(o.Plan.Report.Label, words)
	return &part
}

// all are the options of each target.
func (o *options) all() []*options {
	if o.Targets == nil {
		return []*options{o}
	}
	return o.Targets
}

// trials is the number of load tests of single targets in all repeats.
func (o *options) trials() int {
	plan := o.Plan
	for _, t := range o.Targets {
		plan.Targets = append(plan.Targets, &t.Plan)
	}
	return plan.Trials()
}

// openRecords opens the file of -o; nil without one.
func openRecords(r *resultOptions, talk io.Writer) (f *spool.File, err error) {
	if r.Stream == "-" {
		f = spool.To(os.Stdout)
		f.Say = sayTo(talk)
	} else if f, err = openLines("-o/--record-to", r.Stream, "the record stream", r.Mode(), talk); f == nil {
		return nil, err
	}
	if r.Compress == "zstd" {
		f.Compress()
	}
	return f, nil
}

// openIntervals opens the file of --hlog; nil without one.
func openIntervals(r *resultOptions, talk io.Writer) (*spool.File, error) {
	return openLines("--hlog", r.Intervals, "the interval log", 0o666, talk)
}

// openLines opens a file of lines that a flag names; nil for nothing.
func openLines(flag, name, holds string, mode os.FileMode, talk io.Writer) (*spool.File, error) {
	f, err := spool.Open(name, mode)
	if err != nil {
		return nil, fmt.Errorf("argument %s: %w", flag, err)
	}
	if f != nil {
		f.Holds, f.Say = holds, sayTo(talk)
	}
	return f, nil
}

// sayTo says lines.
func sayTo(talk io.Writer) func(format string, args ...any) {
	return func(format string, args ...any) { fmt.Fprintf(talk, format+"\n", args...) }
}

// checkFiles checks, before any load, that the files of a target can be written. It changes none.
func (o *options) checkFiles() error {
	r := &o.Results
	if !r.Save && !r.Append && !r.Plots.Any() {
		return nil
	}
	if err := r.check(o.Plan.Report.Label); err != nil {
		return err
	}
	config := metrics.Config{Label: o.Plan.Report.Label, Backend: o.Plan.Server.Backend, Model: o.Plan.Server.Model,
		RequestRate: o.Plan.Traffic.RequestRate, RampUp: o.Plan.Traffic.RampUp}
	if most := o.Plan.Traffic.MaxConcurrency; most != nil {
		config.MaxConcurrency = *most
	}
	for _, name := range r.Names(&config, time.Now()) {
		if _, err := os.Lstat(name); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("the result file cannot be written: %w: give a shorter --label or --result-filename", err)
		}
	}
	return nil
}

// check creates the folder of the result file and of the plots and checks that they can be written
// there.
func (r *resultOptions) check(label string) error {
	if strings.ContainsRune(label, filepath.Separator) && r.Filename == "" {
		return fmt.Errorf("argument --label: %s: it begins the result file's name, so it must not hold a %c",
			pyjson.Quote(label), filepath.Separator)
	}
	if r.Filename == "" {
		return checkFolder(r.Dir)
	}
	name := r.Path(r.Filename)
	if !r.Save && !r.Append {
		return checkFolder(filepath.Dir(name))
	}
	info, err := os.Stat(name)
	switch {
	case err == nil && info.IsDir():
		return fmt.Errorf("argument --result-filename: %s is a folder", name)
	case save.Same(name, r.Stream):
		return fmt.Errorf("argument --result-filename: %s is where -o/--record-to writes", name)
	case err == nil && (r.Append || !info.Mode().IsRegular()):
		f, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			return fmt.Errorf("argument --result-filename: %w", err)
		}
		return f.Close()
	}
	return checkFolder(filepath.Dir(name))
}

// checkFolder creates a folder and checks that a file can be created in it.
func checkFolder(name string) error {
	if name == "" {
		name = "."
	}
	err := os.MkdirAll(name, 0o777)
	if err != nil {
		return fmt.Errorf("argument --result-dir: %w", err)
	}
	f, err := os.CreateTemp(name, save.Temporary)
	if err != nil {
		return fmt.Errorf("no result file can be made in %s: %w", name, errors.Unwrap(err))
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// parseThresholds reads two latencies as 25,50, in milliseconds.
func parseThresholds(text string) ([]float64, error) {
	var marks []float64
	for part := range strings.SplitSeq(text, ",") {
		ms, err := argv.ParseFloat(part)
		if err != nil {
			return nil, err
		}
		marks = append(marks, ms)
	}
	if len(marks) != 2 || !(0 < marks[0] && marks[0] < marks[1]) {
		return nil, fmt.Errorf("invalid thresholds: %s: they must be two numbers of milliseconds, the lower first, as 25,50",
			pyjson.Quote(text))
	}
	return marks, nil
}

// join sets the shard to which --shard or, without it, the environment assigns this process, and
// makes the whole run's id. It returns a message if the environment decided.
func (o *options) join(env settings.Environment) (said string, err error) {
	place := o.Plan.Shard
	if !o.ShardGiven {
		if place.Shard, said, err = env.Shard(o.Plan.Program.Spelling); err != nil {
			return "", err
		}
	}
	alone := !place.Several() && place.StartAt.IsZero() && place.RunID == ""
	if (o.Plan.Repeat > 1 || o.Plan.SoloFirst) && !alone {
		return "", errors.New("argument --shard: --repeat and --solo-first make runs one after the other, which shards " +
			"cannot begin together, " +
			"and --start-at and --run-id are of one run: leave the two away, or give --shard none without these")
	}
	if place.RunID == "" && place.Several() {
		if place.RunID, err = o.Plan.SharedRunID(env); err != nil {
			return "", err
		}
	}
	for _, each := range append([]*options{o}, o.Targets...) {
		if err := each.take(place); err != nil {
			return "", err
		}
	}
	return said, nil
}

// take sets the shard of o. It renames the files that each shard writes.
func (o *options) take(place loadgen.Shard) error {
	o.Plan.Shard = place
	r := &o.Results
	index := strconv.Itoa(place.Index)
	for _, file := range []struct {
		flag string
		name *string
	}{{"-o/--record-to", &r.Stream}, {"--hlog", &r.Intervals}} {
		if name := *file.name; place.Several() && name != "" && name != "-" && !strings.Contains(name, "%t") {
			return fmt.Errorf("argument %s: %s: shards on one machine would write over each other: put %%t in it, for the "+
				"shard's index", file.flag, pyjson.Quote(name))
		}
		*file.name = strings.ReplaceAll(*file.name, "%t", index)
	}
	if place.Several() && r.Filename != "" && !strings.Contains(r.Filename, "%t") {
		o.rename("", place.Name())
	}
	r.Filename = strings.ReplaceAll(r.Filename, "%t", index)
	if limit := o.Plan.Traffic.MaxConcurrency; limit != nil && *limit < place.Of {
		return fmt.Errorf("argument --max-concurrency: %d: it is split over %d shards, so it must be at least that", *limit,
			place.Of)
	}
	if limit := o.Plan.Traffic.MaxSessions; limit != nil && *limit < place.Of {
		return fmt.Errorf("argument --max-sessions: %d: it is split over %d shards, so it must be at least that", *limit,
			place.Of)
	}
	if n := o.Plan.Workload.NumPrompts; n > 0 && n < place.Of {
		return fmt.Errorf("argument --num-prompts: %d: it is split over %d shards, so it must be at least that", n, place.Of)
	}
	if prefix := &o.Plan.Workload.RequestIDPrefix; place.Several() && *prefix == "" {
		sum := sha256.Sum256([]byte(o.Plan.Shard.RunIDOf(o.Plan.Target)))
		*prefix = "bench-" + hex.EncodeToString(sum[:4]) + "-"
	}
	return nil
}
