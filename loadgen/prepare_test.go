package loadgen

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/servebench/servebench/loadgen/openai"
	"github.com/servebench/servebench/metrics/record"
)

// A deadServer fails every request with its class, and counts them.
type deadServer struct {
	class record.Class
	calls int
}

func (s *deadServer) RoundTrip(*http.Request) (*http.Response, error) {
	s.calls++
	return nil, &record.Failure{Class: s.class, Err: errors.New("no")}
}

// reaching is the stage for a server behind a transport, with nothing but the call for its model to do.
func reaching(transport http.RoundTripper) *reach {
	return &reach{voice{Quiet{}, new(Plan)}, &contact{connection: &connection{
		calls: &openai.Server{URL: "http://server.test", Transport: transport},
	}}}
}

func TestAServerThatIsNotUpYetIsWaitedFor(t *testing.T) {
	const waited = 11 // calls in ten seconds
	for class, want := range map[record.Class]int{
		record.DNS: waited, record.Refused: waited, record.Connect: waited, record.ConnectTimeout: waited,
		record.Timeout: waited, record.Reset: waited, record.Truncated: waited,
		record.TLS: 1, // it does not get better
	} {
		synctest.Test(t, func(t *testing.T) {
			server := &deadServer{class: class}
			b := reaching(server)
			b.plan.Server.Model, b.plan.Traffic.ReadyCheck = "m", 10*time.Second
			err := b.findModel(t.Context())
			if _, ok := errors.AsType[*FailedError](err); !ok || server.calls != want {
				t.Errorf("%s: %v after %d calls, want %d", class, err, server.calls, want)
			}
		})
	}
}

// A loadingServer gives a status until its model is there, at an instant.
type loadingServer struct {
	status int
	ready  time.Time
}

func (s *loadingServer) RoundTrip(r *http.Request) (*http.Response, error) {
	reply := httptest.NewRecorder()
	if time.Now().Before(s.ready) {
		http.Error(reply, `{"error":{"message":"Loading model","type":"unavailable_error","code":503}}`, s.status)
	} else {
		_, _ = io.WriteString(reply, `{"data":[{"id":"m"}]}`)
	}
	return reply.Result(), nil
}

// With --model nothing but the ready check's own request tells whether the model is there:
// a gateway may never answer for /metrics.
func TestNoStatusOfMetricsIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		server := &loadingServer{503, began.Add(time.Hour)}
		b := reaching(server)
		b.plan.Server.Model, b.plan.Traffic.ReadyCheck = "m", time.Minute
		if err := b.findModel(t.Context()); err != nil || b.served != "m" || time.Since(began) != 0 {
			t.Errorf("model %q after %v, %v", b.served, time.Since(began), err)
		}
	})
}

// What llama-server says while it loads its model, and a proxy of a server that is not
// there yet, is waited for; what gets no better is not. The model is the server's.
func TestAServerThatLoadsItsModelIsWaitedFor(t *testing.T) {
	for _, test := range []struct {
		status       int
		loads, limit time.Duration
		took         time.Duration
		message      string
	}{
		{503, 5 * time.Second, 10 * time.Second, 5 * time.Second, ""},
		{502, 5 * time.Second, 10 * time.Second, 5 * time.Second, ""},
		{504, 5 * time.Second, 10 * time.Second, 5 * time.Second, ""},
		{503, 5 * time.Second, 0, 0, "503 Service Unavailable: Loading model"},
		{503, time.Hour, 10 * time.Second, 10 * time.Second, "503 Service Unavailable: Loading model"},
		{500, 5 * time.Second, 10 * time.Second, 0, "500 Internal Server Error: Loading model"},
		{404, 5 * time.Second, 10 * time.Second, 0, "404 Not Found: Loading model"},
	} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			server := &loadingServer{test.status, began.Add(test.loads)}
			b := reaching(server)
			b.plan.Traffic.ReadyCheck = test.limit
			err := b.findModel(t.Context())
			if took := time.Since(began); took != test.took {
				t.Errorf("%d: waited for %v, want %v", test.status, took, test.took)
			}
			if test.message == "" {
				if err != nil || b.served != "m" {
					t.Errorf("%d: model %q, %v", test.status, b.served, err)
				}
				return
			}
			const without = "no Server.Model was given and the server does not say which it has: http://server.test/v1/models: "
			if _, ok := errors.AsType[*FailedError](err); !ok || err.Error() != without+test.message {
				t.Errorf("%d: %v", test.status, err)
			}
		})
	}
}
