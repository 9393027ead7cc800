package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/servebench/servebench/loadgen"
	"github.com/servebench/servebench/metrics/pyjson"
)

// join sets the shard to which --shard or, without it, the environment assigns this process, and
// makes the whole run's id. It returns a message if the environment decided.
func (o *options) join(env loadgen.Environment) (said string, err error) {
	place := o.Shard
	if !o.ShardGiven {
		if place.Shard, said, err = env.Shard(); err != nil {
			return "", err
		}
	}
	alone := !place.Several() && place.StartAt.IsZero() && place.RunID == ""
	if (o.Repeat > 1 || o.SoloFirst) && !alone {
		return "", errors.New("argument --shard: --repeat and --solo-first make runs one after the other, which shards cannot begin together, " +
			"and --start-at and --run-id are of one run: leave the two away, or give --shard none without these")
	}
	if place.RunID == "" && place.Several() {
		if place.RunID, err = o.SharedRunID(env); err != nil {
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
