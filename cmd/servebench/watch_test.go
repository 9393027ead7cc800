package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/servebench/servebench/loadgen"
	"github.com/servebench/servebench/loadgen/host"
	"github.com/servebench/servebench/metrics"
)

func TestWhatIsSampledIsResolved(t *testing.T) {
	for line, want := range map[string]watchOptions{
		"--server-metrics": {Server: true, Every: time.Second},
		"--server-metrics http://a:8000 https://b/vllm/metrics": {Server: true, URLs: []string{"http://a:8000", "https://b/vllm"}, Every: time.Second},
		"--server-metrics=http://a:8000/,http://b:8000/metrics": {Server: true, URLs: []string{"http://a:8000", "http://b:8000"}, Every: time.Second},
		"--server-metrics --server-metrics-interval 100ms":      {Server: true, Every: 100 * time.Millisecond},
		"--gpu-metrics nvidia-smi":                              {Every: time.Second, GPU: nvidiaSMI},
		"--gpu-metrics nvidia-smi:0,12":                         {Every: time.Second, GPU: nvidiaSMI, GPUs: "0,12"},
		"--gpu-metrics http://gpu:9400/metrics":                 {Every: time.Second, GPU: "http://gpu:9400"},
		"--gpu-metrics https://gpus.example.org/dcgm/metrics":   {Every: time.Second, GPU: "https://gpus.example.org/dcgm"},
		"--gpu-metrics http://gpu:9400/":                        {Every: time.Second, GPU: "http://gpu:9400"},
	} {
		if got := mustParse(t, line).Watch; !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, want %+v", line, got, want)
		}
	}
	for line, want := range map[string]string{
		"--server-metrics a:8000":                                 "argument --server-metrics: 'a:8000': it must be nothing, or the URLs of the server's replicas as http://10.0.0.1:8000,http://10.0.0.2:8000",
		"--server-metrics http://me:secret@a:8000":                "argument --server-metrics: 'http://me:xxxxx@a:8000': it must be nothing",
		"--server-metrics http://a:8000 http://a:8000/metrics":    "argument --server-metrics: http://a:8000 is there twice: it would count twice",
		"--server-metrics http://a:8000 --unix-socket s":          "argument --server-metrics: there are no URLs behind --unix-socket",
		"--server-metrics http://a:8000 --target b=http://b:8000": "argument --server-metrics: each target has replicas of its own: name them in --target, as a=URL,server-metrics=http://10.0.0.1:8000",
	} {
		if _, err := parseRun(strings.Fields(line)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", line, err, want)
		}
	}
	o := mustParse(t, "--server-metrics --target a=http://lb:80,server-metrics=http://a:8000,http://b:8000,request-rate=3 b=http://c:8000")
	if a, b := o.Targets[0].Watch, o.Targets[1].Watch; !slices.Equal(a.URLs, []string{"http://a:8000", "http://b:8000"}) || b.URLs != nil || !b.Server {
		t.Errorf("of targets: %+v and %+v", a, b)
	}
	for _, line := range []string{"--gpu-metrics gpu:9400", "--gpu-metrics http://", "--gpu-metrics http://me:secret@gpu:9400/metrics", "--gpu-metrics ftp://gpu", "--gpu-metrics nvidia-smi:a", "--gpu-metrics nvidia-smi:"} {
		if _, err := parseRun(strings.Fields(line)); err == nil || !strings.Contains(err.Error(), "--gpu-metrics") || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", line, err)
		}
	}
}

func TestReplicasMayStandInAConfigFile(t *testing.T) {
	for text, want := range map[string]watchOptions{
		"server-metrics: true\n":                           {Server: true},
		"server-metrics: false\n":                          {},
		"server-metrics: http://a:8000\n":                  {Server: true, URLs: []string{"http://a:8000"}},
		"server-metrics: [http://a:8000, http://b:8000]\n": {Server: true, URLs: []string{"http://a:8000", "http://b:8000"}},
	} {
		o := mustParse(t, "--config "+writeConfig(t, text))
		if want.Every = time.Second; !reflect.DeepEqual(o.Watch, want) {
			t.Errorf("%s: %+v, want %+v", text, o.Watch, want)
		}
	}
	if o := mustParse(t, "--server-metrics"); !slices.Contains(o.Flags, metrics.KV{Key: "server-metrics", Value: "true"}) {
		t.Errorf("recorded as %v", o.Flags)
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
		err := b.openSamplers(t.Context())
		said := strings.Contains(talk.String(), "WARNING: --server-metrics: "+web.URL+"/metrics: 404 Not Found")
		if n != 1 || (b.samplers != nil) != asks || said == asks || err != nil {
			t.Errorf("status %d: asked %d times, sampled %t, said %q, %v", status, n, b.samplers != nil, &talk, err)
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
	b.samplers = []host.Sampler{func(_ context.Context, _ time.Time, take func(*metrics.Sample)) {
		take(&metrics.Sample{Server: &metrics.ServerSample{}})
		take(&metrics.Sample{Error: "no access for token-1"})
	}}
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
