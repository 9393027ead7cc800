package sweep

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNeeds(t *testing.T) {
	p := parse(t, "needs: {programs: [jq], python: [torch, a.b], vllm: {from: 0.30, below: 1}, gpu: {memory: 40, sms: 132, driver: 590}}\narms: [{name: a, needs: {vllm: {from: 0.33.1}}}]")
	want := Needs{
		Programs: []string{"jq"}, Python: []string{"torch", "a.b"},
		VLLM: VLLMNeeds{From: "0.30", Below: "1"}, GPU: GPUNeeds{Memory: 40, SMs: 132, Driver: 590},
	}
	if diff := cmp.Diff(want, p.Needs); diff != "" {
		t.Error(diff)
	}
	if got := p.Arms[0].Needs.VLLM.From; got != "0.33.1" {
		t.Errorf("the arm needs %q", got)
	}
	for text, want := range map[string]string{
		`{engine: ["vllm>=0.33"]}`: "engine: needs has no such key; it has gpu, programs, python, vllm",
		`{vllm: ">=0.33"}`:         "vllm must be a mapping",
		`{vllm: {from: 0.33rc1}}`:  `vllm: "0.33rc1" is not a release, such as 0.33`,
		`{python: [torch==2.10]}`:  `python: "torch==2.10" is not the name of a module, such as torch`,
		`{python: torch}`:          "python must be a list of texts",
	} {
		_, err := Parse("plan.yaml", strings.NewReader("needs: "+text), &Flags{Words: anyFlag, Load: anyLoad})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
