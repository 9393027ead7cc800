package loadtest_test

import (
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/servebench/servebench/dataset/tokenizer"
	"github.com/servebench/servebench/loadgen/loadtest"
	"github.com/servebench/servebench/loadgen/sim"
)

// The tests that the documentation shows, on a server in memory in place of the one at their URL.
var documented = map[string]func(t *testing.T, server http.Handler){
	"doc.go": func(t *testing.T, server http.Handler) {
		load := loadtest.Load{
			Handler:  server,
			Requests: 1200, Rate: 20,
			InputLen: 256, OutputLen: 64,
		}
		load.Test(t, loadtest.SLO{
			TTFT: loadtest.Latency{Median: 100 * time.Millisecond, P99: 500 * time.Millisecond},
			TPOT: loadtest.Latency{Mean: 30 * time.Millisecond},
		})
	},
	"../../docs/ci.md": func(t *testing.T, server http.Handler) {
		load := loadtest.Load{Handler: server, Requests: 1200, Rate: 20, InputLen: 256, OutputLen: 64}
		load.Test(t, loadtest.SLO{TTFT: loadtest.Latency{P99: 500 * time.Millisecond}})
	},
}

var shown = regexp.MustCompile(`(?s)func TestServerKeepsItsSLO\(t \*testing\.T\) \{\n(.*?)\n[/\t]*\}\n`)

// The tests pass as printed, on a server whose answers may end before their first text, as a model's.
func TestDocumentedTestsPass(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second: in go test without -short")
	}
	here, err := os.ReadFile("documented_test.go")
	if err != nil {
		t.Fatal(err)
	}
	words := func(text string) string { return strings.Join(strings.Fields(strings.ReplaceAll(text, "//", "")), " ") }
	url := regexp.MustCompile(`URL: +("http:"?127\.0\.0\.1:8000"|url),`)
	for page, run := range documented {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		found := shown.FindStringSubmatch(string(text))
		if found == nil {
			t.Errorf("%s shows no test", page)
			continue
		}
		if body := url.ReplaceAllString(words(found[1]), "Handler: server,"); !strings.Contains(words(string(here)), body) {
			t.Errorf("%s shows another test than the one that runs here:\n%s", page, body)
		}
		if _, after, fenced := strings.Cut(string(text), "```go\n"); fenced {
			if whole, err := os.ReadFile("../../tools/embed/server/server_test.go"); err != nil || !strings.HasPrefix(after, string(whole)+"```\n") {
				t.Errorf("%s shows another file than the one that make embed builds: %v", page, err)
			}
		}
		for _, early := range []int{0, 32} { // mean lengths of answers; 0 for the usual one
			synctest.Test(t, func(t *testing.T) {
				server, err := sim.New(sim.Config{Tokenizer: tokenizer.Stub{Size: 32000}, Answers: sim.Answers{MeanLen: early}})
				if err != nil {
					t.Fatal(err)
				}
				defer server.Close()
				run(t, server)
			})
		}
	}
}
