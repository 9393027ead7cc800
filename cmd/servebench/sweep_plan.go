package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/servebench/servebench/cmd/servebench/internal/argv"
	"github.com/servebench/servebench/loadgen/sweep"
)

// read reads the file of that name and checks the command line of every run.
func (c *sweepCommand) read(file string, r io.Reader) (err error) {
	if c.plan, err = sweep.Parse(file, r, sweepFlag); err != nil {
		return err
	}
	c.runs = map[sweep.Cell]*options{}
	files := resultFiles{}
	var lowest float64
	if c.plan.Search != nil {
		lowest = c.plan.Search.From
	}
	for _, cell := range c.plan.Cells() {
		o, err := c.parse(cell, lowest)
		if err == nil {
			err = files.add(o, c.plan.Search != nil)
		}
		if err == nil && c.plan.Search != nil {
			err = enough(c.plan.Search, o)
		}
		if err != nil {
			return fmt.Errorf("%s:%d: %s: %w", file, c.plan.Arms[cell.Arm].Line, c.plan.Describe(cell), err)
		}
		c.runs[cell] = o
	}
	c.spread()
	return nil
}

// parse is a run of a cell, the first one, at a value of the search where there is one.
func (c *sweepCommand) parse(cell sweep.Cell, value float64) (*options, error) {
	args := sweep.AnyPorts(c.plan.Args(cell, 0)...)
	var varied []string
	for _, s := range c.plan.Points[cell.Point].Settings {
		varied = append(varied, s.Flag)
	}
	if s := c.plan.Search; s != nil {
		args = append(args, s.Args(value)...)
		varied = append(varied, s.Flag)
	}
	o, err := parseRun(args)
	if err == nil && o.Stats {
		err = errors.New("argument --stats: it belongs to servebench dataset")
	}
	if err == nil && o.Targets != nil {
		err = heeded(varied, args)
	}
	return o, err
}

// heeded makes sure that flags of a command line which a sweep varies are not the
// own ones of each target.
func heeded(flags, args []string) error {
	f := emptyForm().flags
	if err := f.Parse(args); err != nil {
		return err
	}
	targets := f.Given("target")
	for _, flag := range flags {
		deaf := 0
		for _, text := range targets {
			if target, err := parseTarget(text); err == nil && target.has(f, flag) {
				deaf++
			}
		}
		if deaf == len(targets) {
			return fmt.Errorf("argument --%s: each target has its own, so that none takes it", flag)
		}
	}
	return nil
}

// oneOrder says whether targets are alone before they are together, and never after.
func (c *sweepCommand) oneOrder() bool {
	alone := false
	for _, o := range c.runs {
		alone = alone || o.SoloFirst
	}
	return alone && c.plan.Repeats == 1
}

// spread has no server see a prompt twice.
func (c *sweepCommand) spread() {
	seeds, servers := int64(1), make([][]string, len(c.plan.Arms))
	for cell, o := range c.runs {
		seeds = max(seeds, o.plan().Seeds())
		for _, o := range o.all() {
			servers[cell.Arm] = append(servers[cell.Arm], o.Server.Socket+" "+o.Server.BaseURL)
		}
	}
	for i := range servers {
		slices.Sort(servers[i])
		servers[i] = slices.Compact(servers[i])
	}
	c.plan.Spread(seeds, servers)
}

// notInSweep are flags that a sweep has other means for, which are said.
var notInSweep = map[string]string{
	"record-to": "a sweep has one record stream for all runs, in its folder",
	"hlog":      "each run would write over it",
	"repeat":    "repeats stands beside load",
	"config":    "the flags of a sweep stand in its own file, under load",
	"help":      "it is no flag of a load",

	"shard": notMany, "start-at": notMany, "run-id": notMany, "clock-offset": notMany,

	"metrics-addr": "it is a flag of servebench sweep itself, for all runs",
}

// notMany is why a sweep has no flags for many machines.
const notMany = "a sweep runs on one machine"

// sweepFlag is an entry of the file as a command line, checked by itself.
func sweepFlag(name string, value *yaml.Node) (flag string, args []string, err error) {
	f := emptyForm().flags
	flag = strings.TrimPrefix(argv.Dashed("--"+name), "--")
	if found := f.Find("--" + flag); len(found) == 1 {
		flag = found[0].Name
	}
	if why := notInSweep[flag]; why != "" {
		return "", nil, fmt.Errorf("%s: %s", flag, why)
	}
	if args, err = f.Entry(name, value); err != nil {
		return "", nil, err
	}
	if err := f.Parse(sweep.AnyPorts(args...)); err != nil {
		return "", nil, err
	}
	return flag, args, seedless(f)
}

// seedless refuses targets with a seed of their own, which all points and repeats
// would share.
func seedless(f *argv.Flags) error {
	for _, text := range f.Given("target") {
		target, err := parseTarget(text)
		if err != nil {
			continue // as the whole command line will say
		}
		if target.has(f, "seed") {
			return fmt.Errorf("argument --target: %s: seed: each repeat and point needs one of its own", target.name)
		}
	}
	return nil
}
