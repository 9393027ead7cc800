package wire

import (
	"cmp"
	"context"
	"errors"
	"net"
	"net/http/httptrace"
	"net/netip"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/servebench/servebench/metrics/evidence"
)

// headStart is how long an address may take to accept a connection before the next one is tried as well.
// It is vLLM's client's, after RFC 8305.
const headStart = 250 * time.Millisecond

// addresses opens connections to one of several addresses, and remembers those that take none.
type addresses struct {
	mu   sync.Mutex
	outs map[netip.AddrPort]*outage
	// to opens a connection; nil means TCP.
	to func(ctx context.Context, network, addr string) (net.Conn, error)
}

// A way is the addresses of a host, and whose turn it is.
type way struct {
	host  string
	addrs []netip.Addr
	port  uint16
	turn  int
}

// An outage is an address that took no connection when others did. The mutex of its addresses guards it.
type outage struct {
	host   string
	why    string    // of the last attempt that failed; empty while the first one waits for an answer
	out    bool      // it is tried after the others
	trying bool      // an attempt is under way
	again  time.Time // when to try it again, if out
}

// An attempt is the end of an attempt to connect.
type attempt struct {
	at   netip.AddrPort
	conn net.Conn
	err  error
}

func (s *addresses) dial(ctx context.Context, addr string) (net.Conn, error) {
	if s.to != nil {
		return s.to(ctx, "tcp", addr)
	}
	return (&net.Dialer{Control: connectEarly}).DialContext(ctx, "tcp", addr)
}

// connect opens a connection to the address whose turn it is, or to another one if that one does not
// answer in time. If none does, the error is of the first.
func (s *addresses) connect(ctx context.Context, b *background, to way) (net.Conn, error) {
	if len(to.addrs) == 1 {
		return s.dial(ctx, netip.AddrPortFrom(to.addrs[0], to.port).String())
	}
	live, out := s.sorted(b, to)
	if len(live) != 1 {
		return s.race(ctx, b, to.host, append(live, out...))
	}
	// No other address would be worth a head start.
	conn, err := s.dial(ctx, live[0].String())
	if s.note(to.host, attempt{live[0], conn, err}); err == nil || ctx.Err() != nil {
		return conn, err
	}
	if conn, none := s.race(ctx, b, to.host, out); none == nil {
		return conn, nil
	}
	return nil, err
}

// sorted are the addresses in the order in which to try them: in turn, and the second of another family
// than the first. Those that are out come last. Each of these is tried again from time to time, without
// a request that waits for it.
func (s *addresses) sorted(b *background, to way) (live, out []netip.AddrPort) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range to.addrs {
		at := netip.AddrPortFrom(a, to.port)
		o := s.outs[at]
		if o == nil || !o.out {
			live = append(live, at)
			continue
		}
		out = append(out, at)
		if !o.trying && !time.Now().Before(o.again) {
			o.trying = true
			b.run(func(ctx context.Context) {
				ctx, cancel := context.WithTimeout(ctx, DefaultConnectTimeout)
				defer cancel()
				s.probe(ctx, to.host, at)
			})
		}
	}
	if n := len(live); n > 1 {
		first := to.turn % n
		live = append(live[first:n:n], live[:first]...)
		other := slices.IndexFunc(live, func(at netip.AddrPort) bool { return at.Addr().Is4() != live[0].Addr().Is4() })
		if other > 1 {
			at := live[other]
			live = slices.Insert(slices.Delete(live, other, other+1), 1, at)
		}
	}
	return live, out
}

// probe finds out whether an address takes connections again.
func (s *addresses) probe(ctx context.Context, host string, at netip.AddrPort) {
	conn, err := s.dial(ctx, at.String())
	s.note(host, attempt{at, conn, err})
	if err == nil {
		conn.Close()
	}
}

// race connects to the addresses in their order, a head start after each other, or as soon as one fails.
// The first connection wins. What is still under way then goes on in the background, until it is clear
// whether the address takes connections.
func (s *addresses) race(ctx context.Context, b *background, host string, order []netip.AddrPort) (net.Conn, error) {
	trace := httptrace.ContextClientTrace(ctx)
	if trace != nil && trace.ConnectStart != nil {
		trace.ConnectStart("tcp", order[0].String())
	}
	r := racing{ctx: ctx, over: make(chan struct{}), ends: make(chan attempt)}
	defer close(r.over)
	var first error
	for begun, ended := 0, 0; ended < len(order); {
		var late <-chan time.Time
		if begun < len(order) {
			at := order[begun]
			b.run(func(ctx context.Context) { s.try(ctx, host, at, r) })
			begun++
			late = time.After(headStart)
		}
		select {
		case <-late:
			s.slow(host, order[begun-1])
		case a := <-r.ends:
			if s.note(host, a); a.err == nil {
				if trace != nil && trace.ConnectDone != nil {
					trace.ConnectDone("tcp", a.at.String(), nil)
				}
				return a.conn, nil
			}
			ended++
			if a.at == order[0] {
				first = a.err
			}
		}
	}
	return nil, first
}

// A racing is what the attempts of a race share.
type racing struct {
	ctx  context.Context // of the race
	over chan struct{}   // closed when the race is over
	ends chan attempt
}

// try is an attempt of a race. If it loses, it goes on for as long as it might have in the race.
func (s *addresses) try(outlive context.Context, host string, at netip.AddrPort, r racing) {
	until, ok := r.ctx.Deadline()
	if !ok {
		until = time.Now().Add(DefaultConnectTimeout)
	}
	ctx, cancel := context.WithDeadline(outlive, until)
	defer cancel()
	defer context.AfterFunc(r.ctx, func() {
		select {
		case <-r.over:
		default:
			if !errors.Is(r.ctx.Err(), context.DeadlineExceeded) { // dial has a better error for that
				cancel()
			}
		}
	})()
	conn, err := s.dial(ctx, at.String())
	a := attempt{at, conn, err}
	select {
	case r.ends <- a:
	case <-r.over:
		if s.note(host, a); err == nil {
			conn.Close()
		}
	}
}

// outage is what is known of an address that took no connection. The caller holds the mutex.
func (s *addresses) outage(host string, at netip.AddrPort) *outage {
	if s.outs == nil {
		s.outs = map[netip.AddrPort]*outage{}
	}
	if s.outs[at] == nil {
		s.outs[at] = &outage{host: host}
	}
	return s.outs[at]
}

// slow notes that an address has used up its head start.
func (s *addresses) slow(host string, at netip.AddrPort) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.outage(host, at)
	o.out, o.trying = true, true
}

// note notes the end of an attempt. That this machine could not try says nothing about an address.
func (s *addresses) note(host string, a attempt) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch o := s.outs[a.at]; {
	case a.err != nil && !errors.Is(a.err, context.Canceled) && !isAny(a.err, exhaustions):
		o = s.outage(host, a.at)
		o.why, o.out, o.trying, o.again = reason(a.err), true, false, time.Now().Add(askAgain)
	case o == nil:
	case o.why == "":
		delete(s.outs, a.at)
	default:
		o.out, o.trying = o.out && a.err != nil, false
	}
}

// reason is why an attempt failed, without the address.
func reason(err error) string {
	if isTimeout(err) {
		return "no answer in time"
	}
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Err != nil {
		err = op.Err
	}
	if call, ok := errors.AsType[*os.SyscallError](err); ok {
		err = call.Err
	}
	return err.Error()
}

// leftOut are the addresses of host that took no connection.
func (s *addresses) leftOut(host string) (all []evidence.LeftOut) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for at, o := range s.outs {
		if o.host == host {
			all = append(all, evidence.LeftOut{Address: at.String(), Why: cmp.Or(o.why, "no answer yet")})
		}
	}
	slices.SortFunc(all, func(a, b evidence.LeftOut) int { return cmp.Compare(a.Address, b.Address) })
	return all
}
