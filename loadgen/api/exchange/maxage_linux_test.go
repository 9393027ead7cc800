package exchange_test

import (
	"net/http"
	"net/http/httptest"
	"runtime"
	"testing"
	"time"

	"github.com/servebench/servebench/loadgen/api/completions"
	"github.com/servebench/servebench/loadgen/api/exchange"
	"github.com/servebench/servebench/loadgen/wire"
	"github.com/servebench/servebench/loadgen/wire/wiretest"
	"github.com/servebench/servebench/metrics/record"
)

// pass lets time pass since a moment, more than a chunk will lie unread.
func (l *lateReader) pass(since time.Time) {
	for time.Since(since) < 5*time.Millisecond {
		runtime.Gosched()
	}
}

// The end of a read may be bytes that net/http or TLS keep to themselves until
// the rest has come, and the kernel's stamp is theirs.
func TestTheGreatestAgeCoversWhatIsKeptBack(t *testing.T) {
	needStamps(t)
	next := wiretest.Framed(numbered(2, 300)) // "15c\r\n", …
	for _, test := range []struct {
		name   string
		secure bool
		text   string // after the chunk, in a segment of its own
		first  int    // bytes of it that come in time; 0 means all
	}{
		{"one byte of the next head", false, next, 1},
		{"three bytes of the next head", false, next, 3},
		{"all of the next head but its line feed", false, next, 4},
		{"all of the next head", false, next, 5},
		{"three bytes of the next record's head", true, next, 3},
		{"the next record's head", true, next, 5},
		{"the beginning of the next record", true, next, 60},
		{"a record with a byte of the next head", true, next[:1], 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			l := newLateReader(t, test.secure, false)
			wrote, _ := l.arrive(wiretest.Framed(numbered(1, 3)))
			l.pass(wrote)
			finish := func() { l.say(next[1:]) }
			if test.first > 0 {
				finish = l.begin(test.text, test.first)
			} else {
				l.arrive(test.text)
			}
			l.goOn <- struct{}{}
			l.drained()
			finish()
			late := (<-l.got).At.Sub(wrote)
			l.next() // alone in its read
			l.end()
			if late > l.rec.Answer.MaxAge {
				t.Errorf("stamped %v after it was written; greatest age %v", late, l.rec.Answer.MaxAge)
			}
		})
	}
}

func TestTheGreatestAgeCoversTheEndOfTheBody(t *testing.T) {
	both(t, func(t *testing.T, secure bool) {
		l := newLateReader(t, secure, false)
		wrote, _ := l.arrive(wiretest.Framed(lastChunk))
		l.pass(wrote)
		l.arrive(streamEnd)
		late := l.next().At.Sub(wrote)
		close(l.goOn)
		if err := <-l.done; err != nil || late > l.rec.Answer.MaxAge {
			t.Errorf("stamped %v after it was written; greatest age %v; %v", late, l.rec.Answer.MaxAge, err)
		}
	})
}

func TestTheGreatestAgeCoversWhatFollowsAnEventsData(t *testing.T) {
	both(t, func(t *testing.T, secure bool) {
		l := newLateReader(t, secure, false)
		event := numbered(1, 3)
		wrote, _ := l.arrive(wiretest.Framed(event[:len(event)-1])) // without its blank line
		l.pass(wrote)
		l.arrive(wiretest.Framed(": ping\n"))
		l.goOn <- struct{}{}
		l.drained()
		l.say(wiretest.Framed("\n"))
		late := (<-l.got).At.Sub(wrote)
		l.end()
		if late > l.rec.Answer.MaxAge {
			t.Errorf("stamped %v after it was written; greatest age %v", late, l.rec.Answer.MaxAge)
		}
	})
}

func TestNoByteIsOlderThanItsRequest(t *testing.T) {
	needStamps(t)
	server := httptest.NewServer(http.HandlerFunc(streaming))
	defer server.Close()
	transport := wire.Connections{}.Transport()
	defer transport.CloseIdleConnections()
	o := &exchange.Endpoint{Protocol: completions.Protocol, URL: server.URL, Transport: transport}
	var l lateReader
	for range 12 { // over one connection; not each has events that share a read
		before := time.Now()
		got, rec := ask(t, o)
		if took := time.Since(before); got.Class != record.OK || rec.Answer.MaxAge > took {
			t.Errorf("%+v: an age of %v within %v", got, rec.Answer.MaxAge, took)
		}
		l.pass(time.Now())
	}
}
