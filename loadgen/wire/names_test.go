package wire

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http/httptrace"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/servebench/servebench/metrics/evidence"
	"github.com/servebench/servebench/metrics/record"
)

// A town is where names lead to, in fake time. Each address takes connections at once, unless it is in
// slow or dead.
type town struct {
	addrs   []string      // of every name
	lookup  time.Duration // how long a lookup takes; negative for ever
	wrong   error         // what a lookup ends with, instead of addrs
	lookups int
	slow    map[string]time.Duration // until an address takes a connection
	dead    map[string]error         // why an address takes none; nil for no answer
	mu      sync.Mutex
	taken   map[string]int
}

// names are the names of the town.
func (w *town) names(t *testing.T) *Names {
	w.slow, w.dead, w.taken = map[string]time.Duration{}, map[string]error{}, map[string]int{}
	n := &Names{Lookup: func(ctx context.Context, name string) (all []netip.Addr, err error) {
		w.lookups++
		addrs, wrong, wait := w.addrs, w.wrong, time.After(w.lookup)
		if w.lookup < 0 {
			wait = nil
		}
		select {
		case <-wait:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		for _, a := range addrs {
			all = append(all, netip.MustParseAddr(a))
		}
		return all, wrong
	}}
	n.addresses.to = func(ctx context.Context, _, addr string) (net.Conn, error) {
		at := netip.MustParseAddrPort(addr).Addr().String()
		why, dead := w.dead[at]
		wait := time.After(w.slow[at])
		if dead && why == nil {
			wait = nil
		}
		select {
		case <-wait:
		case <-ctx.Done():
			why = ctx.Err()
			if errors.Is(why, context.DeadlineExceeded) {
				why = os.ErrDeadlineExceeded
			}
		}
		if why != nil {
			return nil, &net.OpError{Op: "dial", Net: "tcp", Addr: net.TCPAddrFromAddrPort(netip.MustParseAddrPort(addr)), Err: why}
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		w.taken[at]++
		conn, _ := net.Pipe()
		return conn, nil
	}
	t.Cleanup(n.Close)
	return n
}

// pass lets time pass, and everything in the background happen.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

var errRefused = os.NewSyscallError("connect", syscall.ECONNREFUSED)

// dialTimes dials so many times, one after the other, and reports the longest time that one took.
func dialTimes(t *testing.T, n *Names, times int) (longest time.Duration) {
	t.Helper()
	for turn := range times {
		began := time.Now()
		conn, err := n.dial(t.Context(), "server.test:80", turn)
		if err != nil {
			t.Fatal(err)
		}
		conn.Close()
		longest = max(longest, time.Since(began))
	}
	synctest.Wait()
	return longest
}

func TestANameIsLookedUpOnceAndConnectionsAreSpread(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &town{addrs: []string{"10.0.0.1", "10.0.0.2", "10.0.0.3"}, lookup: 200 * time.Millisecond}
		n := w.names(t)
		if took := dialTimes(t, n, 1); took != 200*time.Millisecond {
			t.Errorf("the first connection took %v", took)
		}
		if took := dialTimes(t, n, 30); took != 0 || w.lookups != 1 {
			t.Errorf("a later one took %v, %d lookups", took, w.lookups)
		}
		if want := map[string]int{"10.0.0.1": 11, "10.0.0.2": 10, "10.0.0.3": 10}; !maps.Equal(w.taken, want) {
			t.Errorf("%v, want %v", w.taken, want)
		}
		if got := n.Report(); len(got) != 1 || got[0].Name != "server.test" || got[0].Took != 200*time.Millisecond || got[0].Addresses != 3 || got[0].LeftOut != nil {
			t.Errorf("%+v", got)
		}
	})
}

func TestALookupIsSharedAndTraced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &town{addrs: []string{"10.0.0.1"}, lookup: time.Second}
		n := w.names(t)
		var started, done atomic.Int32
		ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{
			DNSStart: func(httptrace.DNSStartInfo) { started.Add(1) }, DNSDone: func(httptrace.DNSDoneInfo) { done.Add(1) },
		})
		for range 2 {
			ends := make(chan error)
			for range 2 {
				go func() {
					_, err := n.dial(ctx, "server.test:80", 0)
					ends <- err
				}()
				synctest.Wait()
			}
			if err := errors.Join(<-ends, <-ends); err != nil {
				t.Error(err)
			}
		}
		if w.lookups != 1 || started.Load() != 2 || done.Load() != 2 {
			t.Errorf("%d lookups; %d begun and %d ended in traces", w.lookups, started.Load(), done.Load())
		}
	})
}

func TestAnOldAnswerIsRenewedWithoutAWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &town{addrs: []string{"10.0.0.1"}, lookup: time.Second}
		n := w.names(t)
		dialTimes(t, n, 1)
		w.addrs = []string{"10.0.0.2"}
		pass(answerAge - time.Second)
		dialTimes(t, n, 1)
		pass(time.Second)
		if took := dialTimes(t, n, 2); took != 0 || w.taken["10.0.0.1"] != 4 || w.lookups != 2 {
			t.Errorf("took %v, %v, %d lookups", took, w.taken, w.lookups)
		}
		pass(time.Second)
		if took := dialTimes(t, n, 1); took != 0 || w.taken["10.0.0.2"] != 1 || w.lookups != 2 {
			t.Errorf("took %v, %v, %d lookups", took, w.taken, w.lookups)
		}
	})
}

func TestOldAddressesAreUsedWhileNobodyAnswers(t *testing.T) {
	for name, change := range map[string]func(w *town){
		"silent":   func(w *town) { w.lookup = -1 },
		"no name":  func(w *town) { w.wrong = &net.DNSError{Err: "no such host", Name: "server.test", IsNotFound: true} },
		"no adrs.": func(w *town) { w.addrs = nil },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &town{addrs: []string{"10.0.0.1", "10.0.0.2"}}
				n := w.names(t)
				dialTimes(t, n, 1)
				change(w)
				for range 100 {
					pass(askAgain)
					if took := dialTimes(t, n, 2); took != 0 {
						t.Errorf("took %v", took)
					}
				}
				// The first answer was good for 30 of these.
				if got := n.Report()[0]; name != "silent" && (w.lookups < 70 || w.lookups > 72 || !strings.Contains(got.Stale, "no such host")) || got.Addresses != 2 {
					t.Errorf("%+v after %d lookups", got, w.lookups)
				}
			})
		})
	}
}

func TestADeadAddressIsLeftOutAndNamed(t *testing.T) {
	for _, test := range []struct {
		name  string
		why   error
		first time.Duration
		says  string
	}{
		{"refused", errRefused, 0, "connection refused"},
		{"silent", nil, headStart, "no answer yet"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &town{addrs: []string{"10.0.0.1", "10.0.0.2"}}
				n := w.names(t)
				w.dead["10.0.0.1"] = test.why
				if took := dialTimes(t, n, 1); took != test.first {
					t.Errorf("the first connection took %v", took)
				}
				if took := dialTimes(t, n, 40); took != 0 || w.taken["10.0.0.2"] != 41 {
					t.Errorf("a later one took %v, %v", took, w.taken)
				}
				want := []evidence.LeftOut{{Address: "10.0.0.1:80", Why: test.says}}
				if got := n.Report()[0]; !slices.Equal(got.LeftOut, want) || got.Addresses != 2 {
					t.Errorf("%+v", got)
				}

				// It is found out in the background that it is back.
				pass(DefaultConnectTimeout + askAgain)
				delete(w.dead, "10.0.0.1")
				if took := dialTimes(t, n, 1); took != 0 {
					t.Errorf("a connection took %v", took)
				}
				synctest.Wait()
				clear(w.taken)
				if took := dialTimes(t, n, 10); took != 0 || w.taken["10.0.0.1"] != 5 {
					t.Errorf("took %v, %v", took, w.taken)
				}
			})
		})
	}
}

func TestASlowAddressIsNotLeftOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &town{addrs: []string{"10.0.0.1", "10.0.0.2"}}
		n := w.names(t)
		w.slow["10.0.0.1"] = time.Second
		if took := dialTimes(t, n, 1); took != headStart {
			t.Errorf("the first connection took %v", took)
		}
		pass(time.Second)
		delete(w.slow, "10.0.0.1")
		clear(w.taken)
		if took := dialTimes(t, n, 2); took != 0 || len(w.taken) != 2 || n.Report()[0].LeftOut != nil {
			t.Errorf("took %v, %v", took, w.taken)
		}
	})
}

func TestWhereAllAddressesAreDeadTheNameIsLookedUpAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &town{addrs: []string{"10.0.0.1", "10.0.0.2"}, lookup: 100 * time.Millisecond}
		n := w.names(t)
		dialTimes(t, n, 1)
		w.dead["10.0.0.1"], w.dead["10.0.0.2"] = errRefused, errRefused
		dial := func() error {
			_, err := n.dial(t.Context(), "server.test:80", 0)
			return err
		}
		for range 3 {
			if err := dial(); err == nil || err.Error() != "dial tcp 10.0.0.1:80: connect: connection refused" {
				t.Errorf("%v", err)
			}
		}
		if w.lookups != 1 { // a moment ago
			t.Errorf("%d lookups", w.lookups)
		}
		pass(2 * askSoon)
		w.addrs = []string{"10.0.0.3"}
		if err := dial(); err != nil || w.taken["10.0.0.3"] != 1 || w.lookups != 2 {
			t.Errorf("%v, %v after %d lookups", err, w.taken, w.lookups)
		}
	})
}

func TestTheLimitOnConnectingIsForAllAddressesAndTheLookup(t *testing.T) {
	for name, test := range map[string]struct {
		lookup time.Duration
		class  record.Class
		says   string
	}{
		"addresses": {0, record.ConnectTimeout, "no connection within 4s: dial tcp 10.0.0.1:80: i/o timeout"},
		"lookup":    {-1, record.ConnectTimeout, "no connection within 4s: dial tcp: lookup server.test: i/o timeout"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &town{addrs: []string{"10.0.0.1", "10.0.0.2"}, lookup: test.lookup}
				n := w.names(t)
				w.dead["10.0.0.1"], w.dead["10.0.0.2"] = nil, nil
				transport := Connections{Names: n, Timeout: 4 * time.Second}.Transport()
				began := time.Now()
				_, err := transport.open(t.Context(), origin{"http", "server.test:80"})
				f, ok := errors.AsType[*record.Failure](err)
				if !ok || f.Class != test.class || f.Error() != test.says || time.Since(began) != 4*time.Second {
					t.Errorf("%v after %v", err, time.Since(began))
				}
			})
		})
	}
}

func TestAStoppedConnectionLeavesNoAddressOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &town{addrs: []string{"10.0.0.1", "10.0.0.2"}}
		n := w.names(t)
		w.slow["10.0.0.1"], w.slow["10.0.0.2"] = time.Second, time.Second
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(500*time.Millisecond, cancel)
		began := time.Now()
		if _, err := n.dial(ctx, "server.test:80", 0); !errors.Is(err, context.Canceled) || time.Since(began) != 500*time.Millisecond {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		if out := n.Report()[0].LeftOut; out != nil {
			t.Errorf("%v", out)
		}
	})
}

func TestWhatThisMachineLacksIsNoFaultOfAnAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &town{addrs: []string{"10.0.0.1", "10.0.0.2"}}
		n := w.names(t)
		w.dead["10.0.0.1"], w.dead["10.0.0.2"] = syscall.EMFILE, syscall.EMFILE
		if _, err := n.dial(t.Context(), "server.test:80", 0); !errors.Is(err, syscall.EMFILE) || n.Report()[0].LeftOut != nil {
			t.Errorf("%v, %+v", err, n.Report())
		}
	})
}

func TestANameThatDoesNotResolveIsAskedForAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &town{wrong: &net.DNSError{Err: "no such host", Name: "server.test", IsNotFound: true}}
		n := w.names(t)
		for i := range 2 {
			_, err := n.dial(t.Context(), "server.test:80", 0)
			if _, ok := errors.AsType[*net.DNSError](err); !ok || err.Error() != "dial tcp: lookup server.test: no such host" || w.lookups != i+1 {
				t.Errorf("%v after %d lookups", err, w.lookups)
			}
		}
		if got := n.Report(); got != nil {
			t.Errorf("%+v", got)
		}
		w.wrong, w.addrs = nil, []string{"10.0.0.1"}
		dialTimes(t, n, 1)
	})
}

func TestTheSecondAddressIsOfAnotherFamily(t *testing.T) {
	for _, test := range []struct{ addrs, want string }{
		{"::1 ::2 ::3 10.0.0.1 10.0.0.2", "::1 10.0.0.1 ::2 ::3 10.0.0.2"},
		{"::1 10.0.0.1", "::1 10.0.0.1"},
		{"10.0.0.1 10.0.0.2", "10.0.0.1 10.0.0.2"},
	} {
		to := way{host: "server.test", port: 80}
		for a := range strings.FieldsSeq(test.addrs) {
			to.addrs = append(to.addrs, netip.MustParseAddr(a))
		}
		live, _ := new(addresses).sorted(new(background), to)
		var got []string
		for _, at := range live {
			got = append(got, at.Addr().String())
		}
		if s := strings.Join(got, " "); s != test.want {
			t.Errorf("%s, want %s", s, test.want)
		}
	}
}

func TestAnAddressNeedsNoLookup(t *testing.T) {
	for _, addr := range []string{"10.0.0.1:80", "[::1]:80", "[fe80::1%eth0]:80"} {
		synctest.Test(t, func(t *testing.T) {
			w := new(town)
			n := w.names(t)
			if conn, err := n.dial(t.Context(), addr, 3); err != nil || w.lookups != 0 || n.Report() != nil {
				t.Errorf("%s: %v, %v", addr, conn, err)
			}
		})
	}
}

func TestTransportsTakeTurnsAtTheFirstAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &town{addrs: []string{"10.0.0.1", "10.0.0.2"}}
		n := w.names(t)
		load := Connections{Names: n}.Transport()
		for i, transport := range []*Transport{load, load.Apart(), load.Apart()} {
			clear(w.taken)
			if _, err := transport.open(t.Context(), origin{"http", "server.test:80"}); err != nil {
				t.Fatal(err)
			}
			if at := fmt.Sprint("10.0.0.", i%2+1); w.taken[at] != 1 {
				t.Errorf("transport %d: %v", i, w.taken)
			}
		}
	})
}
