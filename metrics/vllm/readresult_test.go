package vllm

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect"
)

func TestResultFilesGiveTheirBlock(t *testing.T) {
	for _, name := range []string{"chat", "completions"} {
		file, err := os.ReadFile(top + "/testdata/golden/wire/" + name + ".result.json")
		if err != nil {
			t.Fatal(err)
		}
		stdout, err := os.ReadFile(top + "/testdata/golden/wire/" + name + ".stdout.txt")
		if err != nil {
			t.Fatal(err)
		}
		checkResult(t, name, file, blocksOf(string(stdout))[0], Version{major: 0, minor: 29, patch: 0})
	}
	for _, g := range append(goldenCases(t), of033(t)...) {
		checkResult(t, g.Name, g.Result, g.Block, g.version)
	}
}

// checkResult reads a result file and expects its block, and the file again.
func checkResult(t *testing.T, name string, file []byte, block string, v Version) {
	t.Helper()
	sums, err := ReadResults(bytes.NewReader(file), metrics.Ask{Outcomes: true, Timings: true})
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	if got := print(t, sums); len(got) != 1 || got[0] != block {
		t.Errorf("%s: got\n%s\nwant\n%s", name, got, block)
	}
	if w := sums[0].Ending.Warnings; len(w) > 0 {
		t.Errorf("%s: warns %q", name, w)
	}
	var again bytes.Buffer
	if err := writeResult(&again, sums[0], v); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(tokens(t, again.Bytes()), tokens(t, file)) {
		t.Errorf("%s: written again it differs:\n%.600s\n%.600s", name, again.Bytes(), file)
	}
	// The golden cases' files have lost their spaces, those of the wire have not.
	if spaced := bytes.Contains(file, []byte(`", "`)); spaced && !bytes.Equal(again.Bytes(), file) {
		t.Errorf("%s: written again it has other bytes", name)
	}
}

func TestWhatAFileLacksIsComputedFromItsArrays(t *testing.T) {
	for _, g := range goldenCases(t) {
		if g.Tokenizer == nil {
			continue
		}
		ask := metrics.Ask{
			Metrics:     []string{"ttft", "tpot", "itl", "e2el"},
			Percentiles: []float64{12.5, 50, 99},
			Goodput:     []metrics.SLO{{Metric: "ttft", Limit: 200}, {Metric: "tpot", Limit: 30}},
		}
		sums, err := ReadResults(bytes.NewReader(g.Result), ask)
		if err != nil {
			t.Fatal(err)
		}
		want := g.summary(t)
		c := &want.Header.Config
		c.Metrics, c.Percentiles, c.Goodput = ask.Metrics, ask.Percentiles, ask.Goodput
		collector := aspect.Collector(want.Header)
		for _, o := range want.Kept.Outcomes {
			collector.AddOutcome(o)
		}
		computed := collector.Summary(want.When.Seconds)
		computed.Printed.SpecDecode = want.Printed.SpecDecode
		got, expected := print(t, sums), print(t, []*metrics.Summary{computed})
		if got[0] != expected[0] {
			t.Errorf("%s: got\n%s\nwant\n%s", g.Name, got[0], expected[0])
		}
	}
}

// Rates follow from counts and duration; peaks, and counts themselves, from arrays.
func TestTotalsThatAFileLacksAreComputed(t *testing.T) {
	fromCounts := []string{"request_throughput", "output_throughput", "total_token_throughput"}
	fromArrays := append([]string{"total_output_tokens", "failed", "max_output_tokens_per_s", "max_concurrent_requests"}, fromCounts...)
	arrays := []string{"input_lens", "output_lens", "ttfts", "itls", "start_times", "errors", "generated_texts", "latencies"}
	computed := 0
	for _, g := range goldenCases(t) {
		if g.Tokenizer == nil {
			continue
		}
		for _, c := range []struct{ lacks, needs []string }{{slices.Concat(fromCounts, arrays), nil}, {fromArrays, []string{"output_lens", "start_times"}}} {
			file, whole := without(t, g.Result, c.lacks...)
			if slices.ContainsFunc(c.needs, func(key string) bool { return whole[key] == nil }) {
				continue
			}
			sums, err := ReadResults(bytes.NewReader(file), metrics.Ask{})
			if err != nil {
				t.Fatal(err)
			}
			if got := print(t, sums); got[0] != g.Block {
				t.Errorf("%s without %v: got\n%s\nwant\n%s", g.Name, c.lacks, got[0], g.Block)
			}
			computed++
		}
	}
	if computed < 10 {
		t.Errorf("only %d files tried", computed)
	}
}

// without is a JSON object less some keys, and the whole of it.
func without(t *testing.T, file []byte, keys ...string) (rest []byte, whole map[string]json.RawMessage) {
	t.Helper()
	if err := json.Unmarshal(file, &whole); err != nil {
		t.Fatal(err)
	}
	var kept []string
	d := json.NewDecoder(bytes.NewReader(file))
	if _, err := d.Token(); err != nil {
		t.Fatal(err)
	}
	for d.More() {
		key, _ := d.Token()
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			t.Fatal(err)
		}
		if name := key.(string); !slices.Contains(keys, name) {
			kept = append(kept, strconv.Quote(name)+": "+string(value))
		}
	}
	return []byte("{" + strings.Join(kept, ", ") + "}"), whole
}

// A file of today has the latencies and queue times of all requests without
// --save-detailed, too.
func TestE2ELAndQueueAreComputedWithoutDetails(t *testing.T) {
	n := 0
	for _, g := range of033(t) {
		if slices.Contains(g.Argv, "--save-detailed") {
			continue
		}
		n++
		ask := metrics.Ask{Metrics: []string{"e2el", "client_queue_time", "e2el_including_client_queue"}, Percentiles: []float64{12.5, 90}}
		sums, err := ReadResults(bytes.NewReader(g.Result), ask)
		if err != nil {
			t.Fatal(err)
		}
		want := g.summary(t)
		for _, name := range ask.Metrics {
			for _, p := range ask.Percentiles {
				if got, want := sums[0].Latency(name).Percentile(p), want.Latency(name).Percentile(p); !close(json.Number(fmt.Sprintf("%.17e", got)), json.Number(fmt.Sprintf("%.17e", want))) {
					t.Errorf("%s: P%v of %s is %v, want %v", g.Name, p, name, got, want)
				}
			}
		}
	}
	if n == 0 {
		t.Error("every case has details")
	}
}

func TestEstimatesFromChatFilesAreMarked(t *testing.T) {
	file, err := os.ReadFile(top + "/testdata/golden/wire/chat.result.json")
	if err != nil {
		t.Fatal(err)
	}
	sums, err := ReadResults(bytes.NewReader(file), metrics.Ask{Percentiles: []float64{50, 75}})
	if err != nil {
		t.Fatal(err)
	}
	s := sums[0]
	if len(s.Ending.Warnings) != 1 || !strings.Contains(s.Ending.Warnings[0], "tpot and e2el are approximate") {
		t.Errorf("warnings %q", s.Ending.Warnings)
	}
	if !s.E2EL.Approximate() || !s.TPOT.Approximate() || s.TTFT.Approximate() || s.ITL.Approximate() {
		t.Error("not tpot and e2el alone are marked")
	}
	if p := s.E2EL.Percentile(75); p < 290 || p > 310 {
		t.Errorf("P75 of e2el is %v ms", p)
	}
}

func TestAppendedResultsAreAllRead(t *testing.T) {
	cases := goldenCases(t)
	var file bytes.Buffer
	for i, g := range cases[:3] {
		if i > 0 {
			file.WriteString("\n")
		}
		if err := json.Compact(&file, g.Result); err != nil {
			t.Fatal(err)
		}
	}
	file.WriteString("\n" + `{"another": "kind"}`)
	sums, err := ReadResults(&file, metrics.Ask{})
	if err != nil {
		t.Fatal(err)
	}
	got := print(t, sums)
	if len(got) != 3 {
		t.Fatalf("%d blocks", len(got))
	}
	for i := range got {
		if got[i] != cases[i].Block {
			t.Errorf("block %d is\n%s", i, got[i])
		}
	}
}

func TestResultsThatAreNotGetAnError(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"another object": {`{"a": 1}`, "no JSON object with the keys duration"},
		"cut":            {`{"duration": 1, "completed": 2, "total_in`, "object 1: unexpected EOF"},
		"no object":      {`[1, 2]`, "where an object should begin"},
		"uneven arrays": {`{"duration": 1, "completed": 1, "total_input_tokens": 1, "input_lens": [1, 2], "output_lens": [1], "ttfts": [], "itls": []}`,
			"arrays of 2, 1, 0 and 0 requests"},
		"tokens whose sum overflows": {`{"duration": 1, "completed": 2, "total_input_tokens": 1, "input_lens": [9223372036854775807, 9223372036854775807], "output_lens": [1, 1], "ttfts": [1, 1], "itls": [[], []]}`,
			"input_lens: request 0 has 9223372036854775807 tokens: the most are 1000000000000"},
	} {
		_, err := ReadResults(strings.NewReader(c.text), metrics.Ask{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func FuzzReadResults(f *testing.F) {
	f.Add([]byte(`{"date": "20261120-120437", "backend": "openai-chat", "label": null, "m": "d", "request_rate": "inf", "duration": 2.5, "completed": 1, "failed": 1, "total_input_tokens": 5, "input_lens": [5, 5], "output_lens": [3, 0], "ttfts": [0.1, 0.0], "itls": [[0.1, 0.2], []], "start_times": [1.5, 1.6], "generated_texts": ["a", ""], "errors": ["", "x"], "mean_ttft_ms": 100.0, "p99.9_ttft_ms": 100.0, "spec_decode_acceptance_rate": 5, "spec_decode_per_position_acceptance_rates": [0.5]}`))
	f.Fuzz(func(t *testing.T, file []byte) {
		sums, err := ReadResults(bytes.NewReader(file), metrics.Ask{Outcomes: true, Metrics: []string{"e2el", "itl"}})
		if err != nil {
			return
		}
		print(t, sums)
		for _, s := range sums {
			if err := writeResult(&bytes.Buffer{}, s, Version{}); err != nil {
				t.Error(err)
			}
		}
	})
}

// A result file has no TTFO, so no request is known to have kept a limit on it.
func TestGoodputByTTFOIsUnknownOfFiles(t *testing.T) {
	const warning = "goodput cannot be recomputed: the file does not hold the requests' ttfo"
	detailed := 0
	for _, g := range of033(t) {
		if !slices.Contains(g.Argv, "--save-detailed") {
			continue
		}
		detailed++
		for _, slos := range [][]metrics.SLO{{{Metric: "ttfo", Limit: 1e9}}, {{Metric: "e2el", Limit: 1e9}, {Metric: "ttfo", Limit: 1e9}}} {
			sums, err := ReadResults(bytes.NewReader(g.Result), metrics.Ask{Goodput: slos})
			if err != nil || !math.IsNaN(sums[0].Rates.Goodput) || !slices.Contains(sums[0].Ending.Warnings, warning) {
				t.Errorf("%s: %v, goodput %v, warns %q", g.Name, err, sums[0].Rates.Goodput, sums[0].Ending.Warnings)
			}
		}
	}
	if detailed == 0 {
		t.Error("no case has details")
	}
}

// The first sign of an answer that came whole is its end, in a file as in a run.
func TestLimitsOnTTFTOfPoolingLimitE2EL(t *testing.T) {
	const file = `{"backend": "openai-embeddings", "num_prompts": 3, "request_rate": "inf", "duration": 1.0, "completed": 3, "total_input_tokens": 9, ` +
		`"total_input_sequences": 3, "request_throughput": 3.0, "input_lens": [3, 3, 3], "latencies": [0.1, 0.2, 0.3], "queue_times": [0, 0, 0], "errors": ["", "", ""]}`
	sums, err := ReadResults(strings.NewReader(file), metrics.Ask{Goodput: []metrics.SLO{{Metric: "ttft", Limit: 200}}})
	if err != nil || sums[0].Rates.Goodput != 2 || sums[0].TTFT.Len() != 0 {
		t.Errorf("goodput %v, %d TTFTs, %v", sums[0].Rates.Goodput, sums[0].TTFT.Len(), err)
	}
}

// The file of a pooling endpoint does not count its failed requests, and its block does.
func TestFailedRequestsOfAPoolingFileAreCounted(t *testing.T) {
	const file = `{"backend": "vllm-pooling", "num_prompts": 4, "request_rate": "inf", "duration": 1.0, "completed": 3, "total_input_tokens": 9, ` +
		`"total_input_sequences": 3, "request_throughput": 3.0, "latencies": [0.1, 0.2, 0.3, 0.4], "queue_times": [0, 0, 0, 0]}`
	sums, err := ReadResults(strings.NewReader(file), metrics.Ask{})
	if err != nil || sums[0].Completed != 3 || sums[0].Failed != 1 {
		t.Errorf("%d completed, %d failed, %v", sums[0].Completed, sums[0].Failed, err)
	}
}
