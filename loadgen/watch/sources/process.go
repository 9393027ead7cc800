package sources

import (
	"context"
	"fmt"
	"math"
	"net"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/servebench/servebench/loadgen/host"
	"github.com/servebench/servebench/loadgen/openai"
	"github.com/servebench/servebench/loadgen/watch"
	"github.com/servebench/servebench/loadgen/wire"
	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/gpu"
	"github.com/servebench/servebench/metrics/samples"
	"github.com/servebench/servebench/metrics/scrape"
)

// A Process is what is known of a server's process.
type Process struct {
	Target

	// Start is the start of the server that the load measures; nil if unknown, and for several replicas.
	Start *metrics.ServerStart

	// mps is what MPS said before the load and, once its sampler has ended, after it; nil for a server without MPS.
	mps []gpu.MPS
}

// introduction bounds the calls that ask a server for its version.
const introduction = 2 * time.Second

// Find looks for the start of the server, by the caller and by what it counted. A server in memory is in this process.
// What the caller knows has precedence over what the server says in /metrics, and that over the process
// that listens at the address.
func (p *Process) Find(ctx context.Context, calls *openai.Server, apart *wire.Transport, before []scrape.Counters) {
	inMemory := p.Server.Handler != nil
	var s metrics.ServerStart
	if !inMemory {
		s = p.found(before)
	}
	if known := p.Server.Start; known != nil {
		s.ID, s.By, s.Began = known.ID, known.By, known.Began
	}
	if s.ID == "" {
		return
	}
	if !inMemory {
		s.Version = p.Server.Secrets.Mask(version(ctx, calls, apart))
	}
	p.Start = &s
	p.mps = p.underMPS(ctx, gpu.Before)
}

// found is the start by /metrics, or else by the listener. Its ID is empty if neither says it.
func (p *Process) found(before []scrape.Counters) (s metrics.ServerStart) {
	if len(p.Watch.URLs) > 1 {
		return s
	}
	at, known := p.Listener()
	if known {
		s = metrics.ServerStart{ID: at.ID, By: "listener", Began: at.Began, PID: at.PID}
	}
	if len(before) == 1 && before[0].Sample.Start != nil {
		said := *before[0].Sample.Start
		s.ID, s.By = strconv.FormatFloat(said, 'f', -1, 64), before[0].StartedBy
		whole, part := math.Modf(said)
		s.Began = time.Unix(int64(whole), int64(part*1e9))
		if known && !listensFor(at, &s) {
			s.PID = 0
		}
	}
	return s
}

// listensFor reports whether the process that listens may be the server's whose start /metrics tells. A
// proxy listens for a server that began at another time. A server creates its counters after it began.
func listensFor(p host.Process, s *metrics.ServerStart) bool {
	if s.By == scrape.StartTime {
		return host.FamilyOf(p.PID).Began(s.Began)
	}
	return !s.Began.Before(p.Began)
}

// Listener is the process that listens at the server's address on this machine.
func (p *Process) Listener() (at host.Process, known bool) {
	if p.Server.Dial != nil || len(p.Watch.URLs) > 0 {
		return at, false
	}
	if p.Server.Socket != "" {
		return host.Listener("unix", p.Server.Socket)
	}
	u, err := url.Parse(p.Server.BaseURL)
	if err != nil {
		return at, false
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return host.Listener("tcp", net.JoinHostPort(u.Hostname(), port))
}

// PID is the process that listened at the address before the load; 0 if that is unknown.
func (p *Process) PID() int {
	if p.Start == nil {
		return 0
	}
	return p.Start.PID
}

// underMPS is what MPS says about the server; nil if the server's process is unknown, or is not to run
// under MPS.
func (p *Process) underMPS(ctx context.Context, when string) []gpu.MPS {
	pid := p.PID()
	if pid == 0 {
		return nil
	}
	m := host.UnderMPS(ctx, slices.Concat(p.Server.Environment, host.Environment(pid)), host.FamilyOf(pid))
	if m == nil {
		return nil
	}
	m.When = when
	return []gpu.MPS{*m}
}

// Restarted says that the process which listens now is another than before the load; empty if it may
// be the same.
func (p *Process) Restarted() string {
	if p.PID() == 0 {
		return ""
	}
	now, known := p.Listener()
	if !known || now.PID == p.PID() {
		return ""
	}
	return fmt.Sprintf("process %d listened at its address before the load, and process %d after it", p.PID(), now.PID)
}

// UnderMPS reports whether MPS knew the server before the load.
func (p *Process) UnderMPS() bool { return p.mps != nil }

// Open adds to a set what looks at MPS after the load, if the server was under MPS before it.
func (p *Process) Open(to *watch.Set) {
	if p.UnderMPS() {
		to.Add("MPS", p.lookAgain)
	}
}

// lookAgain is the sampler of MPS. It takes no samples.
func (p *Process) lookAgain(ctx context.Context, _ time.Time, _ func(*samples.Sample)) {
	<-ctx.Done()
	p.mps = append(p.mps, p.underMPS(context.WithoutCancel(ctx), gpu.After)...)
}

// version is the version that the server says, over a connection that the load does not use.
func version(ctx context.Context, calls *openai.Server, apart *wire.Transport) string {
	ctx, cancel := context.WithTimeout(ctx, introduction)
	defer cancel()
	defer apart.CloseIdleConnections()
	return calls.With(apart, introduction).Version(ctx)
}
