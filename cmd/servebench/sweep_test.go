package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"github.com/servebench/servebench/cmd/servebench/internal/argv"
	"github.com/servebench/servebench/dataset/tokenizer"
	"github.com/servebench/servebench/loadgen/sim"
	"github.com/servebench/servebench/loadgen/sim/speed"
)

// simHandler is a simulated server.
func simHandler(t *testing.T) http.Handler {
	t.Helper()
	words, err := tokenizer.Open("stub-32000")
	if err != nil {
		t.Fatal(err)
	}
	s, err := sim.New(sim.Config{
		Model: "stub-32000", Tokenizer: words, Cost: speed.Cost{Base: time.Millisecond},
		Limits: sim.Limits{ModelLen: 4096, NumSeqs: 8, NumBatchedTokens: 512}, Answers: sim.Answers{MeanLen: 8}, Cache: sim.Cache{Prefixes: true},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// sweepOn runs a sweep of a plan in which URL stands for a server.
func sweepOn(t *testing.T, server *httptest.Server, plan string) (stdout, stderr string, err error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "plan.yaml")
	if err := os.WriteFile(file, []byte(strings.ReplaceAll(plan, "URL", server.URL)), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, talk strings.Builder
	cmd := newSweepCommand()
	cmd.SetArgs([]string{file, "-o", filepath.Join(filepath.Dir(file), "plan.sweep")})
	cmd.SetOut(&out)
	cmd.SetErr(&talk)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	err = cmd.ExecuteContext(t.Context())
	return out.String(), talk.String(), err
}

const smallRuns = "load: {random-output-len: 3, random-input-len: 40, num-prompts: 2, disable-tqdm: true}\n" +
	"grid: {max-concurrency: [1, 2]}\narms: [{name: a, url: 'URL'}]\n"

// The cache is reset before every run, the first one, too, and before anything
// else is sent.
func TestPrefixCacheIsResetBeforeEachRun(t *testing.T) {
	engine := simHandler(t)
	var mu sync.Mutex
	var paths []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		if n := len(paths); n == 0 || paths[n-1] != r.URL.Path {
			paths = append(paths, r.URL.Path)
		}
		mu.Unlock()
		engine.ServeHTTP(w, r)
	}))
	defer server.Close()
	if _, _, err := sweepOn(t, server, smallRuns+"between: {reset-prefix-cache: true}"); err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	defer mu.Unlock()
	run := []string{"/reset_prefix_cache", "/v1/models", "/tokenize", "/metrics", "/version", "/v1/completions", "/metrics"}
	if got, want := fmt.Sprint(paths), fmt.Sprint(append(run, run...)); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

func TestMissingCacheResetIsReported(t *testing.T) {
	engine := simHandler(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/reset_prefix_cache" {
			http.NotFound(w, r)
			return
		}
		engine.ServeHTTP(w, r)
	}))
	defer server.Close()
	out, talk, err := sweepOn(t, server, smallRuns+"between: {reset-prefix-cache: true}")
	if err != nil {
		t.Fatal(err)
	}
	const note = "the prefix cache was not reset: "
	if n := strings.Count(talk, "WARNING: "+note); n != 2 || !strings.Contains(talk, "404") {
		t.Errorf("warned %d times:\n%s", n, talk)
	}
	if n := strings.Count(out, note); n != 2 {
		t.Errorf("the table has it %d times:\n%s", n, out)
	}
}

func TestSweepWithoutNvidiaSMIStartsNothing(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the server was asked") }))
	defer server.Close()
	_, _, err := sweepOn(t, server, "load: {gpu-metrics: nvidia-smi}\narms: [{name: a, url: 'URL'}]\n")
	if err == nil || !strings.Contains(err.Error(), "argument --gpu-metrics: ") {
		t.Errorf("got %v", err)
	}
}

// A flag whose default or help has a list in it takes a list as one value of a sweep.
func TestFlagsOfListsAreNotTakenApart(t *testing.T) {
	emptyForm().flags.VisitAll(func(flag *pflag.Flag) {
		list := strings.Contains(flag.DefValue, ",") || strings.Contains(flag.Usage, "`LIST`") || strings.Contains(flag.Usage, "`NAMES`") ||
			strings.Contains(flag.Usage, "`MS,MS`") || strings.Contains(flag.Usage, "`SPEC`")
		if s := (argv.Setting{Flag: flag}); list && s.Arity() == argv.One && !slices.Contains(holdCommas, flag.Name) {
			t.Errorf("--%s takes a list, and a sweep takes it apart", flag.Name)
		}
		if slices.Contains(holdCommas, flag.Name) && !strings.Contains(listFlags, "--"+flag.Name) {
			t.Errorf("the help does not say that --%s takes a list", flag.Name)
		}
	})
}

// Errors show how to write what they ask for: a list of a sweep has commas, and a comparison files.
func TestMisplacedWordsHaveARemedy(t *testing.T) {
	for words, want := range map[string]string{
		"sweep --num-prompts 4 --base-url http://a http://b": "argument --base-url: write the list without spaces: --base-url http://a,http://b",
		"sweep --num-prompts 1, 2":                           "argument --num-prompts: write the list without spaces: --num-prompts 1,2",
		"sweep --num-prompts 4 plan.yaml":                    "--num-prompts: plan.yaml has the flags of the loads: put it there, under load or grid",
		"sweep plan.yaml --sequential --margin 3%":           "argument --margin: it must be METRIC=VALUE, such as median_ttft=5%",
		"sweep plan.yaml --sequential --floor 3":             "argument --floor: it must be METRIC=VALUE, such as p99_ttft=200",
		"compare --baseline chain.jsonl":                     "--baseline is the old side: give the files of the new runs",
		"compare --save-baseline chain.jsonl":                "--save-baseline keeps runs: give their files",
		"compare --arms old,new":                             "--arms compares runs of one source: give its file or folder",
	} {
		program := newProgram()
		routed, _, err := program.Route(strings.Fields(words))
		if err == nil {
			program.SetArgs(routed)
			program.SetOut(io.Discard)
			program.SetErr(io.Discard)
			err = program.Execute()
		}
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", words, err, want)
		}
	}
}
