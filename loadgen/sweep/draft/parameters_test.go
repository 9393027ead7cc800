package draft

import (
	"strings"
	"testing"
)

func TestCombinationsReplaceFlags(t *testing.T) {
	combinations, err := ReadCombinations(`[{"max_num_seqs": 4, "enable-prefix-caching": false, "compilation_config.mode": 3, "hf-overrides": {"a": 1}, "kv.on": true},
		{"_benchmark_name": "plain"}, {"port": 9000, "gpu_memory_utilization": 0.5}]`)
	if err != nil {
		t.Fatal(err)
	}
	command := []string{"vllm", "serve", "m", "--max-num-seqs", "8", "--enable_prefix_caching", "--port", "8000"}
	for i, want := range []string{
		`vllm serve m --max-num-seqs 4 --no-enable-prefix-caching --port 8000 --compilation-config.mode 3 --hf-overrides {"a": 1} --kv.on=true`,
		`vllm serve m --max-num-seqs 8 --enable_prefix_caching --port 8000`,
		`vllm serve m --max-num-seqs 8 --enable_prefix_caching --port 9000 --gpu-memory-utilization 0.5`,
	} {
		if got := strings.Join(combinations[i].apply(command), " "); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
	if got := combinations[0].name(); got != `max_num_seqs=4-enable-prefix-caching=false-compilation_config.mode=3-hf-overrides={"a": 1}-kv.on=true` {
		t.Errorf("it is named %s", got)
	}
	if got := serverURL(combinations[2].apply(command)); got != "http://127.0.0.1:9000" {
		t.Errorf("the server is at %s", got)
	}
}

func TestLinkedParametersAreThereAndEqual(t *testing.T) {
	combinations, err := ReadCombinations(`[{"a": 1, "b": 2}, {"a": 1}, {"a": 2}, {"b": 1}]`)
	if err != nil {
		t.Fatal(err)
	}
	p := Parameters{Links: [][2]string{{"a", "a"}, {"a", "b"}}}
	for i, want := range []bool{false, false, false, false} {
		if got := p.linked(combinations[1], combinations[i]); got != want {
			t.Errorf("both links with %s: %t", combinations[i].name(), got)
		}
	}
	p.Links = p.Links[1:]
	for i, want := range []bool{false, false, false, true} {
		if got := p.linked(combinations[1], combinations[i]); got != want {
			t.Errorf("a=1 with b of %s: %t", combinations[i].name(), got)
		}
	}
	if p.linked(combinations[3], combinations[3]) {
		t.Error("a server without the parameter is linked")
	}
}

func TestCombinationsThatAreWrong(t *testing.T) {
	for text, want := range map[string]string{
		`[`:                                 "it ends in the middle",
		`3`:                                 "it must be a list of objects",
		`[]`:                                "it has no combination",
		`[3]`:                               "combination 1 is no object",
		`{"a": {"x": 1}, "b": {"x": null}}`: "combination 2: x has no value",
		`[{"_benchmark_name": "a"}, {"_benchmark_name": "a"}]`: "two combinations have the name a",
	} {
		if _, err := ReadCombinations(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
