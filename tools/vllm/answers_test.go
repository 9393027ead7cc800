//go:build vllm

package vllm_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// An answer is a case of testdata/golden/answers.json, or an ordinary one.
type answer struct {
	Name    string
	Backend string
	Reply   script
}

// A reading is what a client made of one answer. Times are those of the script,
// in its seconds: of the pieces that a client's times are next to.
type reading struct {
	Success   bool
	Error     string
	TTFT, End float64
	Chunks    []float64
	Input     int
	Output    int
	Text      string
}

// TestAnswersAreReadTheSame has vLLM's client and servebench read the same
// answers in real time and holds what they make of each, and what they print,
// against each other.
func TestAnswersAreReadTheSame(t *testing.T) {
	fmt.Printf("%-26s %7s %7s %7s %7s %7s %7s %7s %7s %s\n", "read the same as by vLLM", "answers", "success", "TTFT", "ITL", "E2EL", "tokens", "text", "error", "off the script at most, ms: vLLM, servebench")
	for _, api := range []struct{ name, backend, endpoint string }{
		{"completions", "openai", "/v1/completions"},
		{"chat", "openai-chat", "/v1/chat/completions"},
		{"responses", "openai-responses", "/v1/responses"},
	} {
		var alike, apart []answer
		for _, a := range readAnswers(t, api.backend) {
			if _, ok := differences[a.Name]; ok {
				apart = append(apart, a)
			} else {
				alike = append(alike, a)
			}
		}
		alike = append(alike, ordinary(api.backend)...)
		t.Run(api.name, func(t *testing.T) {
			t.Parallel()
			compareReadings(t, api.name, alike, func(answers []answer) (theirs, ours *results) {
				return runBoth(t, answers, "--backend", api.backend, "--endpoint", api.endpoint)
			})
		})
		t.Run(api.name+", on purpose not the same", func(t *testing.T) {
			t.Parallel()
			if len(apart) == 0 {
				t.Skip("none")
			}
			theirs, ours := runBoth(t, apart, "--backend", api.backend, "--endpoint", api.endpoint)
			compareDifferences(t, apart, theirs, ours)
		})
	}
}

// readAnswers reads the cases of one backend.
func readAnswers(t *testing.T, backend string) (answers []answer) {
	t.Helper()
	data, err := os.ReadFile("../../testdata/golden/answers.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Cases []answer }
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	for _, a := range file.Cases {
		if a.Backend == backend {
			answers = append(answers, a)
		}
	}
	return answers
}

// ordinary are answers as vLLM's server gives them: of one token and of many,
// slow and fast, and several tokens a chunk.
func ordinary(backend string) (answers []answer) {
	for i, n := range []int{1, 2, 3, 5, 8, 13, 21, 34} {
		a := answer{Name: fmt.Sprintf("ordinary-%d", n), Backend: backend}
		a.Reply.Status, a.Reply.Reason, a.Reply.End.Kind = new(int), "OK", "eof"
		*a.Reply.Status = 200
		at, step := float64(1+i)/8, float64(1+i%3)/64
		say := func(format string, args ...any) {
			a.Reply.Reads = append(a.Reply.Reads, piece{T: at, Data: "data: " + fmt.Sprintf(format, args...) + "\n\n"})
			at += step
		}
		if backend == "openai-chat" {
			say(`{"id":"c","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}]}`)
		}
		for token := range n {
			finish := "null"
			if token == n-1 {
				finish = `"length"`
			}
			switch backend {
			case "openai-chat":
				say(`{"id":"c","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"content":" word%d"},"logprobs":null,"finish_reason":%s}]}`, token, finish)
			case "openai-responses":
				say(`{"type":"response.output_text.delta","delta":" word%d"}`, token)
			default:
				say(`{"id":"c","object":"text_completion","model":"m","choices":[{"index":0,"text":" word%d","logprobs":null,"finish_reason":%s}]}`, token, finish)
			}
		}
		if tokens := n * (1 + i%2); backend == "openai-responses" {
			say(`{"type":"response.completed","response":{"id":"r","usage":{"input_tokens":7,"output_tokens":%d}}}`, tokens)
		} else {
			say(`{"id":"c","model":"m","choices":[],"usage":{"prompt_tokens":7,"total_tokens":%d,"completion_tokens":%d}}`, 7+tokens, tokens)
			a.Reply.Reads[len(a.Reply.Reads)-1].Data += "data: [DONE]\n\n"
		}
		answers = append(answers, a)
	}
	return answers
}

// runBoth runs both clients at the same time against the answers.
func runBoth(t *testing.T, answers []answer, flags ...string) (theirs, ours *results) {
	t.Helper()
	scripts := make([]script, len(answers))
	var prompts strings.Builder
	for i, a := range answers {
		scripts[i] = a.Reply
		fmt.Fprintf(&prompts, "{\"prompt\": \"prompt number %d\"}\n", i)
	}
	name := filepath.Join(t.TempDir(), "prompts.jsonl")
	writeFile(t, name, []byte(prompts.String()))
	// Evenly spaced requests, so that no burst of them delays any.
	argv := append(flags, "--base-url", play(t, scripts), "--model", "m", "--tokenizer", filepath.Join(os.Getenv("ORACLE"), "gpt2"),
		"--dataset-name", "custom", "--dataset-path", name, "--custom-output-len", "8", "--skip-chat-template", "--disable-shuffle",
		"--num-prompts", strconv.Itoa(len(answers)), "--request-rate", "8", "--burstiness", "1000", "--ready-check-timeout-sec", "0",
		"--percentile-metrics", "ttft,tpot,itl,e2el", "--metric-percentiles", "50,90,99")
	var both sync.WaitGroup
	both.Go(func() { theirs = newTheirs(t, venv()).run(t, argv) })
	both.Go(func() { ours = newOurs(t, "latest").run(t, argv) })
	both.Wait()
	if theirs == nil || ours == nil {
		t.FailNow()
	}
	return theirs, ours
}

// reading gives what a run made of one answer, and how far its times were from
// those of the script at most.
func (r *results) reading(t *testing.T, i int, a answer) (it reading, off time.Duration) {
	t.Helper()
	id := idPrefix + strconv.Itoa(i)
	f := r.file
	if n := len(r.succeeded); i >= n || len(f.TTFTs) != n || len(f.ITLs) != n || len(f.Latencies) != n || len(f.Outputs) != n || len(f.InputLens) != n || len(f.Texts) != n {
		t.Fatalf("the result file has not all of %d requests: keys %q", n, r.keys)
	}
	next := func(seconds float64) float64 {
		instant, distance := a.Reply.next(seconds)
		off = max(off, distance)
		return instant
	}
	it = reading{Success: r.succeeded[id], Error: r.errors[id], Input: f.InputLens[i], Output: f.Outputs[i], Text: f.Texts[i]}
	it.TTFT, it.End = next(f.TTFTs[i]), next(f.Latencies[i])
	for at, gaps := f.TTFTs[i], f.ITLs[i]; len(gaps) > 0; gaps = gaps[1:] {
		at += gaps[0]
		it.Chunks = append(it.Chunks, next(at))
	}
	return it, off
}

// apart names what two readings of an answer differ in.
func apart(theirs, ours reading) (what []string) {
	if partial(theirs.Error) {
		theirs.End, theirs.Text, theirs.Input, theirs.Output = ours.End, ours.Text, ours.Input, ours.Output
	}
	for _, c := range []struct {
		name string
		same bool
	}{
		{"success", theirs.Success == ours.Success},
		{"TTFT", theirs.TTFT == ours.TTFT},
		{"ITL", slices.Equal(theirs.Chunks, ours.Chunks)},
		{"E2EL", theirs.End == ours.End},
		{"tokens", theirs.Input == ours.Input && theirs.Output == ours.Output},
		{"text", theirs.Text == ours.Text},
		{"error", !theirs.Success && !ours.Success && slices.Contains(classes(theirs.Error), ours.Error) || theirs.Error == ours.Error},
	} {
		if !c.same {
			what = append(what, c.name)
		}
	}
	return what
}

// compareReadings holds what both clients made of each answer against each other,
// then what they printed, and prints a row. What differs is tried twice again, as
// a busy machine may keep one client waiting for longer than a piece lasts.
func compareReadings(t *testing.T, name string, answers []answer, run func([]answer) (theirs, ours *results)) {
	t.Helper()
	same, pending, n := map[string]int{}, answers, len(answers)
	var theyOff, weOff time.Duration
	for try := 1; len(pending) > 0; try++ {
		theirs, ours := run(append(pending, answers[n-1])) // an ordinary one, as servebench ends with an error where all fail
		if try == 1 {
			compareBlocks(t, theirs.stdout, ours.stdout)
		}
		var again []answer
		for i, a := range pending {
			their, off := theirs.reading(t, i, a)
			our, off2 := ours.reading(t, i, a)
			what := apart(their, our)
			switch {
			case len(what) == 0 && max(off, off2) < slack:
				theyOff, weOff = max(theyOff, off), max(weOff, off2)
			case try < 3:
				again = append(again, a)
			default:
				for _, w := range what {
					same[w]--
				}
				t.Errorf("%s: not the same %s, vLLM's times %v off the script's and ours %v (-vLLM's +ours):\n%s",
					a.Name, strings.Join(what, ", "), off, off2, cmp.Diff(their, our))
			}
		}
		pending = again
	}
	fmt.Printf("%-26s %7d", name, n)
	for _, what := range []string{"success", "TTFT", "ITL", "E2EL", "tokens", "text", "error"} {
		fmt.Printf(" %7d", n+same[what])
	}
	fmt.Printf(" %9.0f %9.0f\n", 1000*theyOff.Seconds(), 1000*weOff.Seconds())
}
