package loadgen

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/servebench/servebench/loadgen/naming"
	"github.com/servebench/servebench/loadgen/settings"
	"github.com/servebench/servebench/metrics/stream"
)

// SharedRunID is an id that all shards of the run compute independently.
func (p *Plan) SharedRunID(env settings.Environment) (string, error) {
	job, step := env("SLURM_JOB_ID"), env("SLURM_STEP_ID")
	if job != "" && step != "" {
		return settings.ParseRunID("slurm-" + job + "-" + step)
	}
	at := p.Shard.StartAt
	if at.IsZero() {
		return "", fmt.Errorf("%s: the shards of a run need an id in common: give all of them the same %s, or %s",
			p.Program.Argument(naming.Shard), p.Program.Spell(naming.RunID), p.Program.Spell(naming.StartAt))
	}
	h := sha256.New()
	fmt.Fprintln(h, at.UnixNano())
	for _, kv := range p.Flags {
		if !slices.Contains(stream.ShardFlags, kv.Key) {
			fmt.Fprintf(h, "%s %q\n", kv.Key, kv.Value)
		}
	}
	return at.Format("20060102T150405Z") + "-" + hex.EncodeToString(h.Sum(nil)[:4]), nil
}

// newRunID is an id of a run that nobody names.
func newRunID() string { return randomHex(8) }

// randomHex returns n random bytes in hexadecimal.
func randomHex(n int) string {
	t := make([]byte, n)
	rand.Read(t)
	return hex.EncodeToString(t)
}
