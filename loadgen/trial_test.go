package loadgen

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/loadgen/openai"
	"github.com/servebench/servebench/loadgen/spool"
	"github.com/servebench/servebench/loadgen/watch"
	"github.com/servebench/servebench/loadgen/watch/sources"
	"github.com/servebench/servebench/loadgen/workload"
	"github.com/servebench/servebench/metrics"
)

func TestAnErrorUnderWayLosesNoResult(t *testing.T) {
	b := ready(t, plan(t))
	// Five long prompts fill the queue, so that the run has begun when the sixth fails.
	bad := errors.New("line 6 is bad")
	b.workload.Source = func(yield func(*dataset.Conversation, error) bool) {
		for range 5 {
			if !yield(&dataset.Conversation{Turns: []dataset.Turn{{Prompt: strings.Repeat("x", 8<<20), OutputLen: 1}}}, nil) {
				return
			}
		}
		yield(nil, bad)
	}
	_, sums, err := measuredAlone(t, b)
	if !errors.Is(err, bad) || len(sums) != 1 || !sums[0].Ending.Interrupted || sums[0].Completed+sums[0].Failed == 0 {
		t.Fatalf("%v, %+v", err, sums)
	}
}

// ready is the target of a plan, reached and prepared.
func ready(t *testing.T, p *Plan) *prepared {
	t.Helper()
	v := voice{Quiet{}, p}
	server, err := (&reach{voice: v}).run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.close)
	b, err := (&prepare{v, server}).run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// measuring is the measurement of a target that is prepared.
func measuring(b *prepared) *measurement {
	return newMeasurement(b, Member{Plan: b.plan}, nil, occasion{}, nil, new(watch.Set))
}

// unreached is the measurement of a plan with n conversations, of a server that nobody asks.
func unreached(p *Plan, n int) *measurement {
	return measuring(&prepared{voice: voice{Quiet{}, p}, server: &contact{connection: new(connection)},
		workload: &workload.Opened{Spec: p.spec(), N: n}, config: p.Config()})
}

// measuredAlone measures and judges a target.
func measuredAlone(t *testing.T, b *prepared) (*measurement, []*metrics.Summary, error) {
	t.Helper()
	m := measuring(b)
	done, err := (&measure{targets: []*measurement{m}, gpus: new(sources.GPUs)}).run(t.Context())
	if err != nil {
		return m, nil, err
	}
	sums, err := judge{done}.run(t.Context())
	return m, sums, err
}

func TestFewModelsAreNamed(t *testing.T) {
	var models []openai.Model
	for i := range 3000 {
		models = append(models, openai.Model{ID: fmt.Sprint("m", i)})
	}
	if got := someOf(models); got != "m0, m1, m2, m3, m4, m5, m6, m7, and 2992 more" {
		t.Error(got)
	}
	if got := someOf(models[:8]); got != "m0, m1, m2, m3, m4, m5, m6, m7" {
		t.Error(got)
	}
}

// A target's plan need not repeat what is the whole run's to say.
func TestTargetsTakeTheRuleOfTheWholeRun(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "no", http.StatusServiceUnavailable)
	}))
	defer server.Close()
	target := func(name string) *Plan {
		p := plan(t, slots(1), func(p *Plan) { p.Target, p.Server.BaseURL = name, server.URL })
		return p
	}
	whole := Plan{Targets: []*Plan{target("a"), target("b")}, Abort: AbortRule{Text: "3", Count: 3}}
	sums, err := whole.Run(t.Context(), nil)
	if why, stopped := errors.AsType[AbortError](err); !stopped || len(sums) != 2 || !sums[0].Ending.Interrupted {
		t.Errorf("%v, stopped by %q, %d summaries", err, why, len(sums))
	}
}

func TestTargetsNeedNamesOfTheirOwn(t *testing.T) {
	for _, names := range [][]string{{"a", "a"}, {"a", ""}} {
		p := Plan{Targets: []*Plan{{Target: names[0]}, {Target: names[1]}}}
		if _, err := p.Run(t.Context(), nil); err == nil || !strings.HasSuffix(err.Error(), "needs a different name") {
			t.Errorf("%q: %v", names, err)
		}
	}
}

// A caller's key is nobody else's, even where the server quotes it.
func TestWhatRunReturnsShowsNoSecret(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, "bad "+r.Header.Get("Authorization"), http.StatusUnauthorized)
	}))
	defer server.Close()
	p := Plan{Server: Server{BaseURL: server.URL, APIKey: "topsecret"}}
	_, err := p.Run(t.Context(), nil)
	_, lost := errors.AsType[*UnreachableError](err)
	if !lost || strings.Contains(err.Error(), "topsecret") || !strings.Contains(err.Error(), "401 ") {
		t.Errorf("%v", err)
	}
}

func TestSettingsThatMeanNothingAreRefused(t *testing.T) {
	for want, p := range map[string]Plan{
		`backend "openai_chat": it must be`: {Server: Server{Backend: "openai_chat"}},
		`dataset "randm": it must be`:       {Workload: Workload{Dataset: "randm"}},
		"target a: records of several":      {Targets: []*Plan{{Target: "a", Keep: Keep{Records: new(spool.File)}}}},
	} {
		if _, err := p.Run(t.Context(), nil); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// A counted connection says when it is closed.
type counted struct {
	net.Conn
	close func()
}

func (c counted) Close() error {
	c.close()
	return c.Conn.Close()
}

func TestRunClosesWhatItOpened(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, "data: {\"choices\":[{\"text\":\" a\"}]}\n\ndata: [DONE]\n\n")
	}))
	defer server.Close()
	var open atomic.Int64
	p := plan(t, prompts(5), slots(2), func(p *Plan) {
		p.Server.BaseURL, p.Traffic.ProbeRate, p.Watch.Server = server.URL, 1000, true
		p.Server.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			c, err := new(net.Dialer).DialContext(ctx, network, address)
			if err == nil {
				open.Add(1)
			}
			return counted{c, sync.OnceFunc(func() { open.Add(-1) })}, err
		}
	})
	if _, err := p.Run(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if n := open.Load(); n != 0 {
		t.Errorf("%d connections are still open", n)
	}
}
