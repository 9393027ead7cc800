package loadgen

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/servebench/servebench/dataset/kinds"
	"github.com/servebench/servebench/dataset/sessions"
	"github.com/servebench/servebench/loadgen/spool"
)

// A run with live answers that keeps its prompts is a dataset: sent again, it has the same bodies at
// the same times, and asks for no answers of the server.
func TestARunIsSentAgainFromItsStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "run.jsonl")
		var mu sync.Mutex
		run := func(change func(p *Plan)) (requests []string) {
			p := onHandler(t)
			p.Server.Backend = "openai-chat"
			p.Traffic.MaxConcurrency, p.Sampling.IgnoreEOS = nil, true
			inner, begun := p.Server.Handler, time.Time{}
			p.Server.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, err := io.ReadAll(r.Body)
				if err != nil {
					t.Error(err)
				}
				r.Body = io.NopCloser(bytes.NewReader(body))
				if strings.HasSuffix(r.URL.Path, "/chat/completions") {
					mu.Lock()
					if begun.IsZero() {
						begun = time.Now()
					}
					requests = append(requests, fmt.Sprintf("%s %s %s %s", time.Since(begun), r.Header.Get("X-Request-Id"), r.Header.Get("X-Session-Id"), body))
					mu.Unlock()
				}
				inner.ServeHTTP(w, r)
			})
			change(p)
			sums, err := p.Run(t.Context(), nil)
			if err != nil || sums[0].Completed != 15 {
				t.Fatalf("%v, %d completed, %v, %v", err, sums[0].Completed, sums[0].Printed.Errors, requests)
			}
			slices.Sort(requests)
			return requests
		}
		first := run(func(p *Plan) {
			p.Workload.Dataset, p.Workload.NumPrompts, p.Workload.RequestIDPrefix = "random", 5, "x-"
			p.Workload.Random.InputLen, p.Workload.Random.OutputLen = 12, 4
			p.Workload.Settings.MultiTurn = kinds.MultiTurn{On: true, Min: 3, Max: 3, Delay: 700 * time.Millisecond, Random: sessions.Random{Lengths: sessions.Lengths{Later: 5}}}
			p.Traffic.RequestRate = 2
			records, err := spool.Open(path, 0o666)
			if err != nil {
				t.Fatal(err)
			}
			p.Keep.Records, p.Keep.Detail = records, Prompts
			t.Cleanup(func() { _ = records.Close(spool.Waiting{}) })
		})
		synctest.Wait()
		time.Sleep(time.Second) // of the bubble: lines gather for a while
		for _, timing := range []bool{false, true} {
			again := run(func(p *Plan) {
				p.Workload.Dataset, p.Workload.Path, p.Workload.NumPrompts = "file", path, 0
				p.Workload.SelfTimed, p.Traffic.Absolute = true, timing
				p.Workload.Sessions.Answers = Recorded
			})
			for i, want := range first {
				if again[i] != want {
					t.Errorf("absolute %v: the first run sent\n%s\nand the second\n%s", timing, want, again[i])
				}
			}
		}
	})
}

func TestMultiTurnSendsWholeConversationsOfShareGPT(t *testing.T) {
	for multi, want := range map[bool]int{false: 1, true: 3} {
		p := &Plan{Server: Server{Tokenizer: "stub-100"}, Workload: Workload{
			Dataset: "sharegpt", Path: "../dataset/sessions/testdata/sharegpt-conversations.json", NumPrompts: 1, NoOversample: true, Settings: kinds.Settings{MultiTurn: kinds.MultiTurn{On: multi}, ShareGPTLen: new(9)},
		}}
		if !multi { // the first questions of the sample are too short
			path := filepath.Join(t.TempDir(), "long.json")
			text := `[{"conversations":[{"value":"one two three four five"},{"value":"a"},{"value":"b"},{"value":"c"}]}]`
			if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
			p.Workload.Path = path
		}
		source, err := p.Dataset(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for c, err := range source {
			if err != nil || len(c.Turns) != want {
				t.Errorf("--multi-turn %v: %d turns, %v; want %d", multi, len(c.Turns), err, want)
			}
		}
	}
}

// Rows of Azure's traces have no hash ids: their prompts are the tail of a prompt of blocks alone.
func TestPromptsWithoutWholeBlocksAreSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "azure.csv")
		if err := os.WriteFile(path, []byte("TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46.68,37,4\n2023-11-16 18:15:47.68,20,3\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		for _, backend := range []string{"openai", "openai-chat"} {
			p := onHandler(t)
			p.Server.Backend, p.Workload.Dataset, p.Workload.Path, p.Workload.NumPrompts = backend, "azure", path, 0
			sums, err := p.Run(t.Context(), nil)
			if err != nil || sums[0].Completed != 2 || backend == "openai" && sums[0].Totals.Input != 57 {
				t.Errorf("%s: %v, %+v", backend, err, sums)
			}
		}
	})
}

func TestAStreamWithoutPromptsCannotBeSentAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.jsonl")
	line := `{"v":3,"k":"run","run":"r"}` + "\n" + `{"v":3,"k":"req","run":"r","i":0,"sent":5}` + "\n"
	if err := os.WriteFile(path, []byte(line), 0o666); err != nil {
		t.Fatal(err)
	}
	p := onHandler(t)
	p.Workload.Dataset, p.Workload.Path = "file", path
	_, err := p.Run(t.Context(), nil)
	if want := path + ":2: the run was recorded without its prompts: record it with --record prompts"; err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("error %v, want %s", err, want)
	}
}
