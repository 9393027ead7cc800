package loadgen

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
	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/gpu"
	"github.com/servebench/servebench/metrics/scrape"
)

// introduction bounds the calls that ask a server for its version.
const introduction = 2 * time.Second

// start is the start of the server that the load will measure; nil if unknown, and for several
// replicas. What the caller knows has precedence over what the server says in /metrics, and that over
// the process that listens at the address.
func (t *target) start(ctx context.Context, inMemory bool) *metrics.ServerStart {
	var s metrics.ServerStart
	if !inMemory {
		s = t.foundStart()
	}
	if known := t.Server.Start; known != nil {
		s.ID, s.By, s.Began = known.ID, known.By, known.Began
	}
	if s.ID == "" {
		return nil
	}
	if !inMemory {
		s.Version = t.version(ctx)
	}
	return &s
}

// foundStart is the start by /metrics, or else by the listener. Its ID is empty if neither says it.
func (t *target) foundStart() (s metrics.ServerStart) {
	if len(t.Watch.URLs) > 1 {
		return s
	}
	p, known := t.listener()
	if known {
		s = metrics.ServerStart{ID: p.ID, By: "listener", Began: p.Began, PID: p.PID}
	}
	if len(t.witness.before) == 1 && t.witness.before[0].Sample.Start != nil {
		at := *t.witness.before[0].Sample.Start
		s.ID, s.By = strconv.FormatFloat(at, 'f', -1, 64), t.witness.before[0].StartedBy
		whole, part := math.Modf(at)
		s.Began = time.Unix(int64(whole), int64(part*1e9))
		if known && !listensFor(p, &s) {
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

// listener is the process that listens at the target's address on this machine.
func (t *target) listener() (p host.Process, known bool) {
	if t.Server.Dial != nil || len(t.Watch.URLs) > 0 {
		return p, false
	}
	if t.Server.Socket != "" {
		return host.Listener("unix", t.Server.Socket)
	}
	u, err := url.Parse(t.Server.BaseURL)
	if err != nil {
		return p, false
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return host.Listener("tcp", net.JoinHostPort(u.Hostname(), port))
}

// pid is the process that listened at the target's address before the load; 0 if that is unknown.
func (t *target) pid() int {
	if t.header.Server == nil {
		return 0
	}
	return t.header.Server.PID
}

// underMPS is what MPS says about the server; nil if the server's process is unknown, or is not to run
// under MPS.
func (t *target) underMPS(ctx context.Context, when string) []gpu.MPS {
	pid := t.pid()
	if pid == 0 {
		return nil
	}
	m := host.UnderMPS(ctx, slices.Concat(t.Server.Environment, host.Environment(pid)), host.FamilyOf(pid))
	if m == nil {
		return nil
	}
	m.When = when
	return []gpu.MPS{*m}
}

// restarted says that the process which listens now is another than before the load; empty if it may
// be the same.
func (t *target) restarted() string {
	before := t.header.Server
	if before == nil || before.PID == 0 {
		return ""
	}
	now, known := t.listener()
	if !known || now.PID == before.PID {
		return ""
	}
	return fmt.Sprintf("process %d listened at its address before the load, and process %d after it", before.PID, now.PID)
}

// version is the version that the server says, over a connection that the load does not use.
func (t *target) version(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, introduction)
	defer cancel()
	transport := t.transport.Apart()
	defer transport.CloseIdleConnections()
	return t.Server.Secrets.Mask(t.server.With(transport, introduction).Version(ctx))
}
