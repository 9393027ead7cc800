package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/servebench/servebench/dataset"
)

// A sharded is a run that several machines are to make together: what a
// scheduler's file is printed from.
type sharded struct {
	shards  int
	startIn string
	name    string

	words []string      // of the run, as given
	run   *options      // what they ask for, checked
	ready time.Duration // how long the shards have until they start
	now   func() time.Time
	out   io.Writer
}

// newShardCommand prints for schedulers; now is the clock.
func newShardCommand(now func() time.Time) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "shard slurm|kubernetes [flags] -- run …",
		Short: "Print what makes a scheduler run one load test on many machines",
		Long: `Print what makes a scheduler run one load test on many machines: a batch script
for Slurm, a Job for Kubernetes. Each of its shards sends its part of the
requests at the times that they have in the whole, and servebench report makes
one report of them all.`,
		Example: `  servebench shard slurm --shards 8 -- run --base-url http://gpu1:8000 --num-prompts 100000 --request-rate 2000 > load.sh
  sbatch load.sh
  servebench shard kubernetes --image registry/servebench:1 -- run --base-url http://vllm:8000 > load.yaml
  kubectl apply -f load.yaml`,
		Args: cobra.ArbitraryArgs,
		RunE: func(*cobra.Command, []string) error {
			return errors.New("shard takes a scheduler, slurm or kubernetes, as in servebench shard slurm -- run --base-url http://HOST:8000")
		},
	}
	cmd.AddCommand(newSlurmCommand(now), newKubernetesCommand(now))
	return cmd
}

// command makes a verb for one scheduler, which prints once the run is checked.
func (s *sharded) command(cmd *cobra.Command, startIn string, do func() error) *cobra.Command {
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		s.out = cmd.OutOrStdout()
		if cmd.ArgsLenAtDash() != 0 || len(args) == 0 || args[0] != "run" {
			return fmt.Errorf("%s takes the run after a --, as in %[1]s -- run --base-url http://HOST:8000", cmd.CommandPath())
		}
		s.words = args[1:]
		if err := s.check(); err != nil {
			return err
		}
		return do()
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.IntVar(&s.shards, "shards", 8, "how many there are")
	f.StringVar(&s.startIn, "start-in", startIn, "`TIME` until they all start together, as 30s or 5m: so long they have to get ready")
	f.StringVar(&s.name, "name", "servebench", "name of the job")
	return cmd
}

// jobName is what both schedulers take for a name, and a run's id for a part of it.
var jobName = regexp.MustCompile(`^[a-z]([a-z0-9-]{0,38}[a-z0-9])?$`)

// shardsOwn are flags of run that are not the run's to set when it is one of
// several shards, each with what sets it.
var shardsOwn = map[string]string{
	"record-to": "each shard writes its own records, where servebench report finds them",
	"shard":     "each finds out which it is; servebench shard --shards says how many there are",
	"start-at":  "servebench shard --start-in says when they start",
	"run-id":    "the job has it; servebench shard --name names that",
}

func (s *sharded) check() (err error) {
	switch {
	case s.shards < 2 || s.shards > 1e4:
		return fmt.Errorf("--shards %d: it must be from 2 to 10000", s.shards)
	case !jobName.MatchString(s.name):
		return fmt.Errorf("--name %q: it must be of small letters, digits and dashes, begin with a letter and have at most 40", s.name)
	}
	if s.ready, err = parseSeconds(s.startIn); err != nil {
		return fmt.Errorf("--start-in: %w", err)
	}
	if s.ready < time.Second {
		return fmt.Errorf("--start-in %s: it must be a second or more", s.startIn)
	}
	if s.run, err = parseRun(s.words); err != nil {
		return fmt.Errorf("run: %w", err)
	}
	if err := s.refuse(shardsOwn); err != nil {
		return err
	}
	if err := s.keepSecrets(); err != nil {
		return err
	}
	s.run.Shard = shardOptions{Shard: dataset.Shard{Index: s.shards - 1, Of: s.shards}, Decided: true, RunID: s.name}
	if _, err = s.run.join(os.Getenv); err != nil {
		return fmt.Errorf("run: %w", err)
	}
	return nil
}

// refuse says what to do in the place of flags that are not the run's to set.
func (s *sharded) refuse(flags map[string]string) error {
	for _, kv := range s.run.Flags {
		if why := flags[kv.Key]; why != "" {
			return fmt.Errorf("run: argument --%s: leave it away: %s", kv.Key, why)
		}
	}
	return nil
}

// keepSecrets refuses words that hold what must not be shown, as what is printed
// is kept in files.
func (s *sharded) keepSecrets() error {
	_, t := newForm()
	words, err := nest(s.words)
	if err != nil {
		return err
	}
	tokens, err := t.tokens(words)
	if err != nil {
		return err
	}
	settings, err := t.settings(tokens)
	if err != nil {
		return err
	}
	for _, set := range settings {
		secret := func(v string) bool {
			return set.flag.conceal != nil && set.flag.conceal(v) != v || s.run.Server.Secrets.mask(v) != v
		}
		if slices.ContainsFunc(set.values, secret) {
			return fmt.Errorf("run: argument --%s: what is printed would show a secret: "+
				"put a bearer token into OPENAI_API_KEY and other headers into a --config file that the shards can read", set.flag.name)
		}
	}
	return nil
}

// seconds are how long the shards have until they start, in whole seconds.
func (s *sharded) seconds() int {
	return int((s.ready + time.Second - 1) / time.Second)
}

// start is when the shards start, a whole second.
func (s *sharded) start() time.Time {
	return s.now().Add(s.ready + time.Second - 1).Truncate(time.Second).UTC()
}
