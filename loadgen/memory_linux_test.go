package loadgen

import (
	"context"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/tokenizer"
	"github.com/servebench/servebench/loadgen/sim"
	"github.com/servebench/servebench/loadgen/sim/elastic"
	"github.com/servebench/servebench/loadgen/sim/sleep"
	"github.com/servebench/servebench/loadgen/sim/speed"
	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/pool"
	"github.com/servebench/servebench/metrics/samples"
)

// poolEvery is the interval between samples of a pool.
const poolEvery = 100 * time.Millisecond

// A tenant is a simulated server with a part of the memory, and what it wrote about that.
type tenant struct {
	plan *Plan
	mu   sync.Mutex
	told []elastic.State
}

// newTenant is a server whose steps take 10 ms, and a load of n requests of 64 and 32 tokens, 4 to 6
// pages, two at a time, after a delay.
func newTenant(t *testing.T, m *elastic.Memory, name string, n int, delay time.Duration) *tenant {
	t.Helper()
	e := new(tenant)
	file, two := filepath.Join(t.TempDir(), name), 2
	server, err := sim.New(sim.Config{
		Tokenizer: tokenizer.Stub{Size: 32000}, Cost: speed.Cost{Base: 10 * time.Millisecond}, Limits: sim.Limits{ModelLen: 128},
		Pool: sim.Pool{Memory: m, Files: []string{file}, Log: func(s elastic.State) {
			e.mu.Lock()
			defer e.mu.Unlock()
			e.told = append(e.told, s)
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	e.plan = &Plan{
		Target: name, Server: Server{Handler: server, Tokenizer: "stub-32000"}, Watch: Watch{Pool: file},
		Workload: Workload{NumPrompts: n, Random: dataset.Random{InputLen: 64, OutputLen: 32}},
		Traffic:  Traffic{MaxConcurrency: &two, Delay: delay},
		Sampling: Sampling{IgnoreEOS: true},
	}
	return e
}

// held are the states that may be read at an instant: the last one, and those before it within an
// instant.
func (e *tenant) held(at time.Time) (states []samples.Pool) {
	for i, s := range e.told {
		if i+1 < len(e.told) && e.told[i+1].At.Before(at) || s.At.After(at) {
			continue
		}
		states = append(states, samples.Pool{Name: e.plan.Target, Limit: s.Limit, Used: s.Used, Prealloc: s.Prealloc})
	}
	return states
}

// In pages of 1 MiB for 16 tokens, without spare ones: a returns what two requests had, page by page,
// and later b takes as much.
func TestMemoryCurvesAreTheSimulators(t *testing.T) {
	model := elastic.Model{Pages: 20, Blocks: 1, MiB: 1, Map: 30 * time.Millisecond, Unmap: 50 * time.Millisecond}
	synctest.Test(t, func(t *testing.T) {
		m := elastic.NewMemory(model)
		tenants := []*tenant{newTenant(t, m, "a", 2, 0), newTenant(t, m, "b", 12, 3*time.Second)}
		sums, err := (&Plan{Targets: []*Plan{tenants[0].plan, tenants[1].plan}}).Run(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for i, s := range sums {
			read := map[samples.Pool]bool{}
			for k, sample := range s.Kept.Trace.Samples {
				if want := time.Duration(k) * poolEvery; sample.At != want {
					t.Fatalf("%s: sample %d was taken at %v, want %v", s.Header.Target, k, sample.At, want)
				}
				may := tenants[i].held(s.Header.Epoch.Add(sample.At))
				if found := contains(may, *sample.Pool); !found {
					t.Errorf("%s at %v: read %+v, and the simulator wrote %+v", s.Header.Target, sample.At, *sample.Pool, may)
				}
				read[*sample.Pool] = true
			}
			if len(read) < 4 {
				t.Errorf("%s: only %d states were read", s.Header.Target, len(read))
			}
		}
		a, b := pool.Of(sums[0]), pool.Of(sums[1])
		// 11 of 12 pages, each 50 ms after the one before it.
		if r := a.Returned(); r.Bytes != 12*pool.MiB || apart(r.To90, 11*model.Unmap) > poolEvery {
			t.Errorf("a returned %+v", r)
		}
		// 8 pages for the prompts in the first step, which waits for them, and 11 or more 16 tokens later.
		step := 10 * time.Millisecond
		if took := b.Taken(); took.Bytes != 12*pool.MiB || apart(took.To90, 8*model.Map+17*step+2*model.Map) > poolEvery {
			t.Errorf("b took %+v", took)
		}
		if p := b.Paid(); p.First != 5 || p.Rest != 7 || p.MeanFirst <= p.MeanRest+8*model.Map/5 {
			t.Errorf("b's first requests: %+v", p)
		}
	})
}

// contains reports that one of the states is the one, or that it is between two neighbours of them: the pages of
// one instant go one by one.
func contains(all []samples.Pool, one samples.Pool) bool {
	for i, s := range all {
		if s == one {
			return true
		}
		if i > 0 && s.Used+s.Prealloc == one.Used+one.Prealloc && min(s.Used, all[i-1].Used) < one.Used && one.Used < max(s.Used, all[i-1].Used) {
			return true
		}
	}
	return false
}

func apart(a, b time.Duration) time.Duration { return (a - b).Abs() }

func TestRunRefusesAPoolThatIsNotThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plan := onHandler(t)
		plan.Watch.Pool = "/no/folder/a"
		_, err := plan.Run(t.Context(), nil)
		if err == nil || !strings.Contains(err.Error(), "Watch.Pool: kvcached pool /no/folder/a: there is no such file") {
			t.Error(err)
		}
	})
}

func TestWakeTakesWhatTheModelSays(t *testing.T) {
	times := sleep.Times{Sleep: 2 * time.Second, Weights: 300 * time.Millisecond, KVCache: 20 * time.Millisecond, Reload: 5 * time.Second}
	for level, ready := range map[int]time.Duration{1: times.Weights + times.KVCache, 2: times.Weights + times.Reload + times.KVCache} {
		synctest.Test(t, func(t *testing.T) {
			plan := onHandler(t)
			server, err := sim.New(sim.Config{Tokenizer: tokenizer.Stub{Size: 32000}, Cost: speed.Cost{Base: 10 * time.Millisecond}, SleepMode: sim.SleepMode{On: true, Times: times}})
			if err != nil {
				t.Fatal(err)
			}
			defer server.Close()
			plan.Server.Handler, plan.Traffic.SleepFirst = http.Handler(server), level
			sums, err := plan.Run(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			want := metrics.Wake{Level: level, Sleep: times.Sleep, Ready: ready, FirstToken: ready + 10*time.Millisecond}
			if got := sums[0].Header.Wake; got == nil || *got != want || sums[0].Completed != 4 {
				t.Errorf("level %d: %+v, want %+v", level, got, want)
			}
		})
	}
}

// Who stops a run while the server sleeps does not leave it asleep.
func TestAStoppedRunWakesTheServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plan := onHandler(t)
		server, err := sim.New(sim.Config{Tokenizer: tokenizer.Stub{Size: 32000}, SleepMode: sim.SleepMode{On: true, Times: sleep.Usual()}})
		if err != nil {
			t.Fatal(err)
		}
		defer server.Close()
		ctx, stop := context.WithCancel(t.Context())
		var woken atomic.Int32
		plan.Traffic.SleepFirst = 1
		plan.Server.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch r.URL.Path {
			case "/is_sleeping":
				stop()
			case "/wake_up":
				woken.Add(1)
			}
			server.ServeHTTP(w, r)
		})
		_, err = plan.Run(ctx, nil)
		asked := httptest.NewRecorder()
		server.ServeHTTP(asked, httptest.NewRequest(http.MethodGet, "/is_sleeping", nil))
		// A call on its way when the run stops may be followed by a second one.
		if sleeps := asked.Body.String(); err == nil || woken.Load() == 0 || sleeps != `{"is_sleeping":false}` {
			t.Errorf("woken %d times, %s, %v", woken.Load(), sleeps, err)
		}
	})
}

// A vLLM that answers the calls of a sleep mode which it does not have is not put to sleep.
func TestServerThatOnlySaysThatItSleepsIsAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plan := onHandler(t)
		plan.Traffic.SleepFirst = 1
		server, slept := plan.Server.Handler, false
		plan.Server.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch r.URL.Path {
			case "/server_info":
				_, _ = w.Write([]byte(`{"vllm_config": {"model_config": {"enable_sleep_mode": false}, "device_config": {"device": "cuda"}}}`))
			case "/sleep", "/wake_up":
				slept = slept || r.URL.Path == "/sleep"
			case "/is_sleeping":
				_, _ = w.Write([]byte(`{"is_sleeping": true}`))
			default:
				server.ServeHTTP(w, r)
			}
		})
		if _, err := plan.Run(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "without --enable-sleep-mode: it says that it sleeps, and nothing does") || slept {
			t.Errorf("slept %t, %v", slept, err)
		}
	})
}

func TestServerWithoutSleepModeIsAnErrorWithARemedy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plan := onHandler(t)
		plan.Traffic.SleepFirst = 1
		_, err := plan.Run(t.Context(), nil)
		if err == nil || !strings.Contains(err.Error(), "/sleep?level=1: 404") || !strings.Contains(err.Error(), "VLLM_SERVER_DEV_MODE=1 in its environment, and with --enable-sleep-mode") {
			t.Error(err)
		}
	})
}
