package main

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/servebench/servebench/metrics"
)

// experimentFlags say what more than one load test of one target is wanted.
func (f *form) experimentFlags() []*flag {
	return []*flag{
		{name: "target", meta: "NAME=URL,FLAG=VALUE", args: some, gathers: true, ours: true, list: &f.targets, conceal: redactTarget,
			help: "a server to load, and flags for it alone, as a=http://127.0.0.1:8000,request-rate=5; several are loaded at once"},
		{name: "solo-first", args: none, ours: true, set: switchTo(&f.SoloFirst, true),
			help: "load each target alone and all together, and compare; every second repeat begins with all together"},
		{name: "repeat", meta: "N", ours: true, set: intoOptional(&f.repeat, parseInt),
			help: "how often to do it all, each time with other prompts (default 1, with --solo-first 2)"},
	}
}

func (f *form) resolveExperiment(args []string) (err error) {
	switch {
	case f.repeat != nil:
		f.Repeat = *f.repeat
	case f.SoloFirst:
		f.Repeat = 2 // one in each order
	default:
		f.Repeat = 1
	}
	switch {
	case f.Repeat < 1 || f.Repeat > 1e6:
		return fmt.Errorf("argument --repeat: %d: it must be from 1 to 1000000", f.Repeat)
	case f.SoloFirst && len(f.targets) < 2:
		return fmt.Errorf("argument --solo-first: it needs --target twice or more")
	case f.repeat != nil && f.Repeat > 1 && f.Results.Filename != "" && !f.Results.Append:
		return fmt.Errorf("argument --repeat: each would write over the file of --result-filename: leave that away, or take --append-result")
	}
	for _, text := range f.targets {
		t, err := parseTarget(text)
		if err != nil {
			return fmt.Errorf("argument --target: %s: %w", quoted(t.shown()), err)
		}
		if slices.ContainsFunc(f.Targets, func(o *options) bool { return o.Target == t.name }) {
			return fmt.Errorf("argument --target: two are named %s", t.name)
		}
		o, err := t.options(args)
		if err != nil {
			return fmt.Errorf("argument --target: %s: %w", t.name, err)
		}
		f.Targets = append(f.Targets, o)
		f.Server.Secrets.join(o.Server.Secrets)
	}
	if f.Targets != nil && f.Watch.URLs != nil {
		return errors.New("argument --server-metrics: each target has replicas of its own: name them in --target, as a=URL,server-metrics=http://10.0.0.1:8000,http://10.0.0.2:8000")
	}
	if f.Targets != nil && (f.baseURL != nil || f.Server.Socket != "") {
		return errors.New("argument --target: each has its own URL, so leave --base-url and --unix-socket away")
	}
	if f.SoloFirst && f.Repeat == 1 {
		f.Warnings = append(f.Warnings, oneOrder)
	}
	return nil
}

// oneOrder is what there is to say of targets that are alone first and once.
const oneOrder = "--solo-first: with one repeat each target is alone first and all are together last, so a slow drift looks like interference; two repeats take turns"

// A target is what one --target says.
type target struct {
	name  string
	words []string // of a command line
}

// shown is the name, unless it is none and may hold a password.
func (t *target) shown() string {
	if strings.Contains(t.name, ":") {
		return redactURL(t.name)
	}
	return t.name
}

// targetFlag begins a flag within a target: a comma may as well be part of a value.
var targetFlag = regexp.MustCompile(`,([A-Za-z][A-Za-z0-9_-]*)=`)

// curveKeys follow a comma within a --rate-curve. No flag is called so.
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
	if !strings.Contains(url, "://") {
		return t, fmt.Errorf("%s: it must be a URL, as http://127.0.0.1:8000", quoted(redactURL(url)))
	}
	t.words = append([]string{"--base-url=" + url}, t.words...)
	return t, nil
}

var targetName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

// options are those of the command line with what the target has of its own.
func (t *target) options(args []string) (*options, error) {
	f, table := newForm()
	if err := table.parse(args); err != nil {
		return nil, err
	}
	if err := t.check(table); err != nil {
		return nil, err
	}
	if err := table.parse(t.words); err != nil {
		return nil, err
	}
	if err := f.resolve(table); err != nil {
		return nil, err
	}
	f.Target = t.name
	f.Results.name(cmp.Or(f.Results.Label, f.Server.Backend), t.name)
	f.Results.Metadata = append(f.Results.Metadata, metrics.KV{Key: "target", Value: t.name})
	return &f.options, nil
}

// has says whether the target has a flag of its own.
func (t *target) has(table table, name string) bool {
	return slices.ContainsFunc(t.words, func(word string) bool {
		option, _, _ := strings.Cut(word, "=")
		found := table.find(dashed(option))
		return len(found) == 1 && found[0].name == name
	})
}

// check refuses what is not of a single target.
func (t *target) check(table table) error {
	for _, word := range t.words {
		option, _, _ := strings.Cut(word, "=")
		for _, g := range table {
			if len(table.find(option)) != 1 || !slices.Contains(g.flags, table.find(option)[0]) {
				continue
			}
			if table.find(option)[0].name == "server-metrics" { // each may have replicas
				continue
			}
			if slices.Contains([]string{"Several runs", "Many machines", "Watching", "Results", "Other"}, g.title) || slices.Contains(wholeLimits, table.find(option)[0].name) {
				return fmt.Errorf("%s is of the whole command, not of one target", option)
			}
		}
	}
	return nil
}

// wholeLimits are time limits of a run, not of a target.
var wholeLimits = []string{"deadline", "drain-timeout"}

// name puts a part into the name of the result file, or into the label with which
// that begins.
func (o *resultOptions) name(label, part string) {
	if o.Filename == "" {
		o.Label = label + "-" + part
		return
	}
	extension := filepath.Ext(o.Filename)
	o.Filename = strings.TrimSuffix(o.Filename, extension) + "-" + part + extension
}

// redactTarget hides a password and the values of headers.
func redactTarget(text string) string {
	t, err := parseTarget(text)
	if err != nil {
		return redacted
	}
	_, table := newForm()
	shown := t.name + "="
	for i, word := range t.words {
		option, value, _ := strings.Cut(dashed(word), "=")
		for _, f := range table.find(option) {
			if f.conceal != nil {
				value = f.conceal(value)
			}
		}
		if i > 0 {
			shown += "," + strings.TrimPrefix(option, "--") + "="
		}
		shown += value
	}
	return shown
}
