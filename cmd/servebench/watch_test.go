package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/servebench/servebench/loadgen"
	"github.com/servebench/servebench/metrics"
)

func TestWhatIsSampledIsResolved(t *testing.T) {
	for line, want := range map[string]watchOptions{
		"--server-metrics": {Server: true, Every: time.Second},
		"--server-metrics --server-metrics-interval 100ms":    {Server: true, Every: 100 * time.Millisecond},
		"--gpu-metrics nvidia-smi":                            {Every: time.Second, GPU: nvidiaSMI},
		"--gpu-metrics nvidia-smi:0,12":                       {Every: time.Second, GPU: nvidiaSMI, GPUs: "0,12"},
		"--gpu-metrics http://gpu:9400/metrics":               {Every: time.Second, GPU: "http://gpu:9400"},
		"--gpu-metrics https://gpus.example.org/dcgm/metrics": {Every: time.Second, GPU: "https://gpus.example.org/dcgm"},
		"--gpu-metrics http://gpu:9400/":                      {Every: time.Second, GPU: "http://gpu:9400"},
	} {
		if got := mustParse(t, line).Watch; got != want {
			t.Errorf("%s: %+v, want %+v", line, got, want)
		}
	}
	for _, line := range []string{"--gpu-metrics gpu:9400", "--gpu-metrics http://", "--gpu-metrics http://me:secret@gpu:9400/metrics", "--gpu-metrics ftp://gpu", "--gpu-metrics nvidia-smi:a", "--gpu-metrics nvidia-smi:"} {
		if _, err := parseRun(strings.Fields(line)); err == nil || !strings.Contains(err.Error(), "--gpu-metrics") || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", line, err)
		}
	}
}

func TestServerWithoutMetricsIsNotAskedAgain(t *testing.T) {
	for status, asks := range map[int]bool{http.StatusNotFound: false, http.StatusOK: true} {
		n := 0
		web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			n++
			w.WriteHeader(status)
			io.WriteString(w, "key\n")
		}))
		defer web.Close()
		var talk bytes.Buffer
		o := &options{Watch: watchOptions{Server: true, Every: time.Second}, Server: serverOptions{Secrets: secrets{"key!"}}}
		b := &bench{options: o, server: &loadgen.Server{URL: web.URL}, transport: loadgen.Connections{}.Transport(), talk: &talk}
		b.openSampler(t.Context())
		said := strings.Contains(talk.String(), "WARNING: --server-metrics: "+web.URL+"/metrics: 404 Not Found")
		if n != 1 || (b.sampler != nil) != asks || said == asks {
			t.Errorf("status %d: asked %d times, sampled %t, said %q", status, n, b.sampler != nil, &talk)
		}
	}
}

func TestMissingNvidiaSMIIsAFlagError(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	tr := &trial{benches: []*bench{{options: &options{Watch: watchOptions{GPU: nvidiaSMI}}, patience: time.Second}}}
	err := tr.openGPUs(t.Context())
	if _, exit := errors.AsType[exitError](err); exit || err == nil || !strings.HasPrefix(err.Error(), "argument --gpu-metrics: ") {
		t.Errorf("error %v", err)
	}
}

func TestDCGMExporterIsSampledForAllTargets(t *testing.T) {
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "DCGM_FI_DEV_POWER_USAGE{gpu=\"3\"} 125.5\n")
	}))
	defer web.Close()
	o := &options{Watch: watchOptions{GPU: web.URL}}
	tr := &trial{}
	for range 2 {
		b := &bench{options: o, patience: time.Minute, results: &results{}, collector: metrics.NewCollector(&metrics.Header{})}
		b.collector.KeepTrace = true
		tr.benches = append(tr.benches, b)
	}
	if err := tr.openGPUs(t.Context()); err != nil {
		t.Fatal(err)
	}
	taken := make(chan bool, 1)
	sample := tr.gpuSampler
	tr.gpuSampler = func(ctx context.Context, epoch time.Time, take func(*metrics.Sample)) {
		sample(ctx, epoch, func(s *metrics.Sample) {
			take(s)
			taken <- true
		})
	}
	tr.watch(time.Now())
	<-taken
	tr.unwatch()
	for i, b := range tr.benches {
		samples := b.collector.Summary(1).Trace.Samples
		if len(samples) == 0 || *samples[0].GPUs[0].Power != 125.5 {
			t.Errorf("target %d has %d samples", i, len(samples))
		}
	}
}

// What a server says may hold what it was sent.
func TestTroubleWithSamplesHidesSecrets(t *testing.T) {
	o := &options{Server: serverOptions{Secrets: secrets{"token-1"}}}
	b := &bench{options: o, results: &results{}, collector: metrics.NewCollector(&metrics.Header{})}
	b.collector.KeepTrace = true
	b.sampler = func(_ context.Context, _ time.Time, take func(*metrics.Sample)) {
		take(&metrics.Sample{Server: &metrics.ServerSample{}})
		take(&metrics.Sample{Error: "no access for token-1"})
	}
	tr := &trial{benches: []*bench{b}}
	tr.watch(time.Now())
	tr.unwatch()
	samples, said := b.collector.Summary(1).Trace.Samples, tr.troubles(b)
	if len(samples) != 2 || samples[1].Error != "no access for <redacted>" {
		t.Errorf("samples %v", samples)
	}
	if len(said) != 1 || said[0] != "--server-metrics: 1 of 2 samples failed: no access for <redacted>" {
		t.Errorf("said %q", said)
	}
}
