package spans

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// The stamp of a request on a connection that is used again lies between its sending and its handling,
// whatever its size.
func TestArrivedIsBeforeTheHandlerReads(t *testing.T) {
	const requests = 20
	arrived := make(chan [2]time.Time, requests)
	web := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		arrived <- [2]time.Time{Arrived(r.Context()), time.Now()}
	}))
	web.Listener = Listen(web.Listener)
	web.Config.ConnContext = Context
	web.Start()
	defer web.Close()
	post := func(bytes int) [2]time.Time {
		resp, err := web.Client().Post(web.URL, "text/plain", strings.NewReader(strings.Repeat("x", bytes)))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		return <-arrived
	}
	for post(1)[0].IsZero() { // the kernel begins to stamp a moment after a first socket of the machine asks
	}
	for i := range requests {
		sent := time.Now()
		if got := post(i * i * 1000); got[0].Before(sent) || got[0].After(got[1]) {
			t.Errorf("request %d arrived at %v, and was sent at %v and read at %v", i, got[0], sent, got[1])
		}
	}
}

func TestArrivedIsUnknownWithoutListen(t *testing.T) {
	web := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if at := Arrived(r.Context()); !at.IsZero() {
			t.Errorf("arrived at %v", at)
		}
	}))
	web.Config.ConnContext = Context
	web.Start()
	defer web.Close()
	if resp, err := web.Client().Get(web.URL); err == nil {
		resp.Body.Close()
	}
}

// A clock that was set makes stamps worthless. An arrival is never of an earlier read.
func TestStampsOfAnotherClockAreNoArrival(t *testing.T) {
	now := time.Now()
	for _, at := range []time.Time{now.Add(-time.Hour), now.Add(time.Hour), {}} {
		var c conn
		if c.got(now); !c.last.Load().Equal(now) {
			t.Errorf("the arrival is %v, want %v", c.last.Load(), now)
		}
		if c.got(at); c.last.Load() != nil {
			t.Errorf("a stamp of %v at %v is taken", at, now)
		}
	}
}
