package loadgen

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/servebench/servebench/loadgen/api"
	"github.com/servebench/servebench/loadgen/spool"
	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/pyjson"
	"github.com/servebench/servebench/metrics/vllm"
)

// bare are the traits of a run of completions with texts of a file.
var bare = metrics.Traits{LengthMember: "max_tokens"}

func TestTraitsAreThoseOfTheAPIAndTheWorkload(t *testing.T) {
	with := func(change func(*metrics.Traits)) metrics.Traits {
		traits := bare
		change(&traits)
		return traits
	}
	chat := with(func(t *metrics.Traits) { t.Chat, t.Templated, t.LengthMember = true, true, "max_completion_tokens" })
	shared := chat
	shared.SharedPrefixes = true
	tools := pyjson.Object{{Key: "tools", Value: []any{}}}
	for name, c := range map[string]struct {
		set  func(*Plan)
		want metrics.Traits
	}{
		"bare":  {func(*Plan) {}, bare},
		"chats": {func(p *Plan) { p.Server.Backend = "openai-chat" }, chat},
		"responses": {func(p *Plan) { p.Server.Backend = "openai-responses" },
			metrics.Traits{Templated: true, CountsLast: true, LengthMember: "max_output_tokens"}},
		"messages": {func(p *Plan) { p.Server.Backend = "anthropic" },
			metrics.Traits{Templated: true, CountsLast: true, LengthMember: "max_tokens"}},
		"sounds": {func(p *Plan) { p.Server.Backend = "openai-audio" },
			metrics.Traits{Chat: true, Spoken: true, LengthMember: "max_completion_tokens"}},
		"embeddings": {func(p *Plan) { p.Server.Backend = "openai-embeddings-chat" },
			metrics.Traits{Pooled: true, Templated: true, CountsLast: true}},
		"tools before the prompts": {func(p *Plan) { p.Server.Backend, p.Sampling.ExtraBody = "openai-chat", tools }, shared},
		"tools without a template": {func(p *Plan) { p.Sampling.ExtraBody = tools }, bare},
		"each chunk counted":       {func(p *Plan) { p.Sampling.UsageAlways = true }, with(func(t *metrics.Traits) { t.CountsEach = true })},
		"each chunk counted, by the body": {func(p *Plan) {
			p.Sampling.ExtraBody = pyjson.Object{{Key: "stream_options", Value: json.RawMessage(`{"continuous_usage_stats": true}`)}}
		}, with(func(t *metrics.Traits) { t.CountsEach = true })},
		"options that are none": {func(p *Plan) {
			p.Sampling.ExtraBody = pyjson.Object{{Key: "stream_options", Value: json.RawMessage(`7`)}}
		}, bare},
		"no options":  {func(p *Plan) { p.Sampling.Drop = []string{"stream_options"} }, with(func(t *metrics.Traits) { t.CountsLast = true })},
		"a template":  {func(p *Plan) { p.Workload.Dataset = "custom" }, with(func(t *metrics.Traits) { t.Rendered = true })},
		"no template": {func(p *Plan) { p.Workload.Dataset, p.Workload.SkipTemplate = "custom", true }, bare},
		"a template in any case": {func(p *Plan) { p.Workload.Dataset, p.Workload.SkipTemplate = "spec_bench", true },
			with(func(t *metrics.Traits) { t.Rendered = true })},
		"prefixes":          {func(p *Plan) { p.Workload.Random.PrefixLen = 9 }, with(func(t *metrics.Traits) { t.SharedPrefixes = true })},
		"repeated prefixes": {func(p *Plan) { p.Workload.Dataset = "prefix_repetition" }, with(func(t *metrics.Traits) { t.SharedPrefixes = true })},
		"fewer prompts":     {func(p *Plan) { p.Workload.NoOversample = true }, with(func(t *metrics.Traits) { t.Fewer = true })},
		"a socket":          {func(p *Plan) { p.Server.Socket = "/s" }, with(func(t *metrics.Traits) { t.Socket = true })},
		"repeats":           {func(p *Plan) { p.Repeat = 2 }, with(func(t *metrics.Traits) { t.Alone = true })},
		"targets alone":     {func(p *Plan) { p.SoloFirst = true }, with(func(t *metrics.Traits) { t.Alone = true })},
		"standard output":   {func(p *Plan) { p.Keep.Records = spool.To(t.Output()) }, with(func(t *metrics.Traits) { t.Piped = true })},
		"random prompts": {func(p *Plan) { p.Workload.Dataset = "random" },
			with(func(t *metrics.Traits) { t.Shorter = "lower --random-input-len or --random-output-len" })},
		"random sessions": {func(p *Plan) { p.Workload.Dataset, p.Workload.Settings.MultiTurn.On = "random", true },
			with(func(t *metrics.Traits) { t.Shorter = "leave out long sessions (--max-model-len)" })},
	} {
		p := &Plan{Server: Server{Backend: "openai"}, Workload: Workload{Dataset: "sharegpt"}}
		c.set(p)
		if got := p.Config().Traits; got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

// A result file has an API by name alone: whoever reads it finds the same traits.
func TestResultFilesHaveTheTraitsOfTheirAPI(t *testing.T) {
	for _, api := range api.All {
		p := &Plan{Server: Server{Backend: api.Name}}
		want := p.Config().Traits
		sums, err := vllm.ReadResults(strings.NewReader(`{"backend": "`+api.Name+`", "completed": 1, "duration": 1.0, "total_input_tokens": 1}`), metrics.Ask{})
		if err != nil || len(sums) != 1 {
			t.Fatal(sums, err)
		}
		got := sums[0].Header.Config.Traits
		if got.Chat != want.Chat || got.Pooled != want.Pooled || got.Spoken != want.Spoken {
			t.Errorf("%s: %+v, want %+v", api.Name, got, want)
		}
	}
}
