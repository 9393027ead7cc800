package upstream

import (
	"testing"

	"github.com/servebench/servebench/metrics/pyjson"
)

func words(line map[string][]string) Given {
	return func(flag string) ([]string, bool) {
		words, ok := line[flag]
		return words, ok
	}
}

func TestNamespaceIsWhatTheClientHas(t *testing.T) {
	all, err := Namespace(words(map[string][]string{
		"header": {"A=b"}, "metadata": {"a=1", "b=2"}, "profile": {}, "request-rate": {"3"}, "burstiness": {"inf"}, "seed": {" 1_0 "},
		"output-len": {"5"}, "extra-body": {`{"a": 1}`}, "bfcl-categories": {" simple,,live_simple "}, "random-range-ratio": {`{"input": 0.5}`},
		"random-mm-bucket-config": {`{(256,256,1): 1, "(720, 1280, 16)": 2e-1}`},
	}))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"header": `"***"`, "metadata": `["a=1", "b=2"]`, "profile": "true", "no_stream": "false", "request_rate": "3.0", "seed": "10",
		"output_len": "5", "hf_output_len": "5", "prefix_repetition_output_len": "5", "speed_bench_output_len": "4096", "random_input_len": "1024",
		"extra_body": `{"a": 1}`, "bfcl_categories": `["simple", "live_simple"]`, "random_range_ratio": `{"input": 0.5}`,
		"random_mm_bucket_config":            `{"(256, 256, 1)": 1.0, "(720, 1280, 16)": 0.2}`,
		"random_mm_limit_mm_per_prompt":      `{"image": 255, "video": 1}`,
		"timed_trace_sec_multiplier":         "1",
		"asr_max_audio_len_sec":              `"inf"`,
		"percentile_metrics":                 "null",
		"request_id_prefix":                  "null",
		"self_timed":                         "null",
		"random_mm_base_items_per_request":   "1",
		"random_mm_num_mm_items_range_ratio": "0.0",
	} {
		value, ok := all.Get(name)
		if got := string(pyjson.Append(nil, value)); got != want || !ok {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
}

func TestNamespaceWithoutFlagsHasTheDefaults(t *testing.T) {
	all, err := Namespace(words(nil))
	if err != nil {
		t.Fatal(err)
	}
	if value, _ := all.Get("random_range_ratio"); value != 0.0 {
		t.Errorf("random_range_ratio is %v", value)
	}
	if len(all) != 101 || all[0].Key != "trust_remote_code" || all[100].Key != "plot_dataset_stats" {
		t.Errorf("%d arguments, from %s to %s", len(all), all[0].Key, all[len(all)-1].Key)
	}
}

func TestWordsOfTheWrongTypeAreErrors(t *testing.T) {
	for flag, word := range map[string]string{
		"seed": "1.5", "request-rate": "fast", "extra-body": "{", "random-range-ratio": "[", "random-mm-bucket-config": "{(1, 1, 1): x}",
	} {
		if all, err := Namespace(words(map[string][]string{flag: {word}})); err == nil {
			t.Errorf("--%s %s is read: %v", flag, word, all)
		}
	}
}
