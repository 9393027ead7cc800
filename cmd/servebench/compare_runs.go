package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/servebench/servebench/loadgen/sweep"
	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/compare"
	"github.com/servebench/servebench/metrics/pyjson"
	"github.com/servebench/servebench/metrics/stream"
)

// read reads the runs of files and folders.
func (c *compareCommand) read(names []string) ([]*compare.Run, error) {
	var all []*compare.Run
	for _, from := range sourcesOf(names) {
		found, err := c.source(from)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

// source reads files, some runs of one, a folder of them, or a sweep's.
func (c *compareCommand) source(from source) ([]*compare.Run, error) {
	name := from[0]
	_, err := os.Stat(name)
	switch {
	case name == "-" || err == nil && !isFolder(name):
		return c.runs(from)
	case err != nil && strings.HasPrefix(name, "-"):
		return nil, fmt.Errorf("%s: there is no such file, and flags must be before the --", name)
	case err != nil:
		return c.chosen(name, err)
	}
	if records := filepath.Join(name, sweep.RecordsName); exists(records) {
		return c.runs(source{records})
	}
	return c.folder(name)
}

// folder reads the files of a folder.
func (c *compareCommand) folder(name string) ([]*compare.Run, error) {
	entries, err := os.ReadDir(name)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, e := range entries {
		if !e.IsDir() && !strings.HasPrefix(e.Name(), ".") {
			files = append(files, filepath.Join(name, e.Name()))
		}
	}
	var all []*compare.Run
	for _, from := range sourcesOf(files) {
		found, err := c.runs(from)
		if errors.Is(err, stream.ErrNothing) {
			fmt.Fprintf(c.talk, "WARNING: %s: no runs in it\n", from)
			continue
		}
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	if all == nil {
		return nil, fmt.Errorf("%s: no runs in that folder", name)
	}
	return all, nil
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

func isFolder(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

var choice = regexp.MustCompile(`^(.+):([1-9]\d{0,8})(?:-([1-9]\d{0,8}))?$`)

// chosen reads FILE:2 or FILE:2-5; failed is what to say when name is no such.
func (c *compareCommand) chosen(name string, failed error) ([]*compare.Run, error) {
	parts := choice.FindStringSubmatch(name)
	if parts == nil {
		return nil, failed
	}
	all, err := c.runs(source{parts[1]})
	if err != nil {
		return nil, err
	}
	// Both are digits, and few.
	first, _ := strconv.Atoi(parts[2])
	last := first
	if parts[3] != "" {
		last, _ = strconv.Atoi(parts[3])
	}
	if last < first || last > len(all) {
		return nil, fmt.Errorf("%s: %s has %s", name, parts[1], metrics.Counted(len(all), "run"))
	}
	return all[first-1 : last], nil
}

// runs are all runs of a source.
func (c *compareCommand) runs(from source) ([]*compare.Run, error) {
	name, sums, err := from.read(c.stdin, metrics.Ask{Definitions: c.counted})
	if err != nil {
		return nil, err
	}
	for i, s := range sums {
		for _, w := range s.Warnings {
			fmt.Fprintf(c.talk, "WARNING: %s: run %d: %s\n", name, i+1, w)
		}
	}
	return compare.Runs(sums, c.gate.Extra()...), nil
}

// armsOf are the runs of the two arms of one source.
func (c *compareCommand) armsOf(args []string) (old, new []*compare.Run, err error) {
	all, err := c.read(args)
	if err != nil {
		return nil, nil, err
	}
	a, b, ok := strings.Cut(c.arms, ",")
	if !ok || a == b {
		return nil, nil, fmt.Errorf("argument --arms: %s: it must be two names, OLD,NEW, of %s", pyjson.Quote(c.arms), compare.ArmNames(all))
	}
	if old, err = compare.Arm(all, a); err == nil {
		new, err = compare.Arm(all, b)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("argument --arms: %w", err)
	}
	return old, new, nil
}
