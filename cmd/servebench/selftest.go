package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/servebench/servebench/loadgen"
)

// A selftest is the verb: how accurate is this machine?
type selftest struct {
	streams  []int
	duration time.Duration
	quick    bool
	json     bool
	noStore  bool

	chosen    bool // --streams was given
	out, talk io.Writer
}

func newSelftestCommand() *cobra.Command {
	t := &selftest{talk: os.Stderr}
	cmd := &cobra.Command{
		Use:   "selftest [flags]",
		Short: "Measure how accurate this machine measures",
		Long:  selftestHelp,
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			t.out = cmd.OutOrStdout()
			t.chosen = cmd.Flags().Changed("streams")
			return t.run(cmd.Context())
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.BoolVar(&t.quick, "quick", false, "fewer and shorter rows, within 50 s")
	f.IntSliceVar(&t.streams, "streams", []int{64, 256, 1024, 2048, 4096}, "streams of the rows in steps; when given, the rows of starts are left out")
	f.DurationVar(&t.duration, "duration", 4*time.Second, "how long each row lasts once all streams have started")
	f.BoolVar(&t.json, "json", false, "print one JSON object instead of tables")
	f.BoolVar(&t.noStore, "no-store", false, "do not keep the result for servebench run to compare itself with")
	return cmd
}

const selftestHelp = `Measure how accurate this machine measures.

Selftest starts a server in a process of its own that writes into each event
when it wrote it and when the request came, as the kernel saw it. It loads that
server as servebench run loads one, and compares what was measured with the
truth. Client and server share the cores, as they are not pinned to any.

A row "N per S ms" has N streams that get their tokens at the same instants, as
an engine's step makes them, every S ms; they start one by one, and events count
once all have. "At once" starts 1024 streams at one instant, "Poisson" starts
395 streams a second at random; their first token comes 50 ms after the
request, the others every 20 ms.

  stamp   when an event arrived, less when it was written
  TTFT    first arrival less sending, against first write less the request's arrival
  ITL     between two arrivals, against between the two writes
  shared  events that came in one read with an earlier one: the kernel keeps one
          stamp for both, and the error is bounded by max_age of the record
  CPU     of the client, starting included, connecting not
  RSS     memory that a stream takes, beside what the selftest itself notes
  others  CPU time of other processes, as a share of one core; interrupts not counted
  late    events that the server wrote when their stream's next one was due already

A row that was disturbed is marked void and vouches for nothing. The machine is
trusted up to the largest row in steps that has, as has each smaller one, an
error at p99 of 1 ms at most in ITL and of 10 ms at most in TTFT.

The result is kept in the user's configuration folder, as
servebench/selftest.json, if a row in steps was valid.

The keys of --json name their units: _us, _ms, _s, _kib, _percent. rows has an
object for each row: load (steps, at-once, poisson), streams, step_ms, events,
events_per_s; stamp_error, ttft_error and itl_error with samples, p50_us,
p99_us, p99_9_us and max_us; ttft_mean_ms, ttft_p99_ms and itl_p99_ms with
measured and true; kernel_stamped_percent and shared_reads_percent of the
events; beyond_bound, the requests with a stamp further off than max_age;
cpu_per_event_us, server_cpu_per_event_us, rss_per_stream_kib,
server_late_percent; failed requests and the first failure;
others_percent_of_core and stolen_percent of the machine's CPU time, null where
the system does not tell; clock_step_ms; and void, the reason why the row says
nothing. Beside rows stand version, date, host, system, cores, void_above,
left_out, trusted_streams and verdict.`

func (t *selftest) run(ctx context.Context) error {
	if err := t.settle(); err != nil {
		return err
	}
	ctx, stop := interruptible(ctx)
	defer stop()
	result := newSelftestResult()
	if !t.json {
		writeSelftestHead(t.out, result)
	}
	loads, err := t.loads(result)
	if err != nil {
		return err
	}
	for _, l := range loads {
		fmt.Fprintf(t.talk, "measuring %s, some %.0f s\n", l.name, max(l.lasts().Seconds(), 1))
		row, err := l.measure(ctx)
		switch {
		case ctx.Err() != nil:
			return exitError{errors.New("interrupted"), exitInterrupted}
		case err != nil:
			return exitError{fmt.Errorf("measuring %s: %w", l.name, err), exitNo}
		case row.Failed == l.requests:
			return exitError{fmt.Errorf("measuring %s: all requests failed: %s", l.name, row.Failure), exitNo}
		}
		result.Rows = append(result.Rows, *row)
	}
	result.judge()
	return t.tell(result)
}

// settle checks the flags and completes them.
func (t *selftest) settle() error {
	if t.duration <= 0 {
		return fmt.Errorf("--duration %v: must be above 0", t.duration)
	}
	if t.quick {
		t.duration = min(t.duration, 1500*time.Millisecond)
		if !t.chosen {
			t.streams = []int{64, 256, 1024}
		}
	}
	if slices.Sort(t.streams); len(t.streams) == 0 || t.streams[0] < 1 {
		return errors.New("--streams: must be numbers of 1 or more, with commas between them")
	}
	t.streams = slices.Compact(t.streams)
	return nil
}

// loads are the rows to come. Those that this machine has no descriptors or
// ports for are left out and named in the result.
func (t *selftest) loads(result *selftestResult) ([]*selftestLoad, error) {
	var loads []*selftestLoad
	for _, n := range t.streams {
		loads = append(loads, stepsLoad(n, t.duration))
	}
	if !t.chosen {
		burst, err := atOnceLoad()
		if err != nil {
			return nil, err
		}
		poisson, err := poissonLoad(t.duration)
		if err != nil {
			return nil, err
		}
		loads = append(loads, burst, poisson)
	}
	fit := loads[:0]
	for _, l := range loads {
		if err := loadgen.CheckSockets(l.streams); err != nil {
			result.Left = append(result.Left, fmt.Sprintf("%s: %v", l.name, err))
			continue
		}
		fit = append(fit, l)
	}
	if len(fit) == 0 {
		return nil, exitError{fmt.Errorf("nothing can be measured: %s", result.Left[0]), exitNo}
	}
	return fit, nil
}

// tell prints the result and keeps it.
func (t *selftest) tell(result *selftestResult) error {
	var err error
	if t.json {
		lines := json.NewEncoder(t.out)
		lines.SetIndent("", "  ")
		err = lines.Encode(result)
	} else {
		err = writeSelftestTables(t.out, result)
	}
	if err != nil {
		return exitError{err, exitNo}
	}
	if best, wrong := result.trusted(); t.noStore || best == nil && wrong == nil {
		return nil
	}
	if err := storeSelftest(result); err != nil {
		fmt.Fprintln(t.talk, "WARNING: the result is not kept:", err)
	}
	return nil
}
