package main

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/servebench/servebench/loadgen"
	"github.com/servebench/servebench/metrics"
)

func TestWhatIsSampledIsResolved(t *testing.T) {
	for line, want := range map[string]loadgen.Watch{
		"--server-metrics": {Server: true, Every: time.Second},
		"--server-metrics http://a:8000 https://b/vllm/metrics": {Server: true, URLs: []string{"http://a:8000", "https://b/vllm"}, Every: time.Second},
		"--server-metrics=http://a:8000/,http://b:8000/metrics": {Server: true, URLs: []string{"http://a:8000", "http://b:8000"}, Every: time.Second},
		"--server-metrics --server-metrics-interval 100ms":      {Server: true, Every: 100 * time.Millisecond},
		"--gpu-metrics nvidia-smi":                              {Every: time.Second, GPU: loadgen.NvidiaSMI},
		"--gpu-metrics nvidia-smi:0,12":                         {Every: time.Second, GPU: loadgen.NvidiaSMI, GPUs: "0,12"},
		"--gpu-metrics http://gpu:9400/metrics":                 {Every: time.Second, GPU: "http://gpu:9400"},
		"--gpu-metrics https://gpus.example.org/dcgm/metrics":   {Every: time.Second, GPU: "https://gpus.example.org/dcgm"},
		"--gpu-metrics http://gpu:9400/":                        {Every: time.Second, GPU: "http://gpu:9400"},
	} {
		if got := mustParse(t, line).Plan.Watch; !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, want %+v", line, got, want)
		}
	}
	for line, want := range map[string]string{
		"--server-metrics a:8000":                                 "argument --server-metrics: 'a:8000': it must be nothing, or the URLs of the server's replicas as http://10.0.0.1:8000,http://10.0.0.2:8000",
		"--server-metrics http://me:secret@a:8000":                "argument --server-metrics: 'http://me:<redacted>@a:8000': it must be nothing",
		"--server-metrics http://a:8000 http://a:8000/metrics":    "argument --server-metrics: http://a:8000 is there twice: it would count twice",
		"--server-metrics http://a:8000 --unix-socket s":          "argument --server-metrics: there are no URLs behind --unix-socket",
		"--server-metrics http://a:8000 --target b=http://b:8000": "argument --server-metrics: each target has different replicas: name them in --target, as a=URL,server-metrics=http://10.0.0.1:8000",
	} {
		if _, err := parseRun(strings.Fields(line)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", line, err, want)
		}
	}
	o := mustParse(t, "--server-metrics --target a=http://lb:80,server-metrics=http://a:8000,http://b:8000,request-rate=3 b=http://c:8000")
	if a, b := o.Targets[0].Plan.Watch, o.Targets[1].Plan.Watch; !slices.Equal(a.URLs, []string{"http://a:8000", "http://b:8000"}) || b.URLs != nil || !b.Server {
		t.Errorf("of targets: %+v and %+v", a, b)
	}
	for _, line := range []string{"--gpu-metrics gpu:9400", "--gpu-metrics http://", "--gpu-metrics http://me:secret@gpu:9400/metrics", "--gpu-metrics ftp://gpu", "--gpu-metrics nvidia-smi:a", "--gpu-metrics nvidia-smi:"} {
		if _, err := parseRun(strings.Fields(line)); err == nil || !strings.Contains(err.Error(), "--gpu-metrics") || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", line, err)
		}
	}
}

func TestReplicasMayStandInAConfigFile(t *testing.T) {
	for text, want := range map[string]loadgen.Watch{
		"server-metrics: true\n":                           {Server: true},
		"server-metrics: false\n":                          {},
		"server-metrics: http://a:8000\n":                  {Server: true, URLs: []string{"http://a:8000"}},
		"server-metrics: [http://a:8000, http://b:8000]\n": {Server: true, URLs: []string{"http://a:8000", "http://b:8000"}},
	} {
		o := mustParse(t, "--config "+writeConfig(t, text))
		if want.Every = time.Second; !reflect.DeepEqual(o.Plan.Watch, want) {
			t.Errorf("%s: %+v, want %+v", text, o.Plan.Watch, want)
		}
	}
	if o := mustParse(t, "--server-metrics"); !slices.Contains(o.Plan.Flags, metrics.KV{Key: "server-metrics", Value: "true"}) {
		t.Errorf("recorded as %v", o.Plan.Flags)
	}
}
