package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/servebench/servebench/tools/peers/truth"
)

func TestResultsAreRead(t *testing.T) {
	for _, test := range []struct {
		dir  string
		read func(dir string) (figures, error)
		want figures
	}{
		{"vllm-rs", readVLLM, figures{
			Completed: 4, MeanTTFT: 50.586912999999996, P99TTFT: 50.634072749999994,
			P99ITL: 20.148736590000002, LeastITL: 20.148736590000002, MostITL: 20.148736590000002,
		}},
		{"servebench", readVLLM, figures{
			Completed: 1024, MeanTTFT: 85.62948700878906, P99TTFT: 120.15075565, P99ITL: 40.35997149999999,
			Verdict: "SUSPECT", Marked: 3.4651692708333335, LeastITL: 27.72708635, MostITL: 46.235727,
		}},
		{"aiperf", readAIPerf, figures{Completed: 64, MeanTTFT: 66.37, P99TTFT: 75.57, P99ITL: 43.9}},
	} {
		got, err := test.read("testdata/" + test.dir)
		if err != nil || got != test.want {
			t.Errorf("%s: %#v, %v", test.dir, got, err)
		}
		if _, err := test.read(t.TempDir()); err == nil {
			t.Errorf("%s: a missing result is no error", test.dir)
		}
	}
}

func TestLoadsBecomeFlags(t *testing.T) {
	p := place{url: "http://127.0.0.1:1", tokenizer: "tokens", dir: "results"}
	even := load{Requests: 7, Input: 16, Output: 3, Concurrency: 5, Rate: 2.5, Even: true}
	for _, test := range []struct {
		args []string
		want string
	}{
		{vllmArgs("servebench", "run")(even, p), "servebench run --base-url http://127.0.0.1:1 --model truth --tokenizer tokens " +
			"--dataset-name random --num-prompts 7 --ignore-eos --disable-tqdm --random-input-len 16 --random-output-len 3 " +
			"--percentile-metrics ttft,tpot,itl --save-result --result-dir results --result-filename result.json " +
			"--max-concurrency 5 --request-rate 2.5 --burstiness 1e9"},
		{aiperfArgs("aiperf")(even, p), "aiperf profile --model truth --url http://127.0.0.1:1 --endpoint-type completions --streaming " +
			"--tokenizer peers/truth --isl 16 --osl 3 --extra-inputs ignore_eos:true --extra-inputs max_tokens:3 " +
			"--request-count 7 --artifact-dir results --ui none --request-rate 2.5"},
		{aiperfArgs("aiperf")(load{Requests: 7, Output: 1}, p)[19:], "--request-count 7 --artifact-dir results --ui none --concurrency 7"},
	} {
		if got := strings.Join(test.args, " "); got != test.want {
			t.Errorf("%s\nwant %s", got, test.want)
		}
	}
}

func TestSomeClientsTakePartInSomeMeasurements(t *testing.T) {
	all := []client{{name: ours}, {name: warm, only: true}, {name: rust}, {name: python, turns: 1}}
	accurate := load{Script: truth.Script{First: time.Second}}
	for _, test := range []struct {
		m    measurement
		turn int
		want []string
	}{
		{measurement{load: accurate}, 0, []string{ours, warm, rust, python}},
		{measurement{load: accurate}, 1, []string{ours, warm, rust}},
		{measurement{load: accurate, less: new(load)}, 0, []string{ours, rust, python}},
		{measurement{}, 0, []string{ours, rust, python}},
		{measurement{clients: []string{ours, rust}}, 0, []string{ours, rust}},
	} {
		var got []string
		for _, c := range all {
			if c.takes(test.m, test.turn) {
				got = append(got, c.name)
			}
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%+v, turn %d: %q, want %q", test.m, test.turn, got, test.want)
		}
	}
}

func TestMeasurementsHaveNames(t *testing.T) {
	names := make(map[string]bool)
	for _, m := range measurements(false, "") {
		if names[m.name] {
			t.Errorf("two measurements are %q", m.name)
		}
		names[m.name] = true
	}
	for _, table := range tables() {
		for _, row := range table.rows {
			if !names[row.measurement] {
				t.Errorf("no measurement is %q", row.measurement)
			}
		}
	}
	if only := measurements(true, "Poisson"); len(only) != 1 {
		t.Errorf("measurements that are Poisson: %v", only)
	}
}
