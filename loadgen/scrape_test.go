package loadgen_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/servebench/servebench/loadgen/arrivals"
	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/loadgen/internal/pipe"
	"github.com/servebench/servebench/loadgen/openai"
	"github.com/servebench/servebench/loadgen/sim"
	"github.com/servebench/servebench/loadgen/sim/speed"
	"github.com/servebench/servebench/loadgen/watch"
	"github.com/servebench/servebench/loadgen/wire"
	"github.com/servebench/servebench/metrics/samples"
)

func TestSamplesEqualWhatTheEngineDid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const every = 7919 * time.Microsecond // so that none is at the instant of a step
		var samples []*samples.Sample
		tr := trial{
			num: 60, in: 100, out: 16, arrivals: arrivals.Process{Rate: 40, Burstiness: 1, Seed: 7},
			server: sim.Config{Cost: speed.Cost{Base: 10 * time.Millisecond, PerPromptToken: 7 * time.Microsecond}, Limits: sim.Limits{NumSeqs: 4, ModelLen: 1024}, Cache: sim.Cache{Blocks: 256}},
			watch: func(d dialer, epoch time.Time) func() {
				transport := wire.Connections{Dial: d}.Transport()
				var w watch.Set
				w.Add("Watch.Server", openai.SampleServer(&openai.Server{URL: "http://sim", Transport: transport}, "", every))
				w.Start(epoch)
				return func() {
					watch.Stop(&w)
					transport.CloseIdleConnections()
					if samples = w.Drain(); w.Troubles() != nil {
						t.Error(w.Troubles())
					}
				}
			},
		}
		_, traces, epoch, took := tr.run(t)
		if want := int(took/every) + 1; len(samples) != want {
			t.Errorf("%d samples in %v, want %d", len(samples), took, want)
		}
		busiest := 0.0
		for i, s := range samples {
			running, waiting := 0.0, 0.0
			for _, x := range traces {
				switch at := epoch.Add(s.At); {
				case at.Before(x.Arrived) || !at.Before(x.Finished):
				case at.Before(x.Admitted):
					waiting++
				default:
					running++
				}
			}
			if s.At != time.Duration(i)*every || *s.Server.Running != running || *s.Server.Waiting != waiting {
				t.Errorf("sample %d at %v: %v running, %v waiting, want %v and %v", i, s.At, *s.Server.Running, *s.Server.Waiting, running, waiting)
			}
			if kv := *s.Server.KVCache; (kv > 0) != (running > 0) || kv > 1 {
				t.Errorf("%v of the KV cache in use by %v requests", kv, running)
			}
			busiest = max(busiest, running+waiting)
		}
		if busiest < 6 {
			t.Errorf("%v requests at most: the load is too light for this test", busiest)
		}
	})
}

// watched is what is sampled of a server for so long, each second.
func watched(t *testing.T, handler http.HandlerFunc, lasts time.Duration) (samples []*samples.Sample, trouble string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		listener := pipe.Listen()
		web := &http.Server{Handler: handler}
		go web.Serve(listener)
		transport := wire.Connections{Dial: listener.Dial}.Transport()
		server := &openai.Server{URL: "http://sim", Transport: transport, Limit: 10 * time.Second}
		var w watch.Set
		w.Add("Watch.Server", openai.SampleServer(server, "", time.Second))
		w.Start(time.Now())
		time.Sleep(lasts)
		watch.Stop(&w)
		samples, trouble = w.Drain(), strings.TrimPrefix(strings.Join(w.Troubles(), "\n"), "Watch.Server: ")
		if more := w.Drain(); more != nil {
			t.Errorf("%d samples are drained twice", len(more))
		}
		transport.CloseIdleConnections()
		web.Close()
	})
	return samples, trouble
}

func TestSlowServerIsAskedLessOften(t *testing.T) {
	samples, trouble := watched(t, func(w http.ResponseWriter, r *http.Request) {
		if engine.Sleep(r.Context(), time.Now().Add(2500*time.Millisecond)) != nil {
			return
		}
		io.WriteString(w, "vllm:num_requests_running 1\n")
	}, 8*time.Second)
	var at []time.Duration
	for _, s := range samples {
		at = append(at, s.At)
		if s.Took != 2500*time.Millisecond {
			t.Errorf("took %v, want 2.5s", s.Took)
		}
	}
	if want := []time.Duration{0, 3 * time.Second}; !slices.Equal(at, want) || trouble != "" {
		t.Errorf("samples at %v, want %v; %s", at, want, trouble)
	}
}

func TestFailuresInARowAreSaidOnce(t *testing.T) {
	n := 0
	samples, trouble := watched(t, func(w http.ResponseWriter, r *http.Request) {
		switch n++; {
		case n == 3 || n == 4 || n == 5:
			http.Error(w, "overloaded", http.StatusServiceUnavailable)
		case n == 8:
			io.WriteString(w, "go_goroutines 7\n")
		default:
			fmt.Fprintf(w, "vllm:num_requests_running %d\n", n)
		}
	}, 9500*time.Millisecond)
	var said []string
	for _, s := range samples {
		if s.Error != "" {
			said = append(said, fmt.Sprintf("%v %s", s.At, s.Error))
		} else {
			said = append(said, fmt.Sprint(s.At, " ", *s.Server.Running))
		}
	}
	want := []string{"0s 1", "1s 2", "2s http://sim/metrics: 503 Service Unavailable: overloaded", "5s 6", "6s 7",
		"7s http://sim/metrics: nothing in it is known to servebench", "8s 9", "9s 10"}
	if !slices.Equal(said, want) {
		t.Errorf("samples\n%s\nwant\n%s", strings.Join(said, "\n"), strings.Join(want, "\n"))
	}
	if want := "4 of 10 samples failed: http://sim/metrics: nothing in it is known to servebench"; trouble != want {
		t.Errorf("trouble %q, want %q", trouble, want)
	}
}

func TestDCGMExporterIsSampled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		listener := pipe.Listen()
		web := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			io.WriteString(w, "DCGM_FI_DEV_POWER_USAGE{gpu=\"3\"} 125.5\n")
		})}
		go web.Serve(listener)
		transport := wire.Connections{Dial: listener.Dial}.Transport()
		ctx, stop := context.WithCancel(t.Context())
		openai.SampleDCGM(&openai.Server{URL: "http://dcgm", Transport: transport}, time.Second)(ctx, time.Now(), func(s *samples.Sample) {
			if len(s.GPUs) != 1 || s.GPUs[0].Index != 3 || *s.GPUs[0].Power != 125.5 || s.Error != "" {
				t.Errorf("sample %+v", s)
			}
			if s.At == 2*time.Second {
				stop()
			}
		})
		transport.CloseIdleConnections()
		web.Close()
	})
}
