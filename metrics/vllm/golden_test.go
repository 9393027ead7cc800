package vllm

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/servebench/servebench/dataset/tokenizer"
	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect"
	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/scrape"
)

// A goldenCase is one run of the real program on made-up requests.
type goldenCase struct {
	Name      string
	Argv      []string
	Tokenizer *string
	Duration  float64 `json:"benchmark_duration_s"`
	Counters  []struct {
		Drafts   int64            `json:"num_drafts"`
		Tokens   int64            `json:"num_draft_tokens"`
		Accepted int64            `json:"num_accepted_tokens"`
		PerPos   map[string]int64 `json:"accepted_per_pos"`
	} `json:"spec_decode_before_after"`
	Requests []struct {
		Success     bool
		Arrival     float64
		PromptLen   int      `json:"prompt_len"`
		Inputs      int      `json:"num_input_sequences"`
		Out         int      `json:"output_tokens"`
		Start       float64  `json:"start_time"`
		ServerQueue *float64 `json:"server_queue_time"`
		ServerTTFT  *float64 `json:"server_ttft"`
		TTFT        float64
		ITL         []float64
		Latency     float64
		Error       string
		Text        string  `json:"generated_text"`
		Audio       float64 `json:"input_audio_duration"`
	}
	Stdout string          `json:"stdout_from_main_run"`
	Lines  []string        `json:"stdout_before_block"`
	Block  string          `json:"block"`
	Result json.RawMessage `json:"result_json"`

	version Version // of vLLM
}

// goldenCases are those of a client of August 2026, before 0.30.0.
func goldenCases(t *testing.T) []goldenCase {
	t.Helper()
	cases := goldenFile(t, "metrics.json", 18)
	for i := range cases {
		cases[i].version = Version{major: 0, minor: 29, patch: 0}
	}
	return cases
}

// of033 are the cases of vLLM 0.33.0.
func of033(t *testing.T) []goldenCase {
	t.Helper()
	return goldenFile(t, "metrics-0.33.json", 24)
}

func goldenFile(t *testing.T, name string, n int) []goldenCase {
	t.Helper()
	data, err := os.ReadFile(top + "/testdata/golden/" + name)
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Cases []goldenCase }
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Cases) != n {
		t.Fatalf("%d golden cases", len(file.Cases))
	}
	return file.Cases
}

// header is what the flag layer would have made of the case's command line.
func (g *goldenCase) header(t *testing.T) *metrics.Header {
	t.Helper()
	c := metrics.Config{
		Backend: "openai", Model: "stub-32000", NumPrompts: len(g.Requests),
		RequestRate: math.Inf(1), Burstiness: 1,
		Metrics: []string{"ttft", "tpot", "itl"}, Percentiles: []float64{99},
	}
	if g.Tokenizer != nil {
		c.Tokenizer = *g.Tokenizer
	}
	flags := map[string][]string{}
	name := ""
	for _, arg := range g.Argv {
		if strings.HasPrefix(arg, "--") {
			name = arg
			flags[name] = nil
			continue
		}
		flags[name] = append(flags[name], arg)
	}
	for name, values := range flags {
		var err error
		switch name {
		case "--percentile-metrics":
			c.Metrics = strings.Split(values[0], ",")
		case "--metric-percentiles":
			c.Percentiles = nil
			for p := range strings.SplitSeq(values[0], ",") {
				c.Percentiles = append(c.Percentiles, number(t, p))
			}
		case "--goodput":
			for _, v := range values {
				metric, limit, _ := strings.Cut(v, ":")
				c.Goodput = append(c.Goodput, metrics.SLO{Metric: metric, Limit: number(t, limit)})
			}
		case "--request-rate":
			c.RequestRate = number(t, values[0])
		case "--max-concurrency":
			c.MaxConcurrency, err = strconv.Atoi(values[0])
		case "--ramp-up-strategy":
			c.RampUp = &metrics.RampUp{Strategy: values[0], Start: 1, End: 5}
		case "--backend":
			c.Backend, c.Traits = values[0], traits(values[0])
		case "--ramp-up-start-rps", "--ramp-up-end-rps", "--skip-tokenizer-init", "--save-detailed", "--endpoint":
		default:
			t.Fatalf("the test does not know %s", name)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if g.version == (Version{}) {
		c.Model, c.Tokenizer = "m", "GOLDEN/"+c.Tokenizer
	}
	if _, given := flags["--percentile-metrics"]; !given && c.Traits.Pooled {
		c.Metrics = []string{"e2el"}
	}
	if _, c.SkipTokenizer = flags["--skip-tokenizer-init"]; c.SkipTokenizer {
		c.Tokenizer = ""
	}
	return &metrics.Header{Config: c}
}

// counter counts the tokens of a text, as the case's tokenizer does: the stub of the
// older cases knows a word for a token.
func (g *goldenCase) counter(t *testing.T) func(string) int {
	t.Helper()
	if g.version != (Version{}) {
		return func(text string) int { return len(strings.Fields(text)) }
	}
	plain, err := tokenizer.Open(top + "/testdata/golden/tok-plain")
	if err != nil {
		t.Fatal(err)
	}
	return func(text string) int { return plain.Count(text, false) }
}

// summary runs the case's requests through a Collector.
func (g *goldenCase) summary(t *testing.T) *metrics.Summary {
	t.Helper()
	var result struct {
		Date     string
		Duration float64
		Changes  []struct {
			RPS       int
			Timestamp string
		} `json:"rps_change_events"`
	}
	if err := json.Unmarshal(g.Result, &result); err != nil {
		t.Fatal(err)
	}
	header, count := g.header(t), g.counter(t)
	collector := aspect.Collector(header)
	collector.Keep.Timings = true
	collector.Keep.Outcomes = g.version != (Version{}) || slices.Contains(g.Argv, "--save-detailed")
	for i, r := range g.Requests {
		o := metrics.Outcome{
			Index: i, Success: r.Success, In: r.PromptLen, Out: r.Out, Start: r.Start,
			TTFT: r.TTFT, ITL: r.ITL, Latency: r.Latency, Queue: r.Start - r.Arrival, Text: r.Text, Error: r.Error,
			ServerQueue: r.ServerQueue, ServerTTFT: r.ServerTTFT, Carried: &record.Payload{Inputs: r.Inputs, Audio: r.Audio},
		}
		switch {
		case header.Config.Traits.Pooled:
		case !r.Success:
			o.Out = 0
		case r.Out == 0 && header.Config.SkipTokenizer:
			o.Out = 1
		case r.Out == 0:
			o.Out = count(r.Text)
		}
		collector.AddOutcome(o)
	}
	s := collector.Summary(result.Duration)
	s.When.Date, _ = time.Parse(fileTime, result.Date)
	for _, c := range result.Changes {
		at, _ := time.Parse("2006-01-02T15:04:05.999999", c.Timestamp)
		s.Printed.RateChanges = append(s.Printed.RateChanges, metrics.RateChange{RPS: c.RPS, At: at})
	}
	if len(g.Counters) == 2 {
		var c [2]scrape.Counters
		for i, from := range g.Counters {
			c[i] = scrape.Counters{Drafts: from.Drafts, DraftTokens: from.Tokens,
				AcceptedTokens: from.Accepted, AcceptedAt: map[int]int64{}}
			for at, n := range from.PerPos {
				position, _ := strconv.Atoi(at)
				c[i].AcceptedAt[position] = n
			}
		}
		s.Printed.SpecDecode = c[0].SpecDecode(c[1])
	}
	return s
}

func TestBlockIsVLLMsByteForByte(t *testing.T) {
	for _, g := range append(goldenCases(t), of033(t)...) {
		t.Run(g.Name, func(t *testing.T) {
			var got bytes.Buffer
			if err := Block(&got, g.summary(t), g.version); err != nil {
				t.Fatal(err)
			}
			if got.String() != g.Block {
				t.Errorf("got\n%s\nwant\n%s", got.String(), g.Block)
			}
		})
	}
}

func TestFailuresAreListedAsVLLMDoes(t *testing.T) {
	for _, g := range append(goldenCases(t), of033(t)...) {
		if g.Lines != nil {
			g.Stdout = strings.Join(g.Lines, "\n") + "\n"
		}
		var got bytes.Buffer
		if err := Failures(&got, g.summary(t), Version{}); err != nil {
			t.Fatal(err)
		}
		_, want, found := strings.Cut(g.Stdout, "Failed requests during")
		if want, _, _ = strings.Cut(want, "tip: install"); found {
			want, _, _ = strings.Cut("Failed requests during"+want, "============ Serving")
		}
		if got.String() != want && found {
			t.Errorf("%s: got\n%s\nwant\n%s", g.Name, got.String(), want)
		}
		if !found && got.Len() > 0 {
			t.Errorf("%s: listed failures: %s", g.Name, got.String())
		}
	}
}

func TestJSONIsVLLMsKeyForKey(t *testing.T) {
	for _, g := range append(goldenCases(t), of033(t)...) {
		t.Run(g.Name, func(t *testing.T) {
			var got bytes.Buffer
			if err := writeResult(&got, g.summary(t), g.version); err != nil {
				t.Fatal(err)
			}
			gotTokens, wantTokens := tokens(t, got.Bytes()), tokens(t, g.Result)
			if len(gotTokens) != len(wantTokens) {
				t.Errorf("%d tokens, want %d", len(gotTokens), len(wantTokens))
			}
			for i := range min(len(gotTokens), len(wantTokens)) {
				if !close(gotTokens[i], wantTokens[i]) {
					t.Fatalf("token %d after %v: got %v, want %v", i, gotTokens[max(i-3, 0):i], gotTokens[i], wantTokens[i])
				}
			}
		})
	}
}

func tokens(t *testing.T, data []byte) []json.Token {
	t.Helper()
	var list []json.Token
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	for {
		token, err := d.Token()
		if err != nil {
			return list
		}
		list = append(list, token)
	}
}

// close says whether two tokens are the same, floats within 1e-9 of each other,
// and written in the same way.
func close(a, b json.Token) bool {
	x, isNumber := a.(json.Number)
	y, ok := b.(json.Number)
	if !isNumber || !ok {
		return a == b
	}
	if strings.ContainsAny(x.String(), ".e") != strings.ContainsAny(y.String(), ".e") {
		return false
	}
	v, _ := x.Float64()
	w, _ := y.Float64()
	return v == w || math.Abs(v-w) <= 1e-9*max(math.Abs(v), math.Abs(w))
}

func TestJSONWithoutOutcomesHasNoArrays(t *testing.T) {
	g := goldenCases(t)[0]
	s := g.summary(t)
	s.Kept.Outcomes = nil
	var got bytes.Buffer
	if err := writeResult(&got, s, Version{}); err != nil {
		t.Fatal(err)
	}
	var keys map[string]any
	if err := json.Unmarshal(got.Bytes(), &keys); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"input_lens", "output_lens", "ttfts", "itls", "start_times", "generated_texts", "errors"} {
		if _, ok := keys[key]; ok {
			t.Errorf("%s is there", key)
		}
	}
	if !slices.Contains([]any{1.0}, keys["completed"]) || keys["max_concurrent_requests"] != 1.0 {
		t.Errorf("got %s", got.String())
	}
}

func number(t *testing.T, text string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
