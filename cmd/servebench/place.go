package main

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/loadgen"
	"github.com/servebench/servebench/metrics/pyjson"
	"github.com/servebench/servebench/metrics/stream"
)

// An environment gives the value of a variable, empty where there is none.
type environment func(name string) string

// join takes the place in a run of several shards that --shard names or, without
// it, the environment, and makes the whole run's id. What the environment decided
// is said.
func (o *options) join(env environment) (said string, err error) {
	place := o.Shard
	if !o.ShardGiven {
		if place.Shard, said, err = env.shard(); err != nil {
			return "", err
		}
	}
	alone := !place.Several() && place.StartAt.IsZero() && place.RunID == ""
	if (o.Repeat > 1 || o.SoloFirst) && !alone {
		return "", errors.New("argument --shard: --repeat and --solo-first make runs one after the other, which shards cannot begin together, " +
			"and --start-at and --run-id are of one run: leave the two away, or give --shard none without these")
	}
	if place.RunID == "" && place.Several() {
		if place.RunID, err = o.sharedID(env); err != nil {
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

// shard is the place that a Slurm step or a Kubernetes Job gives; the whole outside
// of them. A batch script has tasks, too, but is no step of them, and an interactive
// step of one has the tasks of its job.
func (env environment) shard() (shard dataset.Shard, said string, err error) {
	step := env("SLURM_STEP_ID") != ""
	for _, by := range []struct {
		name, index, of string
		there           bool
	}{
		{"Slurm's SLURM_PROCID", env("SLURM_PROCID"), cmp.Or(env("SLURM_STEP_NUM_TASKS"), env("SLURM_NTASKS")), step},
		{"Kubernetes' JOB_COMPLETION_INDEX", env("JOB_COMPLETION_INDEX"), env("SERVEBENCH_SHARDS"), true},
	} {
		if !by.there || by.index == "" || by.of == "" || by.of == "1" {
			continue
		}
		if shard, err = parseShard(by.index + "/" + by.of); err != nil {
			return shard, "", fmt.Errorf("%s: %w: --shard none runs alone", by.name, err)
		}
		return shard, fmt.Sprintf("shard %d of %d, by %s: --shard none runs alone", shard.Index, shard.Of, by.name), nil
	}
	return shard, "", nil
}

// sharedID is an id that all shards of the run come to by themselves.
func (o *options) sharedID(env environment) (string, error) {
	job, step := env("SLURM_JOB_ID"), env("SLURM_STEP_ID")
	if job != "" && step != "" {
		return parseRunID("slurm-" + job + "-" + step)
	}
	at := o.Shard.StartAt
	if at.IsZero() {
		return "", errors.New("argument --shard: the shards of a run need an id in common: give all of them the same --run-id, or --start-at")
	}
	h := sha256.New()
	fmt.Fprintln(h, at.UnixNano())
	for _, kv := range o.Flags {
		if !slices.Contains(stream.ShardFlags, kv.Key) {
			fmt.Fprintf(h, "%s %q\n", kv.Key, kv.Value)
		}
	}
	return at.Format("20060102T150405Z") + "-" + hex.EncodeToString(h.Sum(nil)[:4]), nil
}

// take gives o its place. Files that each shard writes get names of their own.
func (o *options) take(place loadgen.Shard) error {
	o.Shard = place
	r := &o.Results
	index := strconv.Itoa(place.Index)
	for _, file := range []struct {
		flag string
		name *string
	}{{"-o/--record-to", &r.Stream}, {"--hlog", &r.Intervals}} {
		if name := *file.name; place.Several() && name != "" && name != "-" && !strings.Contains(name, "%t") {
			return fmt.Errorf("argument %s: %s: shards on one machine would write over each other: put %%t in it, for the shard's index", file.flag, pyjson.Quote(name))
		}
		*file.name = strings.ReplaceAll(*file.name, "%t", index)
	}
	if place.Several() && r.Filename != "" && !strings.Contains(r.Filename, "%t") {
		o.rename("", place.Name())
	}
	r.Filename = strings.ReplaceAll(r.Filename, "%t", index)
	if limit := o.Traffic.MaxConcurrency; limit != nil && *limit < place.Of {
		return fmt.Errorf("argument --max-concurrency: %d: it is split over %d shards, so it must be at least that", *limit, place.Of)
	}
	if n := o.Workload.NumPrompts; n > 0 && n < place.Of {
		return fmt.Errorf("argument --num-prompts: %d: it is split over %d shards, so it must be at least that", n, place.Of)
	}
	if prefix := &o.Workload.RequestIDPrefix; place.Several() && *prefix == "" {
		sum := sha256.Sum256([]byte(o.RunID()))
		*prefix = "bench-" + hex.EncodeToString(sum[:4]) + "-"
	}
	return nil
}
