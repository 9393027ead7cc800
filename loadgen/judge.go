package loadgen

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/servebench/servebench/loadgen/host"
	"github.com/servebench/servebench/loadgen/naming"
	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect/gpus"
	"github.com/servebench/servebench/metrics/evidence"
)

// judge is the last stage of a load test: it makes summaries of what was measured, and says whether to believe them.
type judge struct{ *measured }

// run returns a summary for each target. There are both summaries and an error if the load was cut short.
func (j judge) run(ctx context.Context) ([]*metrics.Summary, error) {
	ctx = context.WithoutCancel(ctx)
	var sums []*metrics.Summary
	atOnce := 0
	for _, m := range j.targets {
		s := j.summary(m)
		atOnce += s.Truth.PeakConcurrency
		sums = append(sums, s)
	}
	gpus.Split(sums)
	for i, m := range j.targets {
		s := sums[i]
		if j.seen != nil {
			s.Evidence, s.Client.Age = m.evidence(*j.seen), metrics.FromHistogram(m.server.tally.Ages())
			s.Evidence.OtherInFlight = atOnce - s.Truth.PeakConcurrency
			s.Evidence.GPU = j.gpus.State(&m.process)
		}
		s.Printed.Probes, s.Ending.Incomplete = m.probes.results, append(s.Ending.Incomplete, m.short(s)...)
		s.Ending.Warnings = append(append(append(s.Ending.Warnings, m.numbers.warmUp.warnings()...), m.unsent(s)...),
			m.short(s)...)
		m.witness.Report(ctx, s, m.witness.Most(m.probes.sent(), m.plan.Shard.Of))
		changes, err := m.rateChanges()
		if err != nil {
			return nil, m.named(err)
		}
		s.Printed.RateChanges = changes
	}
	return sums, j.cut
}

// summary is the summary of a target, before others and the server are heard.
func (j judge) summary(m *measurement) *metrics.Summary {
	s := m.numbers.collector.Summary(m.took(j.took).Seconds())
	s.Ending.Interrupted, s.Ending.StoppedBy = j.interrupted, j.stoppedBy()
	s.Ending.Warnings = append(s.Ending.Warnings, m.plan.Shard.Late(m.header.Epoch, m.plan.Program.Spelling)...)
	s.Ending.Warnings = append(s.Ending.Warnings, m.watches.Troubles()...)
	if !m.plan.Watch.OwnGPU {
		s.Ending.Warnings = append(s.Ending.Warnings, j.gpus.Shared.Troubles()...)
	}
	return s
}

// evidence is what was seen of this process and of the target's connections.
func (m *measurement) evidence(seen evidence.Evidence) *evidence.Evidence {
	server, c := &m.plan.Server, m.server
	c.tally.Report(&seen)
	seen.Connections.Proxy, seen.Selftest = c.transport.Proxy(server.BaseURL), m.selftest()
	seen.Connections.Names = c.names.Report()
	seen.Connections.Unverified = server.Transport.Insecure && strings.HasPrefix(server.BaseURL, "https:")
	seen.CPU.MayPrioritize = host.MayPrioritize()
	seen.WriteBlocked, seen.Server.Restarted = m.numbers.recorder.blocked(), m.process.Restarted()
	return &seen
}

// selftest is the result of the last selftest of this machine.
func (m *measurement) selftest() *evidence.Selftest {
	if m.plan.Selftest == nil {
		return nil
	}
	v, err := m.plan.Selftest()
	if err != nil {
		m.say("WARNING: %v", err)
	}
	return v
}

// took is how long the measured load of this target took, in a load test that took all. What a warm-up
// still had in flight does not count.
func (m *measurement) took(all time.Duration) time.Duration {
	last := m.numbers.last
	switch {
	case last == 0:
	case m.plan.Target != "", m.plan.Traffic.WarmUp > 0:
		all = min(all, max(last, m.lasts))
	}
	return max(0, all-m.header.Began())
}

// rateChanges are the rate changes of a ramp, up to the last request.
func (m *measurement) rateChanges() ([]metrics.RateChange, error) {
	rises, err := m.workload.Arrivals().RateRises(m.workload.N)
	var changes []metrics.RateChange
	for _, r := range rises {
		if until := m.plan.Traffic.Duration; until == 0 || r.Offset < until {
			changes = append(changes, metrics.RateChange{RPS: r.RPS, At: m.header.Epoch.Add(m.header.Began() + r.Offset)})
		}
	}
	return changes, err
}

// unsent says that a curve whose last rate is 0 had fewer requests than prompts.
func (m *measurement) unsent(s *metrics.Summary) []string {
	if m.plan.Traffic.Curve == nil || !m.lacks(s) {
		return nil
	}
	return []string{fmt.Sprintf("%s: its last rate is 0: %d of %s %d were sent", m.plan.Program.Spell(naming.Curve),
		m.numbers.begun, m.plan.Program.Spell(naming.NumPrompts), m.share())}
}

// short says that the caller's Source ended early.
func (m *measurement) short(s *metrics.Summary) []string {
	if m.plan.Workload.Source == nil || !m.lacks(s) {
		return nil
	}
	return []string{fmt.Sprintf("%s were asked for, and the Source ended after %d", metrics.Counted(m.share(), "request"),
		m.numbers.begun)}
}

// lacks reports whether fewer requests were sent than were asked for, though neither time nor anybody ended the load.
func (m *measurement) lacks(s *metrics.Summary) bool {
	return m.plan.Traffic.Duration == 0 && !s.Ending.Interrupted && m.numbers.begun < m.share()
}
