package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	"github.com/servebench/servebench/cmd/servebench/internal/advice"
	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/hf"
	"github.com/servebench/servebench/dataset/kinds"
	"github.com/servebench/servebench/dataset/multimodal"
	"github.com/servebench/servebench/loadgen"
	"github.com/servebench/servebench/loadgen/arrivals"
	"github.com/servebench/servebench/loadgen/redact"
	"github.com/servebench/servebench/loadgen/wire"
	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/pyjson"
	"github.com/servebench/servebench/metrics/vllm"
	"github.com/servebench/servebench/report/files"
)

// mustParse parses a command line whose words have no spaces.
func mustParse(t *testing.T, line string, more ...string) *options {
	t.Helper()
	o, err := parseRun(append(strings.Fields(line), more...))
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// vLLM's client prints and saves the rate as it was given, whether or not the dataset has times.
func TestATraceWithTimesKeepsTheRate(t *testing.T) {
	const trace = "--dataset-name timed_trace --dataset-path x"
	if c := mustParse(t, trace).Plan.Config(); !c.SelfTimed || !math.IsInf(c.RequestRate, 1) {
		t.Errorf("self-timed %v, at a rate of %v", c.SelfTimed, c.RequestRate)
	}
	if c := mustParse(t, trace+" --request-rate 5").Plan.Config(); !c.SelfTimed || c.RequestRate != 5 {
		t.Errorf("self-timed %v, at a rate of %v", c.SelfTimed, c.RequestRate)
	}
}

func TestDefaultsAreVLLMs(t *testing.T) {
	o := mustParse(t, "")
	want := &options{Plan: loadgen.Plan{
		Server:  loadgen.Server{Backend: "openai", BaseURL: "http://127.0.0.1:8000", Endpoint: "/v1/completions"},
		Traffic: loadgen.Traffic{Rule: arrivals.SinceV010, RequestRate: math.Inf(1), Burstiness: 1},
		Workload: loadgen.Workload{
			Dataset: "random", NumPrompts: 1000, VocabSize: 32000, Random: dataset.Random{InputLen: 1024, OutputLen: 128}, Settings: kinds.Settings{Synthetic: o.Plan.Workload.Settings.Synthetic, Custom: dataset.Custom{OutputLen: 256}, PrefixRepetition: dataset.PrefixRepetition{PrefixLen: 256, SuffixLen: 256, NumPrefixes: 10, OutputLen: 128}, Sonnet: dataset.Sonnet{InputLen: 550, OutputLen: 150, PrefixLen: 200}, SpecBench: dataset.SpecBench{OutputLen: 256}, SpeedBench: dataset.SpeedBench{SpecBench: dataset.SpecBench{OutputLen: 4096}, Subset: "qualitative"}, TimedTrace: dataset.TimedTrace{ChunkSize: 16, Multiplier: 1, Labels: dataset.TraceLabels{
				Timestamp: "timestamp", InputLength: "input_length", OutputLength: "output_length", HashIDs: "hash_ids",
			}}, HF: hf.HF{Edits: hf.Edits{Max: 1}, Speech: hf.Speech{Max: math.Inf(1)}}, CustomImage: multimodal.CustomImage{OutputLen: 256}, CustomAudio: multimodal.CustomAudio{OutputLen: 256}, RandomMM: multimodal.RandomMM{
				Media: multimodal.Media{Items: 1, Limits: map[dataset.Kind]int{dataset.Image: 255, dataset.Video: 1}, Buckets: []multimodal.Bucket{{Height: 256, Width: 256, Frames: 1, Weight: 0.5}, {Height: 720, Width: 1280, Frames: 1, Weight: 0.5}, {Height: 720, Width: 1280, Frames: 16}}},
			}, BatchSize: 1}, // vLLM has none
		},
		Sampling: loadgen.Sampling{IgnoreEOS: true},
		Watch:    loadgen.Watch{Every: time.Second},
		Report:   loadgen.Report{Metrics: []string{"ttft", "tpot", "itl"}, Percentiles: []float64{99}},
		Limits:   loadgen.Limits{Connect: time.Minute, Stall: 5 * time.Minute, Total: 6 * time.Hour, Drain: 30 * time.Second},
		Repeat:   1,
		Flags:    o.Plan.Flags,
		Program:  loadgen.Program{Spelling: advice.Spelling},
	}, Results: resultOptions{Record: "full", Result: files.Result{Plots: files.Plots{ITLMarks: []float64{25, 50}}}}}
	if diff := cmp.Diff(want, o, cmp.Comparer(func(a, b vllm.Version) bool { return a == b }), cmp.AllowUnexported(redact.Secrets{})); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// The command line is that of the golden chat run; its result file says how the
// program understood it.
func TestGoldenCommandLineGivesGoldenConfig(t *testing.T) {
	o := mustParse(t, "--backend openai-chat --endpoint /v1/chat/completions --seed 7 --num-prompts 50 --random-input-len 100 "+
		"--random-output-len 50 --request-rate 20 --max-concurrency 16 --num-warmups 2 --ready-check-timeout-sec 10 --header x-foo=bar "+
		"--temperature 0 --goodput ttft:100 e2el:400 --metadata a=b --percentile-metrics ttft,tpot,itl,e2el "+
		"--metric-percentiles 50,99.9 --save-result --save-detailed --extra-body", `{"top_p": 0.9}`)
	var golden struct {
		Backend        string
		NumPrompts     int     `json:"num_prompts"`
		RequestRate    float64 `json:"request_rate"`
		Burstiness     float64
		MaxConcurrency int `json:"max_concurrency"`
		A              string
	}
	data, err := os.ReadFile("../../testdata/golden/wire/chat.result.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &golden); err != nil {
		t.Fatal(err)
	}
	want := metrics.Config{
		Backend: golden.Backend, BaseURL: "http://127.0.0.1:8000", Endpoint: "/v1/chat/completions", Dataset: "random", Seed: 7,
		NumPrompts: golden.NumPrompts, RequestRate: golden.RequestRate, Burstiness: golden.Burstiness, MaxConcurrency: golden.MaxConcurrency,
		IgnoreEOS:   true, // the random dataset's
		Traits:      metrics.Traits{Chat: true, Templated: true, LengthMember: "max_completion_tokens", Shorter: "lower --random-input-len or --random-output-len"},
		Metadata:    []metrics.KV{{Key: "a", Value: golden.A}},
		Goodput:     []metrics.SLO{{Metric: "ttft", Limit: 100}, {Metric: "e2el", Limit: 400}},
		Metrics:     []string{"ttft", "tpot", "itl", "e2el"},
		Percentiles: []float64{50, 99.9},
	}
	if diff := cmp.Diff(want, o.Plan.Config()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if o.Plan.Traffic.Warmups != 2 || o.Plan.Traffic.ReadyCheck != 10*time.Second || !o.Results.Save || !o.Results.SaveDetailed {
		t.Errorf("traffic %+v, results %+v", o.Plan.Traffic, o.Results)
	}
	if want := []metrics.KV{{Key: "x-foo", Value: "bar"}}; !cmp.Equal(want, o.Plan.Server.Headers) {
		t.Errorf("headers %v", o.Plan.Server.Headers)
	}
}

// The golden chat bodies end with what --temperature and --extra-body add.
func TestSamplingFlagsGoUnderExtraBody(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"", `{}`},
		{"--temperature 0 --extra-body.top_p 0.9", `{"temperature": 0.0, "top_p": 0.9}`},
		{"--temperature 0 --top-p 1 --extra-body.temperature 0.5", `{"top_p": 1.0, "temperature": 0.5}`},
		{"--repetition-penalty 1 --presence-penalty -2 --frequency-penalty 0 --temperature 1e-5 --min-p 0 --top-k 0 --top-p 0",
			`{"top_p": 0.0, "top_k": 0, "min_p": 0.0, "temperature": 1e-05, "frequency_penalty": 0.0, "presence_penalty": -2.0, "repetition_penalty": 1.0}`},
		{"--extra-body null", `{}`},
	} {
		o := mustParse(t, c.args)
		if got := string(pyjson.Append(nil, o.Plan.Sampling.ExtraBody)); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.args, got, c.want)
		}
	}
	if o := mustParse(t, "--temperature 0 --logprobs 0 --max-concurrency 1"); *o.Plan.Sampling.Temperature != 0 || *o.Plan.Sampling.Logprobs != 0 {
		t.Error("zero was taken for unset")
	}
}

func TestLengthsAndRatiosAreResolved(t *testing.T) {
	o := mustParse(t, "--input-len 10 --random-input-len 20 --output-len 5 --hf-output-len 6 --random-range-ratio", `{"input": 0.25, "output": 0}`)
	five := 5
	want := mustParse(t, "").Plan.Workload
	want.Random = dataset.Random{InputLen: 10, OutputLen: 5, Ratio: dataset.RangeRatio{Input: 0.25}}
	want.Settings.ShareGPTLen, want.Settings.Custom = &five, dataset.Custom{OutputLen: 5}
	want.Settings.Sonnet.InputLen, want.Settings.Sonnet.OutputLen = 10, 5
	want.Settings.SpecBench.OutputLen, want.Settings.PrefixRepetition.OutputLen = 5, 5
	want.Settings.CustomImage.OutputLen, want.Settings.CustomAudio.OutputLen, want.Settings.HF.OutputLen = 5, 5, &five
	if diff := cmp.Diff(want, o.Plan.Workload); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if r := mustParse(t, "--random-range-ratio 0.5").Plan.Workload.Random.Ratio; r.Input != 0.5 || r.Output != 0.5 {
		t.Errorf("one ratio gave %+v", r)
	}
	if o := mustParse(t, "--dataset-name sharegpt --dataset-path x.json"); o.Plan.Sampling.IgnoreEOS || o.Plan.Workload.Settings.ShareGPTLen != nil {
		t.Error("sharegpt took the random dataset's defaults")
	}
}

func TestURLIsMadeOfHostAndPort(t *testing.T) {
	for args, want := range map[string]string{
		"--host ::1 --port 80":              "http://[::1]:80/v1/completions",
		"--host [::1]":                      "http://[::1]:8000/v1/completions",
		"--host gpu1":                       "http://gpu1:8000/v1/completions",
		"--base-url https://x.example/api/": "https://x.example/api/v1/completions",
		"--base-url http://h:1 --endpoint v2/completions":                 "http://h:1/v2/completions",
		"--host fe80::1%eth0":                                             "http://[fe80::1%25eth0]:8000/v1/completions",
		"--base-url http://h:1?api-version=1 --endpoint v2/completions":   "http://h:1/v2/completions?api-version=1",
		"--base-url http://h:1/a/?x=1&y --endpoint v2/completions?z=%20":  "http://h:1/a/v2/completions?x=1&y&z=%20",
		"--base-url https://h/deployed --endpoint /chat/completions?a=/b": "https://h/deployed/chat/completions?a=/b",
		"--base-url http://h? --endpoint /completions?":                   "http://h/completions",
	} {
		s := mustParse(t, args).Plan.Server
		if got := s.URL(); got != want {
			t.Errorf("%s: got %s, want %s", args, got, want)
		}
	}
}

func TestCredentialsOfTheURLBecomeAHeader(t *testing.T) {
	s := mustParse(t, "--base-url http://me:s3cret@h:1").Plan.Server
	if want := (metrics.KV{Key: "Authorization", Value: "Basic bWU6czNjcmV0"}); s.BaseURL != "http://h:1" || !slices.Equal(s.Headers, []metrics.KV{want}) {
		t.Errorf("got %s, %v", s.BaseURL, s.Headers)
	}
	if masked := s.Secrets.Mask("401: me:s3cret, Basic bWU6czNjcmV0"); strings.Contains(masked, "s3cret") || strings.Contains(masked, "bWU6") {
		t.Errorf("shown: %s", masked)
	}
}

// What may be a key in a query is hidden, also where a server quotes it; what is not, as
// the version of an API, is shown.
func TestKeysInAQueryAreHidden(t *testing.T) {
	o := mustParse(t, "--base-url http://h:1/a?api-version=2026-01-01&api-key=s3cret%2F1 --endpoint /v1/completions?stage=two&sig=s3cret2")
	shown := map[string]string{}
	for _, kv := range o.Plan.Flags {
		shown[kv.Key] = kv.Value
	}
	if shown["base-url"] != "http://h:1/a?api-version=2026-01-01&api-key=<redacted>" || shown["endpoint"] != "/v1/completions?stage=two&sig=<redacted>" {
		t.Errorf("shown as %s and %s", shown["base-url"], shown["endpoint"])
	}
	if c := o.Plan.Config(); c.BaseURL != "http://h:1/a" || c.Endpoint != "/v1/completions" {
		t.Errorf("recorded as %s and %s", c.BaseURL, c.Endpoint)
	}
	if said := o.Plan.Server.Secrets.Mask("no such key: s3cret/1, s3cret%2F1, s3cret2, two"); said != "no such key: <redacted>, <redacted>, <redacted>, two" {
		t.Error(said)
	}
	if got := redactTarget("a=http://h/a?token=s3cret,endpoint=/v1/completions?key=s3cret,drop-body=ignore_eos,logprobs"); got !=
		"a=http://h/a?token=<redacted>,endpoint=/v1/completions?key=<redacted>,drop-body=ignore_eos,logprobs" {
		t.Error(got)
	}
}

// A target has its own members, certificates and query.
func TestATargetReachesItsServerInItsOwnWay(t *testing.T) {
	o := mustParse(t, "--client-cert all.pem --target a=https://h1?v=1,client-cert=a.pem,client-key=a.key,drop-body=ignore_eos,logprobs b=https://h2,ca-cert=ca.pem,chat-content=string")
	a, b := o.Targets[0], o.Targets[1]
	if a.Plan.Server.URL() != "https://h1/v1/completions?v=1" || a.Plan.Server.Transport.TLS != (wire.CredentialFiles{Certificate: "a.pem", Key: "a.key"}) ||
		!slices.Equal(a.Plan.Sampling.Drop, []string{"ignore_eos", "logprobs"}) || a.Plan.Sampling.PlainText {
		t.Errorf("a: %+v, %+v", a.Plan.Server, a.Plan.Sampling)
	}
	if b.Plan.Server.Query != "" || b.Plan.Server.Transport.TLS != (wire.CredentialFiles{Certificate: "all.pem", Authorities: "ca.pem"}) || b.Plan.Sampling.Drop != nil || !b.Plan.Sampling.PlainText {
		t.Errorf("b: %+v, %+v", b.Plan.Server, b.Plan.Sampling)
	}
}

// Without ignore_eos or a limit answers are as long as the server likes.
func TestADroppedLengthIsNotAskedFor(t *testing.T) {
	for line, want := range map[string]bool{"": true, "--drop-body logprobs": true, "--drop-body ignore_eos": false, "--drop-body logprobs,max_tokens": false} {
		if got := mustParse(t, line).Plan.Config().IgnoreEOS; got != want {
			t.Errorf("%q: exact %t", line, got)
		}
	}
}

func TestSecretsAreNotRecorded(t *testing.T) {
	o := mustParse(t, "--header Authorization=Bearer-s3cret X-Key=s3cret --base-url http://me:s3cret@h:1 --metadata a=b --save-result")
	if shown := fmt.Sprint(o.Plan.Flags, o.Plan.Config()); strings.Contains(shown, "s3cret") {
		t.Errorf("a secret is in %s", shown)
	}
	if o.Plan.Server.BaseURL != "http://h:1" || o.Plan.Server.Headers[0].Value != "Bearer-s3cret" || o.Plan.Server.Headers[1].Value != "s3cret" {
		t.Errorf("a secret was lost: %+v", o.Plan.Server)
	}
	want := map[string]string{
		"header": "Authorization=<redacted> X-Key=<redacted>", "base-url": "http://me:<redacted>@h:1", "metadata": "a=b",
		"save-result": "true", "num-prompts": "1000",
	}
	for _, kv := range o.Plan.Flags {
		if w, ok := want[kv.Key]; ok && w != kv.Value {
			t.Errorf("%s is recorded as %s", kv.Key, kv.Value)
		}
		delete(want, kv.Key)
	}
	if len(want) > 0 {
		t.Errorf("not recorded: %v", want)
	}
}

func TestHelpIsAskedFor(t *testing.T) {
	for _, args := range [][]string{{"-h"}, {"--help"}, {"--seed", "1", "--help", "--frobnicate"}} {
		if _, err := parseRun(args); !errors.Is(err, pflag.ErrHelp) {
			t.Errorf("%v gave %v", args, err)
		}
	}
}

func TestUnknownPercentileMetricIsWarnedOf(t *testing.T) {
	if o := mustParse(t, "--percentile-metrics ttft,itls"); len(o.Warnings) != 1 || !strings.Contains(o.Warnings[0], "'itls'") {
		t.Errorf("warnings %q", o.Warnings)
	}
}

// Each backend has a path, which need not be given.
func TestEndpointIsTheBackendsUnlessGiven(t *testing.T) {
	for args, want := range map[string]string{
		"": "/v1/completions", "--backend openai-chat": "/v1/chat/completions", "--backend vllm-rerank --dataset-name random-rerank --random-batch-size 2": "/v1/rerank",
		"--backend openai-chat --endpoint /x/chat/completions?k=1": "/x/chat/completions",
	} {
		o, err := parseRun(strings.Fields(args))
		if err != nil || o.Plan.Server.Endpoint != want {
			t.Errorf("%s: %v, %v, want %s", args, o, err, want)
			continue
		}
		if path, _, _ := strings.Cut(metrics.Value(o.Plan.Flags, "endpoint"), "?"); path != want {
			t.Errorf("%s: its record has the endpoint %s, want %s", args, path, want)
		}
	}
}
