package loadgen

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/servebench/servebench/loadgen/openai"
	"github.com/servebench/servebench/loadgen/workload"
	"github.com/servebench/servebench/metrics/record"
)

// custom is of a file of n prompts.
func custom(t *testing.T, n int) with {
	t.Helper()
	text := ""
	for i := range n {
		text += fmt.Sprintf("{\"prompt\": \"tok%d tok2\"}\n", i)
	}
	name := filepath.Join(t.TempDir(), "c.jsonl")
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return func(p *Plan) {
		p.Workload.Dataset, p.Workload.Path, p.Workload.SkipTemplate, p.Workload.NoOversample = "custom", name, true, true
		p.Workload.Settings.Custom.OutputLen = 256
	}
}

// remarks keeps what is said of a run.
type remarks struct {
	Quiet
	mu sync.Mutex
	strings.Builder
}

func (r *remarks) Remark(_, text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	fmt.Fprintln(&r.Builder, text)
}

// pulled are the first n conversations of a workload: their ids and prompts.
func pulled(t *testing.T, p *Plan, n int) (ids, prompts map[string]int) {
	t.Helper()
	w, err := workload.Open(t.Context(), p.spec(), workload.Origin{Model: "stub-32000", Say: func(string, ...any) {}})
	if err != nil {
		t.Fatal(err)
	}
	ids, prompts = map[string]int{}, map[string]int{}
	for c, err := range w.Source {
		if err != nil {
			t.Fatal(err)
		}
		ids[c.ID]++
		prompts[c.Turns[0].Prompt]++
		if n--; n == 0 {
			break
		}
	}
	if n > 0 {
		t.Fatalf("%d conversations too few", n)
	}
	return ids, prompts
}

func TestCurvesCountFollowsTheSeedOfTheTrial(t *testing.T) {
	counts := map[int]bool{}
	for seed := range 5 {
		p := plan(t, along(t, "up-down:0,20,1"))
		p.Workload.Seed = int64(seed)
		sized, err := p.Sized()
		if err != nil {
			t.Fatal(err)
		}
		counts[sized.Workload.NumPrompts] = true
	}
	if len(counts) < 3 {
		t.Errorf("5 seeds gave the counts %v", counts)
	}
}

func TestRoundsHaveOtherPromptsAndIDs(t *testing.T) {
	p := plan(t, lasting(9*time.Second), slots(2))
	p.Workload.Random.InputLen, p.Workload.RequestIDPrefix, p.Workload.Seed, p.Workload.NumPrompts = 20, "r-", 4294967295, 10
	ids, prompts := pulled(t, p, 35)
	if len(ids) != 35 || len(prompts) != 35 {
		t.Errorf("35 conversations with %d ids and %d prompts", len(ids), len(prompts))
	}
	if ids["r-0"] != 1 || ids["r-4-1000002"] != 1 || ids["r-4-3000008"] != 1 {
		t.Errorf("ids %v", ids)
	}
}

func TestDatasetOfAFileIsSentAgain(t *testing.T) {
	p, err := plan(t, lasting(9*time.Second), rate(4), custom(t, 5)).Sized()
	if err != nil {
		t.Fatal(err)
	}
	said := ""
	from := workload.Origin{Model: "stub-32000", Say: func(format string, args ...any) { said += fmt.Sprintf(format, args...) }}
	w, err := workload.Open(t.Context(), p.spec(), from)
	if err != nil || w.N != 36 {
		t.Fatalf("%d conversations, %v", w.N, err)
	}
	if !strings.Contains(said, "the custom dataset has 5 prompts: if the load needs more, they are sent again") {
		t.Errorf("said %q", said)
	}
	if _, prompts := pulled(t, p, 36); len(prompts) != 5 {
		t.Errorf("%d prompts, want 5 again and again", len(prompts))
	}
}

func TestWarmUpThatFailsIsSaid(t *testing.T) {
	var w warmUp
	for _, class := range []record.Class{record.OK, record.Cancelled} {
		w.note(&record.Record{Result: record.Result{Class: class}})
	}
	if got := w.warnings(); got != nil {
		t.Errorf("said %q of nothing", got)
	}
	w.note(&record.Record{Result: record.Result{Class: record.Status, Error: "500"}})
	w.note(&record.Record{Result: record.Result{Class: record.Stall, Error: "stalled"}})
	if got := w.warnings(); len(got) != 1 || got[0] != "2 requests of the warm-up failed, the first: 500" {
		t.Errorf("said %q", got)
	}
}

// Cutting prompts to length by the server's count would never come to an end.
func TestEndlessPromptsAreNotAligned(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `{"tokens": [1, 2, 3, 4, 5, 6, 7]}`)
	}))
	defer server.Close()
	p := plan(t, slots(3), lasting(9*time.Second))
	p.Workload.Random.InputLen = 5
	w, err := workload.Open(t.Context(), p.spec(), workload.Origin{Model: "stub-32000", Say: func(string, ...any) {}})
	if err != nil {
		t.Fatal(err)
	}
	var said remarks
	b := &prepared{server: &contact{connection: &connection{calls: &openai.Server{URL: server.URL}}}, workload: w}
	b.voice = voice{&said, p}
	if err := b.align(t.Context(), b.voice); err != nil || !strings.Contains(said.String(), "WARNING: the server has 7 tokens in a prompt of 5: ") {
		t.Errorf("%v, said %q", err, said.String())
	}
}
