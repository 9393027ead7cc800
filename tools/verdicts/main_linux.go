// Verdicts measures how often the verdict of a run is right. A server that notes the truth gets
// loads of servebench, on a quiet machine and on disturbed ones. A block is wrong if a number of it is
// off by more than 5 % and by more than 1 ms.
//
//	verdicts -runs 5 -set check -seed 7
//	verdicts -report -md
//	verdicts -why closed16c/busy1/0
//
// Each run leaves its records and the truth in a separate folder, and is not made again. The table is
// made of these files, so it judges old runs by the limits of today.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("verdicts: ")
	ctx, stop := signal.NotifyContext(context.Background(), unix.SIGINT, unix.SIGTERM)
	defer stop()
	var err error
	switch mode := append(os.Args, "")[1]; mode {
	case "serve":
		err = serve(os.Stdout)
	case "busy":
		busy()
	default:
		err = runAndReport(ctx, os.Args[1:], os.Stdout)
	}
	if errors.Is(err, flag.ErrHelp) {
		os.Exit(2)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// options are the flags.
type options struct {
	plan
	servebench string
	wait       time.Duration
	report     bool
	markdown   bool
	why        string
}

// runAndReport makes runs and prints the table.
func runAndReport(ctx context.Context, arguments []string, out io.Writer) error {
	o, err := parseFlags(arguments)
	if err != nil {
		return err
	}
	if !o.report && o.why == "" {
		if err := o.make(ctx); err != nil {
			return err
		}
	}
	all, err := judgeAll(o.dir)
	switch {
	case err != nil:
		return err
	case len(all) == 0:
		return fmt.Errorf("there is no run in %s", o.dir)
	case o.why != "":
		return why(out, all, o.why)
	}
	count(all).write(out, o.markdown)
	return nil
}

func parseFlags(arguments []string) (*options, error) {
	o := &options{plan: plan{talk: os.Stderr}}
	f := flag.NewFlagSet("verdicts", flag.ContinueOnError)
	f.StringVar(&o.dir, "o", "bin/verdicts", "`folder` of all runs")
	f.IntVar(&o.runs, "runs", 1, "`number` of runs of each load under each condition")
	chosenLoads := f.String("loads", "", "`names` of loads: "+strings.Join(names(loads), ",")+" (default all)")
	chosenConditions := f.String("conditions", "",
		"`names` of conditions: "+strings.Join(names(conditions), ",")+" (default all)")
	chosenSet := f.String("set", string(tune),
		"`name` of the set of loads: tune has the numbers that limits were chosen by, check varies them by seed")
	f.Uint64Var(&o.seed, "seed", 1,
		"`number` that decides the seeds of all runs, and with -set check latencies and lengths")
	f.StringVar(&o.servebench, "servebench", "bin/servebench", "`path` of servebench")
	f.DurationVar(&o.wait, "wait", 10*time.Second, "longest `time` that a quiet run waits for an idle machine")
	f.BoolVar(&o.report, "report", false, "make no runs, and print the table of all in the folder")
	f.BoolVar(&o.markdown, "md", false, "print Markdown")
	f.StringVar(&o.why, "why", "", "make no runs, and print the failed checks and the errors of a `run`: LOAD/CONDITION/N")
	err := f.Parse(arguments)
	if err != nil {
		return nil, err
	}
	if o.loads, err = chosen("load", *chosenLoads, loads); err != nil {
		return nil, err
	}
	if o.conditions, err = chosen("condition", *chosenConditions, conditions); err != nil {
		return nil, err
	}
	if o.set = set(*chosenSet); o.set != tune && o.set != check {
		return nil, fmt.Errorf("there is no set %q: there are %s and %s", o.set, tune, check)
	}
	return o, nil
}

// A named has a name, by which flags and rows know it.
type named interface{ label() string }

func (l load) label() string      { return l.name }
func (c condition) label() string { return c.name }

// names are the names of all.
func names[T named](all []T) (list []string) {
	for _, x := range all {
		list = append(list, x.label())
	}
	return list
}

// chosen are the values that a list names, or all if it is empty.
func chosen[T named](kind, list string, all []T) (some []T, err error) {
	if list == "" {
		return all, nil
	}
	for want := range strings.SplitSeq(list, ",") {
		i := slices.IndexFunc(all, func(x T) bool { return x.label() == want })
		if i < 0 {
			return nil, fmt.Errorf("there is no %s %q", kind, want)
		}
		some = append(some, all[i])
	}
	return some, nil
}

// make makes the runs that are not there yet.
func (o *options) make(ctx context.Context) (err error) {
	s, err := startServing(allowed("chrt", "-f", "20"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	m := &client{program: o.servebench, server: s, priority: allowed("chrt", "--rr", "10"), wait: o.wait}
	return o.complete(ctx, m)
}
