package sweep

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/servebench/servebench/loadgen"
	"github.com/servebench/servebench/loadgen/dry"
	"github.com/servebench/servebench/loadgen/spool"
	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/compare/brief"
)

// A Job is a run to make.
type Job struct {
	Plan *loadgen.Plan // the Load's Plan, with what the sweep adds
	Arm  string
	Log  io.Writer // takes the messages of the run

	cell  cell
	name  string   // of the cell, in words, with the value of a search
	args  []string // command line
	value *float64 // of a search
	notes []string // remarks next to the numbers
	lost  error    // error that kept the records from being written

	dried   dry.Servers          // that are simulated; nil for real ones
	started *metrics.ServerStart // of the arm's servers; nil if the sweep has not started them
	servers []*process           // that it has started
}

// An Outcome is the result of a run.
type Outcome struct {
	Sums []*metrics.Summary // one for each target

	// Counted is called once the run is in the journal; nil does nothing. Its error ends
	// the sweep.
	Counted func() error
}

// runOf is the id of a run in the journal: the group's id if there are several targets.
func runOf(s *metrics.Summary) string { return cmp.Or(s.Header.Group, s.Header.Run) }

// load makes one run and reports its result.
func (s *Sweep) load(ctx context.Context, job *Job) (*Outcome, error) {
	s.say("%s", s.progress(job))
	fmt.Fprintf(s.log, "--- %s: %s: servebench run %s\n", time.Now().Format(time.DateTime), job.name,
		s.mask(strings.Join(job.args, " ")))
	out, err := s.measure(ctx, job)
	if err = cmp.Or(job.lost, err); err != nil {
		fmt.Fprintln(s.log, "servebench:", s.mask(err.Error()))
	}
	if out != nil && job.lost == nil {
		for _, sum := range out.Sums {
			s.say("  %s", told(sum))
		}
	}
	return out, err
}

// measure makes one run. Its records go to the sweep's stream.
func (s *Sweep) measure(ctx context.Context, job *Job) (*Outcome, error) {
	load, err := s.Plan.loads.flags.Load(job.args, nil)
	if err != nil {
		return nil, err
	}
	job.Plan = load.Plan
	job.Plan.Repeat, job.Plan.Backward = 1, job.cell.repeat%2 == 1
	job.Plan.Limits.Drain = 0 // a run that is cut short is repeated
	for _, target := range load.targets() {
		target.Report.Metadata = append(target.Report.Metadata, metrics.KV{Key: "arm", Value: job.Arm})
		target.Report.Metadata = append(target.Report.Metadata, s.Plan.Arms[job.cell.arm].Labels...)
		target.Report.Metadata = append(target.Report.Metadata,
			metrics.KV{Key: "repeat", Value: fmt.Sprint(job.cell.repeat + 1)})
		target.Server.Start, target.Server.Environment = job.startOf(target), job.environmentOf(target)
		if q := s.Plan.Sequential; q != nil {
			target.Report.Metadata = append(target.Report.Metadata, metrics.KV{Key: "max-pairs", Value: fmt.Sprint(q.Pairs)})
			target.Report.Rule = &metrics.Rule{Old: s.Plan.Arms[0].Name, New: s.Plan.Arms[1].Name, Gate: q.Gate.Text()}
			if slices.Contains(q.Gate.Despite, "suspect") {
				target.Report.Metadata = append(target.Report.Metadata, brief.UsedAnyway)
			}
		}
		s.reset(ctx, target, job)
	}
	records := spool.To(s.journal.records)
	records.Say = func(format string, args ...any) { fmt.Fprintf(s.log, format+"\n", args...) }
	job.Plan.Keep.Records = records
	out, err := load.run(ctx, job)
	records.End(spool.Waiting{Context: ctx})
	job.lost = cmp.Or(job.lost, records.Broken())
	return out, err
}

// startOf is the start of a target's server; nil if the sweep has not started it.
func (j *Job) startOf(target *loadgen.Plan) *metrics.ServerStart {
	if j.started == nil || target.Target == "" {
		return j.started
	}
	start := *j.started
	start.ID += "-" + target.Target
	return &start
}

// environmentOf is what the sweep gave the process of a target's server; nil if it has not started it.
func (j *Job) environmentOf(target *loadgen.Plan) (environment []string) {
	at, err := url.Parse(target.Server.BaseURL)
	if err != nil {
		return nil
	}
	for _, p := range j.servers {
		if ready, err := url.Parse(p.server.Ready); err != nil || ready.Host != at.Host {
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(p.server.Env)) {
			environment = append(environment, name+"="+p.server.Env[name])
		}
	}
	return environment
}

// reset makes a server forget the prompts of earlier runs, if the plan says so.
func (s *Sweep) reset(ctx context.Context, target *loadgen.Plan, job *Job) {
	if !s.Plan.Between.Reset || job.dried != nil {
		return
	}
	if err := target.ResetPrefixCache(ctx); err != nil {
		note := "the prefix cache was not reset: " + s.mask(err.Error())
		job.notes = append(job.notes, note)
		s.say("WARNING: %s", note)
	}
}

// told is the result of a run in one line. If the TTFT that decides a search is not vLLM's, it
// has both.
func told(sum *metrics.Summary) string {
	var line strings.Builder
	if sum.Header.Target != "" {
		line.WriteString(sum.Header.TargetName() + ": ")
	}
	fmt.Fprintf(&line, "%d of %d requests, %.2f req/s, mean TTFT %.2f ms, mean TPOT %.2f ms", sum.Completed,
		sum.Completed+sum.Failed,
		sum.Rates.Requests, sum.TTFT.Mean(), sum.TPOT.Mean())
	if d, words := sum.Decisive("ttft"); words != "" {
		fmt.Fprintf(&line, ", mean TTFT %s %.2f ms", words, d.Mean())
	}
	if sum.Trust != nil {
		fmt.Fprintf(&line, ", %s", sum.Trust.Verdict)
	}
	return line.String()
}
