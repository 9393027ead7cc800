package main

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/servebench/servebench/cmd/servebench/internal/argv"
	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/metrics/pyjson"
)

// shardFlags are those of a run that several machines share.
type shardFlags struct{ *options }

func (g *shardFlags) define(f *argv.Flags) {
	s := &g.Shard
	f.Func("shard", "`I/N` send the part I, from 0, of a run that N load generators share; none sends all (default what a Slurm step or servebench shard's Kubernetes Job says)", func(text string) (err error) {
		g.ShardGiven = true
		s.Shard, err = parseShard(text)
		return err
	})
	f.Var(argv.Parsed(&s.StartAt, "", parseInstant), "start-at", "`TIME` when the load begins, on all shards: as 2026-11-22T02:15:00.5Z, or Unix seconds")
	f.Var(argv.Parsed(&s.RunID, "", parseRunID), "run-id", "`TEXT` the run's id, the same for all shards (default Slurm's job and step, or made from --start-at and the flags)")
	f.Var(argv.Optional(&s.ClockOffset, parseOffset), "clock-offset", "`TIME` by how much this machine's clock is ahead of the one that all shards go by, as --clock-offset=-0.3ms (default what the system knows)")
}

// maxShards is far more than anybody has.
const maxShards = 1_000_000

// parseShard reads 0/8, or none.
func parseShard(text string) (dataset.Shard, error) {
	if text == "none" {
		return dataset.Shard{}, nil
	}
	index, of, _ := strings.Cut(text, "/")
	i, err := argv.ParseInt(index)
	n, err2 := argv.ParseInt(of)
	switch {
	case err != nil || err2 != nil || n < 1 || n > maxShards:
		return dataset.Shard{}, fmt.Errorf("invalid shard: %s: it must be I/N as 0/8, or none", pyjson.Quote(text))
	case i < 0 || i >= n:
		return dataset.Shard{}, fmt.Errorf("invalid shard: %s: of %d, it must be from 0 to %d", pyjson.Quote(text), n, n-1)
	}
	return dataset.Shard{Index: i, Of: n}, nil
}

var unixSeconds = regexp.MustCompile(`^(\d{1,11})(?:\.(\d{1,9})\d*)?$`)

// parseInstant reads a point in time to the nanosecond.
func parseInstant(text string) (time.Time, error) {
	if m := unixSeconds.FindStringSubmatch(text); m != nil {
		seconds, err := strconv.ParseInt(m[1], 10, 64)
		if err != nil {
			return time.Time{}, err
		}
		nanos, err := strconv.ParseInt(m[2]+strings.Repeat("0", 9-len(m[2])), 10, 64)
		return time.Unix(seconds, nanos).UTC(), err
	}
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return at, fmt.Errorf("invalid time: %s: it must be as 2026-11-22T02:15:00.5Z, or in seconds since 1970", pyjson.Quote(text))
	}
	return at.UTC(), nil
}

// maxOffset is how wrong a clock may be.
const maxOffset = 366 * 24 * time.Hour

// parseOffset reads a time that may be negative.
func parseOffset(text string) (time.Duration, error) {
	digits, negative := strings.CutPrefix(strings.TrimSpace(text), "-")
	d, err := argv.ParseSeconds(digits)
	seconds, notNumber := argv.ParseFloat(digits) // of which parseSeconds makes 0 where they are too many
	if err != nil || d > maxOffset || notNumber == nil && seconds > maxOffset.Seconds() {
		return 0, fmt.Errorf("invalid offset: %s: it must be seconds, or a number with a unit as in -0.3ms", pyjson.Quote(text))
	}
	if negative {
		d = -d
	}
	return d, nil
}

var runIDPattern = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

func parseRunID(text string) (string, error) {
	if !runIDPattern.MatchString(text) {
		return "", fmt.Errorf("invalid id: %s: it must be of letters, digits, dots, dashes and underlines, at most 64", pyjson.Quote(text))
	}
	return text, nil
}
