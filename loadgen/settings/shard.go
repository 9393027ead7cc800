package settings

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/loadgen/naming"
	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/pyjson"
)

// Shard says which part of a run this process sends, if several load generators share the run, and
// when all of them begin.
type Shard struct {
	// Shard is the part; the zero value is the whole run.
	dataset.Shard

	// StartAt is when the load begins, by the reference clock; zero means at once.
	StartAt time.Time

	// RunID is the id of the whole run; empty makes a new one.
	RunID string

	// ClockOffset is our wall clock less the reference clock; nil asks the system.
	ClockOffset *time.Duration
}

// Start is StartAt by this machine's clock; zero means at once.
func (s *Shard) Start() time.Time {
	if s.StartAt.IsZero() || s.ClockOffset == nil {
		return s.StartAt
	}
	return s.StartAt.Add(*s.ClockOffset)
}

// Late says by how much a load that began at epoch was late, if it was. by spells the setting that it names.
func (s *Shard) Late(epoch time.Time, by naming.Spelling) []string {
	late := epoch.Sub(s.Start())
	if s.StartAt.IsZero() || late <= 0 {
		return nil
	}
	who := "the load"
	if s.Several() {
		who = fmt.Sprintf("shard %d", s.Index)
	}
	after := fmt.Sprintf("%.1f s", late.Seconds())
	if late < time.Second {
		after = fmt.Sprintf("%.1f ms", late.Seconds()*1e3)
	}
	return []string{fmt.Sprintf("%s began %s after %s", who, after, by.Spell(naming.StartAt))}
}

// ShareOf is the shard's share of a limit; 0 for nil, which is no limit.
func (s *Shard) ShareOf(limit *int) int {
	if limit == nil {
		return 0
	}
	return s.Share(*limit)
}

// Name is the shard's name in file names.
func (s *Shard) Name() string { return fmt.Sprintf("shard%d", s.Index) }

// Part is the shard's share of a run with Config c. A ramp, a curve and the dataset's own times are
// not divided.
func (s *Shard) Part(c metrics.Config) metrics.Config {
	if !s.Several() {
		return c
	}
	c.NumPrompts, c.MaxConcurrency, c.MaxSessions = s.Share(c.NumPrompts), s.Share(c.MaxConcurrency),
		s.Share(c.MaxSessions)
	c.RequestRate /= float64(s.Of)
	c.Label = cmp.Or(c.Label, c.Backend) + "-" + s.Name()
	c.Metadata = append(slices.Clone(c.Metadata), metrics.KV{Key: "shard", Value: fmt.Sprintf("%d/%d", s.Index, s.Of)})
	return c
}

// RunIDOf is the id of the run of a target, empty for any. A single target has an empty name.
func (s *Shard) RunIDOf(target string) string {
	if s.RunID == "" || target == "" {
		return s.RunID
	}
	return s.RunID + "-" + target
}

// maxShards is far more than anyone has.
const maxShards = 1_000_000

// ParseShard reads 0/8, or none for the whole run.
func ParseShard(text string) (dataset.Shard, error) {
	if text == "none" {
		return dataset.Shard{}, nil
	}
	index, of, _ := strings.Cut(text, "/")
	number := func(text string) (int, error) {
		return strconv.Atoi(strings.ReplaceAll(strings.TrimSpace(text), "_", ""))
	}
	i, err := number(index)
	n, err2 := number(of)
	switch {
	case err != nil || err2 != nil || n < 1 || n > maxShards:
		return dataset.Shard{}, fmt.Errorf("invalid shard: %s: it must be I/N as 0/8, or none", pyjson.Quote(text))
	case i < 0 || i >= n:
		return dataset.Shard{}, fmt.Errorf("invalid shard: %s: of %d, it must be from 0 to %d", pyjson.Quote(text), n, n-1)
	}
	return dataset.Shard{Index: i, Of: n}, nil
}

// An Environment returns the value of a variable, empty if it is not set.
type Environment func(name string) string

// Shard is the shard that a Slurm step or a Kubernetes Job assigns; the whole run outside of them.
// A Slurm batch script also sees a number of tasks but is none of them, and an interactive step
// sees the tasks of its job. by spells the setting that messages name.
func (env Environment) Shard(by naming.Spelling) (shard dataset.Shard, said string, err error) {
	step := env("SLURM_STEP_ID") != ""
	alone := by.Given(naming.Shard, "none", "Shard{}") + " runs alone"
	for _, from := range []struct {
		name, index, of string
		there           bool
	}{
		{"Slurm's SLURM_PROCID", env("SLURM_PROCID"), cmp.Or(env("SLURM_STEP_NUM_TASKS"), env("SLURM_NTASKS")), step},
		{"Kubernetes' JOB_COMPLETION_INDEX", env("JOB_COMPLETION_INDEX"), env("SERVEBENCH_SHARDS"), true},
	} {
		if !from.there || from.index == "" || from.of == "" || from.of == "1" {
			continue
		}
		if shard, err = ParseShard(from.index + "/" + from.of); err != nil {
			return shard, "", fmt.Errorf("%s: %w: %s", from.name, err, alone)
		}
		return shard, fmt.Sprintf("shard %d of %d, by %s: %s", shard.Index, shard.Of, from.name, alone), nil
	}
	return shard, "", nil
}

var runIDPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)
})

// ParseRunID reads the id of a run: up to 64 letters, digits, dots, dashes and underlines.
func ParseRunID(text string) (string, error) {
	if !runIDPattern().MatchString(text) {
		return "", fmt.Errorf("invalid id: %s: it must be of letters, digits, dots, dashes and underlines, at most 64",
			pyjson.Quote(text))
	}
	return text, nil
}
