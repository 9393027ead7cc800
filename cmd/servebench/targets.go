package main

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/servebench/servebench/cmd/servebench/internal/argv"
	"github.com/servebench/servebench/loadgen/redact"
	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/pyjson"
)

// experimentFlags are for more than one load test of one target.
type experimentFlags struct {
	*options
	targets []string
	repeat  *int
}

func (g *experimentFlags) define(f *argv.Flags) {
	p := &g.Plan
	f.ListVar(&g.targets, "target", argv.Gathered,
		"`NAME=URL,FLAG=VALUE` a server and flags for it alone, as a=http://127.0.0.1:8000,request-rate=5. Several "+
			"targets are loaded at the same time")
	f.BoolVar(&p.SoloFirst, "solo-first", false,
		"load each target alone and all together, and compare. Every second repeat begins with all together")
	f.BoolVar(&p.Pairs, "pairs", false, "also load each pair of targets, between alone and all together. It includes "+
		"--solo-first")
	f.Var(argv.Optional(&g.repeat, argv.ParseInt), "repeat",
		"`N` number of repeats of the whole run, each with other prompts (default 1, with --solo-first 2)")
	f.Conceal("target", redactTarget)
}

// readTargets checks the flags and makes the options of each target: the command line's, with the
// target's own flags.
func (g *experimentFlags) readTargets(f *argv.Flags) error {
	g.Plan.SoloFirst = g.Plan.SoloFirst || g.Plan.Pairs
	switch {
	case g.repeat != nil:
		g.Plan.Repeat = *g.repeat
	case g.Plan.SoloFirst:
		g.Plan.Repeat = 2 // one in each order
	default:
		g.Plan.Repeat = 1
	}
	switch {
	case g.Plan.Repeat < 1 || g.Plan.Repeat > 1e6:
		return fmt.Errorf("argument --repeat: %d: it must be from 1 to 1000000", g.Plan.Repeat)
	case g.Plan.SoloFirst && len(g.targets) < 2:
		return fmt.Errorf("argument --%s: it needs --target twice or more", g.first())
	case g.repeat != nil && g.Plan.Repeat > 1 && g.Results.Filename != "" && !g.Results.Append:
		return fmt.Errorf("argument --repeat: each would write over the file of --result-filename: leave that away, or " +
			"take --append-result")
	}
	for _, text := range g.targets {
		t, err := parseTarget(text)
		if err != nil {
			return fmt.Errorf("argument --target: %s: %w", pyjson.Quote(t.shown()), err)
		}
		if slices.ContainsFunc(g.Targets, func(o *options) bool { return o.Plan.Target == t.name }) {
			return fmt.Errorf("argument --target: two are named %s", t.name)
		}
		o, err := t.options(f.Words())
		if err != nil {
			return fmt.Errorf("argument --target: %s: %w", t.name, err)
		}
		g.Targets = append(g.Targets, o)
		for _, note := range o.Notes {
			g.Notes = append(g.Notes, fmt.Sprintf("target %s: %s", o.Plan.Target, note))
		}
		g.Plan.Server.Secrets.Join(o.Plan.Server.Secrets)
	}
	if g.Targets != nil && g.Plan.Watch.URLs != nil {
		return errors.New("argument --server-metrics: each target has different replicas: name them in --target, as " +
			"a=URL,server-metrics=http://10.0.0.1:8000,http://10.0.0.2:8000")
	}
	if g.Targets != nil && (f.Changed("base-url") || g.Plan.Server.Socket != "") {
		return errors.New("argument --target: each has its own URL, so leave --base-url and --unix-socket away")
	}
	if g.Plan.SoloFirst && g.Plan.Repeat == 1 {
		g.Warnings = append(g.Warnings, oneOrder)
	}
	return nil
}

// first is the flag that loads targets alone.
func (g *experimentFlags) first() string {
	if g.Plan.Pairs {
		return "pairs"
	}
	return "solo-first"
}

// oneOrder is the warning about targets that are loaded alone first, and only once.
const oneOrder = "--solo-first: with one repeat each target is alone first and all are together last, so a slow " +
	"drift looks like interference; two repeats take turns"

// A target is the value of one --target.
type target struct {
	name  string
	words []string // of a command line
}

// shown is the name, with any password hidden.
func (t *target) shown() string {
	if strings.Contains(t.name, ":") {
		return redact.URL(t.name)
	}
	return t.name
}

// targetFlag begins a flag within a target: a comma may also be part of a value.
var targetFlag = regexp.MustCompile(`,([A-Za-z][A-Za-z0-9_-]*)=`)

// curveKeys follow a comma within a --rate-curve. No flag has these names.
var curveKeys = []string{"step", "mean", "amplitude", "period"}

func parseTarget(text string) (target, error) {
	name, rest, ok := strings.Cut(text, "=")
	t := target{name: name}
	if !ok || !targetName.MatchString(name) {
		return t, fmt.Errorf("it must be NAME=URL, the name of letters, digits, dots, dashes and underlines")
	}
	marks := slices.DeleteFunc(targetFlag.FindAllStringSubmatchIndex(rest, -1), func(m []int) bool {
		return slices.Contains(curveKeys, rest[m[2]:m[3]])
	})
	url := rest
	for i, m := range marks {
		if i == 0 {
			url = rest[:m[0]]
		}
		end := len(rest)
		if i+1 < len(marks) {
			end = marks[i+1][0]
		}
		t.words = append(t.words, "--"+rest[m[2]:m[3]]+"="+rest[m[1]:end])
	}
	t.words = append([]string{"--base-url=" + url}, t.words...)
	return t, nil
}

var targetName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

// options are the command line's options with the target's own flags.
func (t *target) options(args []string) (*options, error) {
	f := emptyForm()
	if err := f.flags.Parse(args); err != nil {
		return nil, err
	}
	if err := t.check(f.flags); err != nil {
		return nil, err
	}
	if err := f.flags.Parse(t.words); err != nil {
		return nil, err
	}
	if err := f.resolve(); err != nil {
		return nil, err
	}
	f.Plan.Target = t.name
	f.Plan.Watch.OwnGPU = t.has(f.flags, "gpu-metrics")
	f.rename(cmp.Or(f.Plan.Report.Label, f.Plan.Server.Backend), t.name)
	f.Plan.Report.Metadata = append(f.Plan.Report.Metadata, metrics.KV{Key: "target", Value: t.name})
	return f.options, nil
}

// has reports whether the target sets a flag itself.
func (t *target) has(flags *argv.Flags, name string) bool {
	return slices.ContainsFunc(t.words, func(word string) bool {
		option, _, _ := strings.Cut(word, "=")
		found := flags.Find(option)
		return len(found) == 1 && found[0].Name == name
	})
}

// check refuses flags that do not apply to a single target.
func (t *target) check(flags *argv.Flags) error {
	for _, word := range t.words {
		option, _, _ := strings.Cut(word, "=")
		if found := flags.Find(option); len(found) == 1 && ofWhole(found[0]) {
			return fmt.Errorf("%s is of the whole command, not of one target", option)
		}
	}
	return nil
}

// ofWhole reports whether a flag is about a whole run, not about a target. Each target may have its
// own replicas and GPUs to watch.
func ofWhole(flag *pflag.Flag) bool {
	whole := []string{"Targets", "Shards", "Monitoring", "Results", "Other"}
	each := []string{"server-metrics", "gpu-metrics", "price", "gpus", "kvcached-metrics"}
	return !slices.Contains(each, flag.Name) && slices.Contains(whole, argv.GroupOf(flag)) ||
		slices.Contains(wholeLimits, flag.Name)
}

// wholeLimits are time limits of a run, not of a target.
var wholeLimits = []string{"deadline", "drain-timeout"}

// redactTarget hides a password and the values of headers.
func redactTarget(text string) string {
	t, err := parseTarget(text)
	if err != nil {
		return redact.Mark
	}
	flags := emptyForm().flags
	shown := t.name + "="
	for i, word := range t.words {
		option, value, _ := strings.Cut(argv.Dashed(word), "=")
		for _, flag := range flags.Find(option) {
			value = flags.Show(flag.Name, value)
		}
		if i > 0 {
			shown += "," + strings.TrimPrefix(option, "--") + "="
		}
		shown += value
	}
	return shown
}
