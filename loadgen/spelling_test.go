package loadgen

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/servebench/servebench/loadgen/naming"
)

// A program's spelling is for its settings, also those that targets and the API's room name.
func TestMessagesSpellSettingsAsTheProgramDoes(t *testing.T) {
	flags := naming.Spelling{naming.Model: "--model", naming.Dataset: "--dataset-name"}
	for _, c := range []struct {
		spelling naming.Spelling
		want     []string
	}{
		{nil, []string{"no Server.Model was given", "as Workload.Dataset random-rerank has them"}},
		{flags, []string{"no --model was given", "as --dataset-name random-rerank has them"}},
	} {
		synctest.Test(t, func(t *testing.T) {
			none, reranked := onHandler(t), onHandler(t)
			none.Server.Handler = http.NotFoundHandler()
			reranked.Server.Backend = "vllm-rerank"
			for i, target := range []*Plan{none, reranked} {
				target.Target = "t"
				p := &Plan{Targets: []*Plan{target}, Program: Program{Spelling: c.spelling}}
				if _, err := p.Run(t.Context(), nil); err == nil || !strings.Contains(err.Error(), c.want[i]) {
					t.Errorf("%v, want %s", err, c.want[i])
				}
			}
		})
	}
}

// What a server says is not ours, even if it has the name of a setting.
func TestTextOfAServerIsNotSpelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const text = "Abort, Traffic.Duration and Workload.NumPrompts"
		p := onHandler(t)
		p.Server.Model, p.Abort = "m", rule("0")
		p.Server.Handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, text, http.StatusBadRequest) })
		p.Program.Spelling = naming.Spelling{naming.Abort: "--abort-on-failures", naming.Duration: "--duration", naming.NumPrompts: "--num-prompts"}
		sums, err := p.Run(t.Context(), nil)
		if err == nil || len(sums) != 1 {
			t.Fatal(sums, err)
		}
		by := sums[0].Ending.StoppedBy
		if !strings.HasPrefix(by, "--abort-on-failures 0: 1 of 1 request failed; 1 time: 400 Bad Request: ") || !strings.HasSuffix(by, text) {
			t.Errorf("stopped by %q", by)
		}
		if err.Error() != "stopped by "+by {
			t.Errorf("%v", err)
		}
	})
}
