package loadgen

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/servebench/servebench/loadgen/openai"
	"github.com/servebench/servebench/loadgen/redact"
	"github.com/servebench/servebench/loadgen/watch"
	"github.com/servebench/servebench/loadgen/watch/sources"
	"github.com/servebench/servebench/loadgen/wire"
	"github.com/servebench/servebench/metrics/samples"
)

func TestServerWithoutMetricsIsNotAskedAgain(t *testing.T) {
	for status, asks := range map[int]bool{http.StatusNotFound: false, http.StatusOK: true} {
		n := 0
		web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			n++
			w.WriteHeader(status)
			io.WriteString(w, "key\n")
		}))
		defer web.Close()
		talk := new(remarks)
		p := &Plan{Watch: Watch{Server: true, Every: time.Second}, Server: Server{Secrets: keys("key!")}}
		var watches watch.Set
		err := watched(talk, p, web.URL).Open(t.Context(), &watches)
		want := "WARNING: Watch.Server: " + web.URL + "/metrics: 404 Not Found"
		if asks {
			want = "WARNING: Watch.Server: " + web.URL + "/metrics: nothing in it is known to servebench: it is asked again"
		}
		if said := strings.Contains(talk.String(), want); n != 1 || watches.Has(metricsSetting) != asks || !said || err != nil {
			t.Errorf("status %d: asked %d times, sampled %t, said %q, %v", status, n, watches.Has(metricsSetting), talk.String(), err)
		}
	}
}

// SGLang has no metrics before its first request, and the page of its router is not named /metrics.
func TestAPageWithoutAKnownNumberStopsNoRun(t *testing.T) {
	var asked []string
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.Path)
		io.WriteString(w, "smg_http_requests_total 3\n")
	}))
	defer web.Close()
	talk := new(remarks)
	p := &Plan{Watch: Watch{Server: true, URLs: []string{web.URL, web.URL + "/engine_metrics"}, Every: time.Second}}
	var watches watch.Set
	err := watched(talk, p, web.URL).Open(t.Context(), &watches)
	if err != nil || !watches.Has(metricsSetting) || !slices.Equal(asked, []string{"/metrics", "/engine_metrics"}) ||
		strings.Count(talk.String(), "nothing in it is known") != 2 {
		t.Errorf("asked %q, said %q, %v", asked, talk.String(), err)
	}
}

func TestMissingNvidiaSMIIsAnErrorOfTheSetting(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	p := &Plan{Watch: Watch{GPU: NvidiaSMI}, Limits: Limits{Call: time.Second}}
	_, err := p.Run(t.Context(), nil)
	if _, failed := errors.AsType[*FailedError](err); failed || err == nil || !strings.HasPrefix(err.Error(), "Watch.GPU: ") {
		t.Errorf("error %v", err)
	}
}

func TestDCGMExporterIsSampledForAllTargets(t *testing.T) {
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "DCGM_FI_DEV_POWER_USAGE{gpu=\"3\"} 125.5\n")
	}))
	defer web.Close()
	p := &Plan{Watch: Watch{GPU: web.URL}, Limits: Limits{Call: time.Minute}}
	s := &measure{gpus: new(sources.GPUs)}
	for range 2 {
		b := unreached(p, 0)
		s.targets = append(s.targets, b)
		if err := s.gpus.Open(t.Context(), watchedOf(p), b.watches); err != nil {
			t.Fatal(err)
		}
	}
	if !s.gpus.Shared.Has(gpuSetting) {
		t.Fatal("the GPUs are not sampled")
	}
	apart := unreached(&Plan{Watch: Watch{GPU: web.URL, OwnGPU: true}, Limits: p.Limits}, 0)
	taken := make(chan bool, 1)
	exporter := &openai.Server{URL: web.URL, Limit: time.Minute, Transport: wire.Connections{}.Transport()}
	sample := openai.SampleDCGM(exporter, time.Second)
	s.gpus.Shared = watch.Set{}
	s.gpus.Shared.Add(gpuSetting, func(ctx context.Context, epoch time.Time, take func(*samples.Sample)) {
		sample(ctx, epoch, func(s *samples.Sample) {
			take(s)
			taken <- true
		})
	})
	s.targets = append(s.targets, apart)
	s.watch(time.Now())
	<-taken
	s.unwatch()
	if trace := apart.numbers.collector.Summary(1).Kept.Trace; len(trace.Samples) > 0 {
		t.Errorf("a target with GPUs for itself has %d samples of shared ones", len(trace.Samples))
	}
	for i, b := range s.targets[:2] {
		samples := b.numbers.collector.Summary(1).Kept.Trace.Samples
		if len(samples) == 0 || *samples[0].GPUs[0].Power != 125.5 {
			t.Errorf("target %d has %d samples", i, len(samples))
		}
	}
}

// What a server says may hold what it was sent.
func TestTroubleWithSamplesHidesSecrets(t *testing.T) {
	p := &Plan{Server: Server{Secrets: keys("token-1")}}
	b := unreached(p, 0)
	b.numbers.collector.Keep.Trace = true
	b.watches.Add(metricsSetting, func(_ context.Context, _ time.Time, take func(*samples.Sample)) {
		take(&samples.Sample{Server: &samples.Server{}})
		take(&samples.Sample{Error: "no access for token-1"})
	})
	s := &measure{targets: []*measurement{b}, gpus: new(sources.GPUs)}
	s.watch(time.Now())
	s.unwatch()
	samples, said := b.numbers.collector.Summary(1).Kept.Trace.Samples, b.watches.Troubles()
	if len(samples) != 2 || samples[1].Error != "no access for <redacted>" {
		t.Errorf("samples %v", samples)
	}
	if len(said) != 1 || said[0] != "Watch.Server: 1 of 2 samples failed: no access for <redacted>" {
		t.Errorf("said %q", said)
	}
}

// The settings that ask for samples.
const (
	metricsSetting = "Watch.Server"
	gpuSetting     = "Watch.GPU"
)

// watched is what a plan samples of a server at a URL.
func watched(o Observer, p *Plan, url string) *sources.Server {
	c := &connection{calls: &openai.Server{URL: url}, transport: wire.Connections{}.Transport()}
	return &sources.Server{Target: watchedOf(p), Calls: c.calls, Apart: c.apart, Say: voice{o, p}.say}
}

// keys are secrets.
func keys(texts ...string) (s redact.Secrets) {
	for _, text := range texts {
		s.Add(text)
	}
	return s
}
