package main

import (
	"context"
	"net"
	"net/netip"
	"time"

	"github.com/servebench/servebench/loadgen/selftest/metronome"
)

// A metronomeJob is a metronome in a process of its own. It replies with its
// address at once, and with its count when its stdin is closed.
type metronomeJob struct{ ITL time.Duration }

func (j metronomeJob) run() (any, error) {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	m := &metronome.Server{ITL: j.ITL, Aligned: j.ITL > 0}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go m.Serve(ctx, listener)
	if err := reply(listener.Addr().(*net.TCPAddr).AddrPort()); err != nil {
		return nil, err
	}
	untilAbandoned()
	return m.Count(), nil
}

// A beater is a metronome that runs.
type beater struct {
	*child
	addr netip.AddrPort
}

// startMetronome writes to all streams every itl, or at once where that is zero.
func startMetronome(cpu int, itl time.Duration) (*beater, error) {
	c, err := spawn(cpu, metronomeJob{itl})
	if err != nil {
		return nil, err
	}
	m := &beater{child: c}
	if err := c.answer(&m.addr); err != nil {
		c.Process.Kill()
		return nil, c.finish(nil)
	}
	return m, nil
}

// stop ends the server and gives what it did.
func (m *beater) stop() (count metronome.Count, err error) {
	return count, m.finish(&count)
}

// against does j in a child on one CPU while a metronome serves on another.
func against[R any](p *plan, itl time.Duration, j func(addr netip.AddrPort) job) (result R, count metronome.Count, err error) {
	server, err := startMetronome(p.serverCPU, itl)
	if err != nil {
		return result, count, err
	}
	result, err = measure[R](p.clientCPU, j(server.addr))
	count, ended := server.stop()
	if err == nil {
		err = ended
	}
	return result, count, err
}
