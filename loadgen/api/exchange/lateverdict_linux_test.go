package exchange_test

import (
	"context"
	"math"
	"net"
	"net/http/httptrace"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/servebench/servebench/loadgen/api/completions"
	"github.com/servebench/servebench/loadgen/api/exchange"
	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/loadgen/wire"
	"github.com/servebench/servebench/loadgen/wire/wiretest"
	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect"
	"github.com/servebench/servebench/metrics/evidence"
	"github.com/servebench/servebench/metrics/trust"
)

// lie lets what has come lie unread for as long as everything took since start,
// so for longer than any ITL, and for longer than any limit.
func lie(start time.Time) {
	for from, whole := time.Now(), max(time.Since(start), 3*time.Millisecond); time.Since(from) < whole; {
		runtime.Gosched()
	}
}

// take lets the client go for so many chunks, and keeps their stamps as a Run does.
func (l *lateReader) take(n int) {
	for range n {
		if l.rec.Answer.Chunks.Len() == 0 {
			l.rec.Answer.Chunks.Append(l.rec.Times.Last) // the one that newLateReader took
		}
		l.next()
		l.rec.Answer.Chunks.Append(l.rec.Times.Last)
	}
}

// verdict sums up what l read, so many tokens, and judges it. The request counts
// as sent long before, lest what this machine does at its end be a large part.
func (l *lateReader) verdict(tokens int, wake time.Duration) (s *metrics.Summary, failed []string) {
	l.t.Helper()
	l.rec.Tokens.Out, l.rec.Times.Sent = tokens, -time.Hour
	l.rec.Times.Due, l.rec.Times.Slot, l.rec.Times.Wrote = l.rec.Times.Sent, l.rec.Times.Sent, l.rec.Times.Sent
	c := aspect.Collector(&metrics.Header{Config: metrics.Config{Dataset: "random", RequestRate: math.Inf(1)}})
	c.Add(&l.rec)
	s = c.Summary(1)
	s.Evidence, s.Client.Age = &evidence.Evidence{Pauses: evidence.Pauses{WakeP99: wake}}, metrics.FromHistogram(l.tally.Ages())
	l.tally.Report(s.Evidence)
	trust.Judge(s)
	for _, check := range s.Trust.Failed() {
		failed = append(failed, check.Name)
	}
	return s, failed
}

func TestEventsThatLieUnreadAreNamed(t *testing.T) {
	both(t, func(t *testing.T, secure bool) {
		start := time.Now()
		l := newLateReader(t, secure, false)
		for i := range 3 {
			l.arrive(wiretest.Framed(numbered(i, 3)))
			lie(start)
			l.take(1)
		}
		l.end()
		if s, failed := l.verdict(4, 0); !slices.Equal(failed, []string{"socket age"}) {
			t.Errorf("%s for %q", s.Trust.Verdict, failed)
		}
	})
}

func TestEventsThatALateReaderMergesAreNamed(t *testing.T) {
	both(t, func(t *testing.T, secure bool) {
		start := time.Now()
		l := newLateReader(t, secure, false)
		for i := range 9 {
			l.arrive(wiretest.Framed(numbered(i, 3)))
		}
		lie(start)
		l.take(9)
		l.end()
		if s, failed := l.verdict(10, 0); !slices.Equal(failed, []string{"socket age", "shared reads"}) {
			t.Errorf("%s for %q", s.Trust.Verdict, failed)
		}
	})
}

// Of the chunks of a late read all but the last are marked, by no more than the time since the
// read before. Nobody sees which of several TLS records a chunk was in, so the last is marked, too.
func TestChunksOfALateReadAreMarked(t *testing.T) {
	both(t, func(t *testing.T, secure bool) {
		start := time.Now()
		l := newLateReader(t, secure, false)
		before, _ := l.arrive(wiretest.Framed(numbered(0, 3)))
		lie(start)
		l.arrive(wiretest.Framed(numbered(1, 3)))
		lie(start)
		first, second := l.next(), l.next()
		l.end()
		switch {
		case !first.At.Equal(second.At):
			if first.Late != 0 || second.Late != 0 {
				t.Errorf("stamps of their own are marked by %v and %v", first.Late, second.Late)
			}
		case !secure && second.Late != 0 || first.At.Add(-first.Late).After(before):
			t.Errorf("marked by %v and %v; the first came at most %v before its stamp", first.Late, second.Late, first.At.Sub(before))
		case first.At.Add(-first.Late).Before(start):
			t.Errorf("marked by %v, more than all took", first.Late)
		}
	})
}

// Without the kernel's stamps what a Pulse noticed tells whether we were late.
func TestEventsMergedInUserSpaceAreNamedOrDoubted(t *testing.T) {
	for _, row := range []struct {
		wake   time.Duration
		failed []string
		note   string
	}{
		{time.Minute, []string{"wake-up", "shared reads"}, "stamped after reading"},
		{time.Microsecond, nil, "several events at once, or we read late"},
		{0, nil, "or we read late, of which nothing is known"},
	} {
		l := newLateReader(t, false, true)
		for i := range 9 {
			l.arrive(wiretest.Framed(numbered(i, 3)))
		}
		l.take(9)
		l.end()
		s, failed := l.verdict(10, row.wake)
		if notes := strings.Join(s.Trust.Notes, "\n"); !slices.Equal(failed, row.failed) || !strings.Contains(notes, row.note) || strings.Contains(notes, "in time") {
			t.Errorf("woken %v late: %s for %q, notes %q", row.wake, s.Trust.Verdict, failed, notes)
		}
	}
}

// A token that comes alone keeps the kernel's stamp, however late it is read.
func TestALoneTokenThatLiesUnreadIsValid(t *testing.T) {
	needStamps(t)
	l := &lateReader{t: t, done: make(chan error, 1)}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	transport := wire.Connections{Dial: func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, addr)
		if err == nil {
			l.client = conn.(*net.TCPConn)
		}
		return conn, err
	}}.Transport()
	defer transport.CloseIdleConnections()
	began, goOn := make(chan struct{}), make(chan struct{})
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{GotFirstResponseByte: func() {
		close(began)
		<-goOn
	}})
	o := &exchange.Endpoint{Protocol: completions.Protocol, URL: "http://" + listener.Addr().String(), Transport: transport, Tally: &l.tally}
	go func() {
		var failed error
		for _, err := range o.Send(ctx, time.Now(), &engine.Request{Body: []byte("{}")}, &l.rec) {
			failed = err
			l.rec.Answer.Chunks.Append(l.rec.Times.Last)
		}
		l.done <- failed
	}()
	l.accept(listener)
	defer l.server.Close()
	l.say(streamHead)
	<-began
	l.arrive(wiretest.Framed(aChunk) + wiretest.Framed(doneEvent) + streamEnd)
	lie(time.Now())
	close(goOn)
	if err := <-l.done; err != nil {
		t.Fatal(err)
	}
	s, failed := l.verdict(1, 0)
	if failed != nil || s.Client.Age.Len() != 1 || s.Client.Age.Percentile(99) < 2.5 {
		t.Errorf("%s for %q, age %v ms", s.Trust.Verdict, failed, s.Client.Age.Percentile(99))
	}
}
