package loadgen_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/servebench/servebench/loadgen/sim"
	"github.com/servebench/servebench/loadgen/sim/faults"
	"github.com/servebench/servebench/loadgen/sim/speed"
	"github.com/servebench/servebench/loadgen/sim/steps"
	"github.com/servebench/servebench/metrics/verdict"
)

// An eventWriter hands each event of an answer on through a function, with its end.
type eventWriter struct {
	http.ResponseWriter
	held []byte
	pass func(event []byte) []byte
}

func (w *eventWriter) Write(b []byte) (int, error) {
	w.held = append(w.held, b...)
	for {
		i := bytes.Index(w.held, []byte("\n\n"))
		if i < 0 {
			return len(b), nil
		}
		event := w.pass(w.held[:i+2])
		w.held = bytes.Clone(w.held[i+2:])
		if _, err := w.ResponseWriter.Write(event); err != nil {
			return 0, err
		}
	}
}

func (w *eventWriter) Flush() { w.ResponseWriter.(http.Flusher).Flush() }

// rewriting is a gateway that puts another text for what matches in each event.
func rewriting(pattern, replacement string) func(http.Handler) http.Handler {
	match := regexp.MustCompile(pattern)
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			next.ServeHTTP(&eventWriter{ResponseWriter: w, pass: func(event []byte) []byte {
				return match.ReplaceAll(event, []byte(replacement))
			}}, r)
		})
	}
}

// buffering is a gateway that passes an answer on when it is whole.
func buffering(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var whole bytes.Buffer
		next.ServeHTTP(&buffered{ResponseWriter: w, body: &whole}, r)
		w.Write(whole.Bytes())
	})
}

type buffered struct {
	http.ResponseWriter
	body *bytes.Buffer
}

func (w *buffered) Write(b []byte) (int, error) { return w.body.Write(b) }
func (w *buffered) Flush()                      {}

// greeting is a gateway that sends an event at once, before the server does anything.
func greeting(event string) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			// What is read after an answer has begun is nothing.
			body, _ := io.ReadAll(r.Body)
			r.Body = io.NopCloser(bytes.NewReader(body))
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, "data: %s\n\n", event)
			w.(http.Flusher).Flush()
			next.ServeHTTP(&begun{w}, r)
		})
	}
}

// begun is an answer whose header is out.
type begun struct{ http.ResponseWriter }

func (w *begun) WriteHeader(int) {}
func (w *begun) Flush()          { w.ResponseWriter.(http.Flusher).Flush() }

// words is a tokenizer of sorts.
func words(text string) int { return max(1, len(strings.Fields(text))) }

func faulty(t *testing.T, misdeeds string) sim.Config {
	t.Helper()
	list, err := faults.Parse(misdeeds)
	if err != nil {
		t.Fatal(err)
	}
	return sim.Config{Faults: faults.Plan{List: list}}
}

const (
	anyUsage   = `"usage":\{[^}]*\}`
	emptyText  = `{"id":"x","object":"text_completion","choices":[{"index":0,"text":"","logprobs":null,"finish_reason":null}]}`
	emptyDelta = `{"id":"x","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":""},"finish_reason":null}]}`
)

// Each of these was VALID, with numbers that are wrong.
func TestAnswersThatSpoilNumbersAreNamed(t *testing.T) {
	for name, c := range map[string]struct {
		trial
		check, says string
	}{
		"a gateway that buffers whole answers": {trial{gateway: buffering},
			"streaming", "100 of 100 answers came all at once at the end: their TTFT is their E2EL"},
		"a gateway that buffers whole chats": {trial{gateway: buffering, chat: true}, "streaming", "100 of 100 answers"},
		"a server that writes once":          {trial{server: faulty(t, "merge=1000")}, "streaming", "100 of 100 answers"},
		"a server that sends one chunk":      {trial{server: faulty(t, "tokens=1000")}, "streaming", "100 of 100 answers"},
		"no usage and no tokenizer": {trial{gateway: rewriting(anyUsage, `"usage":null`)},
			"token counts", "nobody counted the tokens of 100 of 100 answers: each counts as one token"},
		"a usage of zeros and no tokenizer": {trial{gateway: rewriting(`_tokens":\d+`, `_tokens":0`)}, "token counts", "100 of 100 answers"},
		"answers longer than asked for": {trial{server: faulty(t, "answer=100")},
			"answer lengths", "long answers: 100 of 100 went on past the tokens asked for, 5200 tokens more"},
		"prompts that the server knew": {trial{gateway: rewriting(`"usage":\{`, `"usage":{"prompt_tokens_details":{"cached_tokens":600},`)},
			"prefix cache", "the server had 93.8 % of the prompt tokens in its prefix cache"},
		"an empty delta at once": {trial{gateway: greeting(emptyDelta), chat: true}, "first token", "TTFT takes an empty chunk for a token"},
		"an empty text at once":  {trial{gateway: greeting(emptyText)}, "first token", "TTFT takes an empty chunk for a token"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tr := c.trial
				tr.num, tr.in, tr.out, tr.arrivals = 100, 640, 48, poisson(10, 1)
				trust := tr.judge(t)
				var texts []string
				for _, check := range trust.Failed() {
					texts = append(texts, check.Name+": "+check.Text)
				}
				if trust.Verdict != verdict.Suspect || len(texts) != 1 || !strings.HasPrefix(texts[0], c.check+": ") || !strings.Contains(texts[0], c.says) {
					t.Errorf("%s for %q, want %s: %s", trust.Verdict, texts, c.check, c.says)
				}
			})
		})
	}
}

// A local tokenizer may count as the server does, and it may not.
func TestCountsOfALocalTokenizerAreNamed(t *testing.T) {
	for name, gateway := range map[string]func(http.Handler) http.Handler{
		"no usage":         rewriting(anyUsage, `"usage":null`),
		"a usage of zeros": rewriting(`_tokens":\d+`, `_tokens":0`),
		"strings":          rewriting(`_tokens":(\d+)`, `_tokens":"$1"`),
		"floats":           rewriting(`_tokens":(\d+)`, `_tokens":$1.0`),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				trust := trial{num: 100, in: 64, out: 16, arrivals: poisson(10, 1), gateway: gateway, count: words}.judge(t)
				const want = "the server gave no whole number of output tokens for 100 of 100 answers: the tokenizer ours counted them"
				if trust.Verdict != verdict.Valid || !strings.Contains(strings.Join(trust.Notes, "\n"), want) {
					t.Errorf("%s for %q, notes %q", trust.Verdict, reasons(trust), trust.Notes)
				}
			})
		})
	}
}

// What a load that is sound does is no fault of the answers.
func TestSoundAnswersOfAnyLoadAreValid(t *testing.T) {
	if testing.Short() {
		t.Skip("64 whole runs: in go test without -short")
	}
	fast := sim.Config{Cost: speed.Cost{Base: 300 * time.Microsecond}}
	slow := sim.Config{Cost: speed.Cost{Base: 30 * time.Millisecond, PerPromptToken: 2 * time.Millisecond}}
	speculative := sim.Config{Speculative: steps.Speculative{Tokens: 4, Acceptance: 0.9}}
	var sound []trial
	for _, server := range []sim.Config{{}, fast, slow, speculative, faulty(t, "crlf"), faulty(t, "split=3"), faulty(t, "tokens=4"), faulty(t, "comment")} {
		for _, out := range []int{1, 2, 5, 60} {
			sound = append(sound, trial{server: server, out: out}, trial{server: server, out: out, chat: true})
		}
	}
	for i, tr := range sound {
		tr.num, tr.in, tr.arrivals = 100, 100, poisson(2, int64(i))
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if trust := tr.judge(t); trust.Verdict != verdict.Valid {
					t.Errorf("chat %v of %d tokens from %+v is %s: %q", tr.chat, tr.out, tr.server.Cost, trust.Verdict, reasons(trust))
				}
			})
		})
	}
}
