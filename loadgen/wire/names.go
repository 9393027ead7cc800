package wire

import (
	"cmp"
	"context"
	"errors"
	"net"
	"net/http/httptrace"
	"net/netip"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/servebench/servebench/metrics/evidence"
)

const (
	// answerAge is how long the addresses of a name are used. vLLM's client sets ttl_dns_cache to it.
	answerAge = 300 * time.Second
	// askAgain is how long to wait after a lookup that failed, and after a connection that failed.
	askAgain = 10 * time.Second
	// askSoon is how long an answer is good enough if none of its addresses takes a connection.
	askSoon = time.Second
)

// Names has the addresses of servers and proxies, and opens TCP connections to them. The zero value
// asks the system. It is safe for concurrent use, and must not be copied after first use.
//
// Only the first lookup of a name is waited for. If the answer is older than vLLM's client would keep
// it, the next connection still uses it while Names asks again, and goes on using it if that fails. If
// no address takes a connection, Names asks before it gives up.
type Names struct {
	// Lookup returns the addresses of a name, in the order in which to use them. Nil asks the system,
	// and leaves out the addresses that this machine has no route to.
	Lookup func(ctx context.Context, name string) ([]netip.Addr, error)

	mu         sync.Mutex
	known      map[string]*name
	order      []string // of the known names
	views      int      // transports that use it
	background background
	addresses  addresses
}

// A name is what is known of one. The mutex of its Names guards it.
type name struct {
	addrs   []netip.Addr  // the last answer; nil before one
	took    time.Duration // until the first answer
	due     time.Time     // when the answer gets too old
	asked   time.Time     // when the last lookup ended
	stale   string        // why the last lookup failed, if there is an older answer
	pending *lookup       // under way; nil for none
}

// A lookup is one question. err is valid once done is closed.
type lookup struct {
	done chan struct{}
	err  error
}

// Close ends what happens in the background, and waits for that. Names can then be used again.
func (n *Names) Close() { n.background.stop() }

// Report is what the names led to, in the order of their first lookups.
func (n *Names) Report() (all []evidence.Lookup) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, host := range n.order {
		if of := n.known[host]; of.addrs != nil {
			all = append(all, evidence.Lookup{
				Name: host, Took: of.took, Addresses: len(of.addrs), Stale: of.stale, LeftOut: n.addresses.leftOut(host),
			})
		}
	}
	return all
}

// view is where the turns of one more transport begin.
func (n *Names) view() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.views++
	return n.views - 1
}

// dial connects to addr, a host and a port. turn counts the connections of a transport: each begins
// with another address.
func (n *Names) dial(ctx context.Context, addr string, turn int) (net.Conn, error) {
	host, digits, err := net.SplitHostPort(addr)
	port, wrong := strconv.ParseUint(digits, 10, 16)
	if _, notIP := netip.ParseAddr(host); err != nil || wrong != nil || notIP == nil {
		return n.addresses.dial(ctx, addr)
	}
	began := time.Now()
	addrs, err := n.find(ctx, host)
	if err != nil {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: err}
	}
	to := way{host, addrs, uint16(port), turn}
	conn, err := n.addresses.connect(ctx, &n.background, to)
	if err == nil {
		return conn, nil
	}
	if to.addrs = n.others(ctx, host, addrs, began); len(to.addrs) == 0 {
		return nil, err
	}
	return n.addresses.connect(ctx, &n.background, to)
}

// find returns the addresses of host. It waits only for the first answer, and tells the trace of ctx so.
func (n *Names) find(ctx context.Context, host string) ([]netip.Addr, error) {
	n.mu.Lock()
	of := n.known[host]
	if of == nil {
		of = new(name)
		if n.known == nil {
			n.known = map[string]*name{}
		}
		n.known[host], n.order = of, append(n.order, host)
	}
	addrs, pending := of.addrs, of.pending
	if pending == nil && !time.Now().Before(of.due) {
		pending = n.ask(host, of)
	}
	n.mu.Unlock()
	if addrs != nil {
		return addrs, nil
	}
	trace := httptrace.ContextClientTrace(ctx)
	if trace != nil && trace.DNSStart != nil {
		trace.DNSStart(httptrace.DNSStartInfo{Host: host})
	}
	err := pending.wait(ctx, host)
	if trace != nil && trace.DNSDone != nil {
		trace.DNSDone(httptrace.DNSDoneInfo{Err: err})
	}
	if err != nil {
		return nil, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return of.addrs, nil
}

// others are the addresses of host apart from those that took no connection. It asks again
// unless an answer came after began, or a moment ago. If ctx has ended, the answer is for the next one.
func (n *Names) others(ctx context.Context, host string, tried []netip.Addr, began time.Time) []netip.Addr {
	n.mu.Lock()
	of := n.known[host]
	if of.pending == nil && !of.asked.After(began) && time.Since(of.asked) > askSoon {
		n.ask(host, of)
	}
	pending := of.pending
	n.mu.Unlock()
	if pending != nil && pending.wait(ctx, host) != nil || ctx.Err() != nil {
		return nil
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(of.addrs), func(a netip.Addr) bool { return slices.Contains(tried, a) })
}

// ask begins a lookup. The caller holds the mutex.
func (n *Names) ask(host string, of *name) *lookup {
	l := &lookup{done: make(chan struct{})}
	of.pending = l
	began := time.Now()
	n.background.run(func(ctx context.Context) {
		find := n.Lookup
		if find == nil {
			find = systemLookup
		}
		addrs, err := find(ctx, host)
		n.mu.Lock()
		defer n.mu.Unlock()
		defer close(l.done)
		of.pending, of.asked = nil, time.Now()
		switch {
		case err == nil && len(addrs) > 0:
			if of.addrs == nil {
				of.took = of.asked.Sub(began)
			}
			of.addrs, of.due, of.stale = addrs, of.asked.Add(answerAge), ""
		case of.addrs == nil:
			l.err = cmp.Or(err, error(&net.DNSError{Err: "no such host", Name: host, IsNotFound: true}))
		case ctx.Err() == nil:
			l.err = cmp.Or(err, errors.New("no such host"))
			of.due, of.stale = of.asked.Add(askAgain), l.err.Error()
		}
	})
	return l
}

// wait waits for the end of l, or of ctx, with the error of package net.
func (l *lookup) wait(ctx context.Context, host string) error {
	select {
	case <-l.done:
		return l.err
	case <-ctx.Done():
	}
	if late := errors.Is(ctx.Err(), context.DeadlineExceeded); late {
		return &net.DNSError{Err: "i/o timeout", Name: host, IsTimeout: true}
	}
	return context.Cause(ctx)
}

// systemLookup asks the system, in the order of RFC 6724.
func systemLookup(ctx context.Context, host string) ([]netip.Addr, error) {
	found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	var addrs, reachable []netip.Addr
	for _, a := range found {
		if a = a.Unmap(); slices.Contains(addrs, a) {
			continue
		}
		addrs = append(addrs, a)
		if routed(a) {
			reachable = append(reachable, a)
		}
	}
	if len(reachable) > 0 {
		addrs = reachable
	}
	return addrs, err
}

// routed reports whether this machine has a route to a. It sends nothing.
func routed(a netip.Addr) bool {
	conn, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(netip.AddrPortFrom(a, 9)))
	if err == nil {
		conn.Close()
	}
	return err == nil
}
