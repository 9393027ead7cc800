package exchange_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/servebench/servebench/loadgen/api/completions"
	"github.com/servebench/servebench/loadgen/api/exchange"
	"github.com/servebench/servebench/loadgen/wire"
	"github.com/servebench/servebench/loadgen/wire/wiretest"
	"github.com/servebench/servebench/metrics/evidence"
	"github.com/servebench/servebench/metrics/record"
)

// queued is how many bytes lie unread in the socket of conn.
func queued(t *testing.T, conn syscall.Conn) (n int) {
	t.Helper()
	raw, err := conn.SyscallConn()
	if err == nil {
		err = raw.Control(func(fd uintptr) {
			if n, err = unix.IoctlGetInt(int(fd), unix.TIOCINQ); err != nil {
				t.Error(err)
			}
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// needStamps keeps a connection open that asks for stamps, and returns once it gets
// them: the kernel begins with them a moment after the first socket asked.
func needStamps(t *testing.T) {
	t.Helper()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	if unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1) != nil {
		t.Skip("this kernel refuses SO_TIMESTAMPNS")
	}
	server := httptest.NewServer(http.HandlerFunc(streaming))
	t.Cleanup(server.Close)
	tally := new(wire.Tally)
	transport := wire.Connections{}.Transport()
	t.Cleanup(transport.CloseIdleConnections)
	for range 100_000 {
		ask(t, &exchange.Endpoint{Protocol: completions.Protocol, URL: server.URL, Transport: transport, Tally: tally})
		if reported(tally).Stamps.Kernel > 0 {
			return
		}
	}
	t.Fatal("the kernel took SO_TIMESTAMPNS and gives no stamps")
}

// both runs test over plain TCP and under TLS.
func both(t *testing.T, test func(t *testing.T, secure bool)) {
	needStamps(t)
	for _, secure := range []bool{false, true} {
		t.Run(fmt.Sprintf("tls=%t", secure), func(t *testing.T) { test(t, secure) })
	}
}

func TestTheKernelStampsWhatAProxySends(t *testing.T) {
	needStamps(t)
	withoutProxies(t)
	server := httptest.NewServer(http.HandlerFunc(streaming))
	defer server.Close()
	addr, _ := socksProxy(t, server.Listener.Addr().String())
	t.Setenv("ALL_PROXY", "socks5://me:s3cret@"+addr)
	tally := new(wire.Tally)
	transport := wire.Connections{Tally: tally}.Transport()
	defer transport.CloseIdleConnections()
	got, _ := ask(t, &exchange.Endpoint{Protocol: completions.Protocol, URL: "http://server.test", Transport: transport, Tally: tally})
	if e := reported(tally); got.Class != record.OK || e.Stamps.Kernel != 2 || e.Stamps.User != 0 {
		t.Errorf("%+v: %d stamps of the kernel's, %d others", got, e.Stamps.Kernel, e.Stamps.User)
	}
}

// clockGap is far more than lies between the wall clock's reading and the other one
// in a time.Now, by which a stamp is too late; unless the machine stands still there.
const clockGap = time.Millisecond

func TestAStampIsFromBeforeALateReaderCame(t *testing.T) {
	both(t, func(t *testing.T, secure bool) {
		l := newLateReader(t, secure, false)
		for i := range 5 {
			before, after := l.arrive(wiretest.Framed(numbered(i, 3)))
			l.pass(after)
			if c := l.next(); c.At.Before(before) || c.At.After(after.Add(clockGap)) {
				t.Errorf("chunk %d was written after %v, had arrived by %v, and is stamped %v", i, before, after.Sub(before), c.At.Sub(before))
			}
		}
		l.end()
		var e evidence.Evidence
		l.tally.Report(&e)
		if l.rec.Answer.SharedReads != 0 || l.rec.Answer.MaxAge <= 0 || e.Stamps.Kernel != 6 || e.Stamps.User != 0 {
			t.Errorf("%d shared reads, greatest age %v, %+v", l.rec.Answer.SharedReads, l.rec.Answer.MaxAge, e)
		}
		if ages := l.tally.Ages(); ages.TotalCount() != 6 || time.Duration(ages.Max()) > 2*l.rec.Answer.MaxAge {
			t.Errorf("%d ages up to %v; greatest %v", ages.TotalCount(), time.Duration(ages.Max()), l.rec.Answer.MaxAge)
		}
	})
}

func TestTheGreatestAgeBoundsTheErrorOfSharedReads(t *testing.T) {
	for _, size := range []int{3, 250, 1500} {
		t.Run(fmt.Sprint(size, " bytes"), func(t *testing.T) {
			both(t, func(t *testing.T, secure bool) {
				l := newLateReader(t, secure, false)
				const chunks = 25 // less than a socket takes
				var wrote [chunks]time.Time
				var after time.Time
				for i := range wrote {
					wrote[i], after = l.arrive(wiretest.Framed(numbered(i, size)))
				}
				l.pass(after)
				var at [chunks]time.Time
				for i := range at {
					at[i] = l.next().At
				}
				l.end()
				for i, at := range at {
					if late := at.Sub(wrote[i]); late > l.rec.Answer.MaxAge || late < 0 || at.After(after.Add(clockGap)) {
						t.Errorf("chunk %d is stamped %v after it was written, %v after all had come; greatest age %v", i, late, at.Sub(after), l.rec.Answer.MaxAge)
					}
				}
				if size < 300 && l.rec.Answer.SharedReads < chunks/2 {
					t.Errorf("%d of %d chunks shared a read", l.rec.Answer.SharedReads, chunks)
				}
			})
		})
	}
}

func TestChunksOfOneReadShareIt(t *testing.T) {
	both(t, func(t *testing.T, secure bool) {
		l := newLateReader(t, secure, false)
		for i := range 3 { // under TLS a record each
			l.arrive(wiretest.Framed(numbered(i, 3)))
		}
		first, second, third := l.next(), l.next(), l.next()
		if l.rec.Answer.SharedReads != 2 || !first.At.Equal(second.At) || !second.At.Equal(third.At) {
			t.Errorf("%d shared reads, at %v and %v after the first", l.rec.Answer.SharedReads, second.At.Sub(first.At), third.At.Sub(first.At))
		}
		l.arrive(wiretest.Framed(numbered(3, 3)))
		if next := l.next(); l.rec.Answer.SharedReads != 2 || !next.At.After(third.At) {
			t.Errorf("a chunk alone in its read: %d shared reads", l.rec.Answer.SharedReads)
		}
		l.end()
	})
}

func TestASplitChunkArrivesWithItsEnd(t *testing.T) {
	both(t, func(t *testing.T, secure bool) {
		l := newLateReader(t, secure, false)
		chunk := numbered(1, 3)
		l.arrive(wiretest.Framed(chunk[:20]))
		before, _ := l.arrive(wiretest.Framed(chunk[20:]))
		if c := l.next(); c.At.Before(before) || l.rec.Answer.SharedReads != 0 {
			t.Errorf("stamped %v before its end was written; %d shared reads", before.Sub(c.At), l.rec.Answer.SharedReads)
		}
		l.end()
	})
}

func TestTheGreatestAgeCoversWhatFollowsAChunkInItsRead(t *testing.T) {
	both(t, func(t *testing.T, secure bool) {
		l := newLateReader(t, secure, false)
		wrote, _ := l.arrive(wiretest.Framed(numbered(1, 3)))
		for range 8 {
			l.arrive(wiretest.Framed(": ping\n\n"))
		}
		first := l.next().At
		l.end()
		if late := first.Sub(wrote); late > l.rec.Answer.MaxAge || l.rec.Answer.SharedReads != 0 {
			t.Errorf("stamped %v after it was written; greatest age %v, %d shared reads", late, l.rec.Answer.MaxAge, l.rec.Answer.SharedReads)
		}
	})
}

// net/http waits for all of an HTTP chunk, so the first event in one may be given
// long after it was read.
func TestTheGreatestAgeCoversAnHTTPChunkThatComesInParts(t *testing.T) {
	needStamps(t)
	l := newLateReaderOver(t, wire.Connections{NetHTTP: true}, false, false)
	const parts = 20
	var wrote [parts]time.Time
	body := ""
	for i := range parts {
		body += numbered(i, 3)
	}
	l.say(fmt.Sprintf("%x\r\n", len(body)))
	for i := range parts {
		wrote[i] = time.Now()
		l.say(numbered(i, 3))
		if i == 0 {
			l.goOn <- struct{}{}
		}
		l.drained()
	}
	l.say("\r\n")
	at := [parts]time.Time{(<-l.got).At}
	for i := range parts - 1 {
		at[i+1] = l.next().At
	}
	l.end()
	for i, at := range at {
		if late := at.Sub(wrote[i]); late > l.rec.Answer.MaxAge {
			t.Errorf("event %d is stamped %v after it was written; greatest age %v", i, late, l.rec.Answer.MaxAge)
		}
	}
}

func TestStampsNeedNoPrivilege(t *testing.T) {
	cmd := exec.Command("/proc/self/exe", "-test.run=^(TestAStampIsFromBeforeALateReaderCame|TestTheGreatestAgeBoundsTheErrorOfSharedReads)$", "-test.v")
	cmd.Dir = "/"
	if os.Getuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	out, err := cmd.CombinedOutput()
	switch {
	case errors.Is(err, os.ErrPermission):
		t.Skip("nobody may not run this test binary:", err)
	case err != nil:
		t.Fatalf("%v\n%s", err, out)
	case strings.Contains(string(out), "SKIP"):
		t.Skipf("%s", out)
	case !strings.Contains(string(out), "PASS: TestAStampIsFromBeforeALateReaderCame/tls=true"):
		t.Errorf("%s", out)
	}
}

func TestRefusedStampsAreTakenHere(t *testing.T) {
	l := newLateReader(t, false, true)
	before, after := l.arrive(wiretest.Framed(numbered(1, 3)))
	if c := l.next(); c.At.Before(after) {
		t.Errorf("stamped %v after it was written, before it was read", c.At.Sub(before))
	}
	l.arrive(wiretest.Framed(numbered(2, 3) + numbered(3, 3)))
	l.next()
	l.next()
	l.end()
	var e evidence.Evidence
	l.tally.Report(&e)
	if e.Stamps.Kernel != 0 || e.Stamps.User != 4 || e.Stamps.SharedReads != 1 || l.rec.Answer.SharedReads != 1 || l.rec.Answer.MaxAge != 0 || l.tally.Ages().TotalCount() != 0 {
		t.Errorf("%+v; record %d shared reads, greatest age %v", e, l.rec.Answer.SharedReads, l.rec.Answer.MaxAge)
	}
}

// A run is a hundred events over loopback, from the server's write to the
// Sender's chunk. AllocsPerRun runs on one processor, counts what all goroutines
// allocate, and drops fractions: 0 says that a hundred events allocate less than
// once, so that what the runtime does now and then does not count, and one
// allocation in a hundred events does. (Under TLS, crypto/tls makes an object for
// every record that it reads.)
func TestAnEventOverTheNetworkDoesNotAllocate(t *testing.T) {
	if raced {
		t.Skip("the race detector makes sync.Pool allocate at random")
	}
	needStamps(t)
	l := newLateReader(t, false, false)
	event := []byte(wiretest.Framed(numbered(1, 20)))
	round := func() {
		for range 100 {
			_, _ = l.out.Write(event)
			l.next()
		}
	}
	round()
	if allocs := testing.AllocsPerRun(30, round); allocs != 0 {
		t.Errorf("%v allocations in a hundred events", allocs)
	}
	l.end()
	if e := reported(&l.tally); e.Stamps.Kernel < 3000 {
		t.Errorf("%d chunks stamped by the kernel", e.Stamps.Kernel)
	}
}
