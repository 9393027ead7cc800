package exchange_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/loadgen/api/exchange"
	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/loadgen/wire"
	"github.com/servebench/servebench/loadgen/wire/wiretest"
	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/record"
)

// An answerCase is one scripted reply, and what the clients of vLLM's releases make
// of it under an exact clock. See testdata/golden/README.md.
type answerCase struct {
	Name, Backend string
	PromptLen     *int `json:"prompt_len"`
	Reply         struct {
		Status *int
		Reason string
		HeadT  float64 `json:"head_t"`
		Reads  []struct {
			T      float64
			Data   string
			Base64 []byte
		}
		End struct {
			Kind string
			T    float64
		}
	}
	Expected vllmAnswer
	Until    map[string]*vllmAnswer // outcomes of that release and older ones, down to the next
}

// A vllmAnswer is what a client of vLLM's keeps of one, in seconds.
type vllmAnswer struct {
	Success     bool
	TTFT        float64
	ITL         []float64
	Latency     float64
	Out         *int   `json:"output_tokens"`
	In          int    `json:"prompt_len"`
	Text        string `json:"generated_text"`
	Error       string
	ServerQueue *float64 `json:"server_queue_time"`
	ServerTTFT  *float64 `json:"server_ttft"`
	Unsupported bool     // the release does not have the backend
}

// by is what the client of a release makes of the reply, where releases are from
// the oldest on.
func (c *answerCase) by(release string) vllmAnswer {
	releases := []string{"0.9.2", "0.10.2", "0.20.0", "0.22.1", "0.29.0", "0.30.0", "0.31.0", "0.32.0"}
	from := false
	for _, r := range releases {
		if from = from || r == release; !from {
			continue
		}
		if older := c.Until[r]; older != nil {
			older.ServerQueue, older.ServerTTFT = c.Expected.ServerQueue, c.Expected.ServerTTFT // which are read of every release's answers here
			return *older
		}
	}
	return c.Expected
}

func answerCases(t *testing.T) (cases []*answerCase) {
	t.Helper()
	data, err := os.ReadFile("../../../testdata/golden/answers.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Cases []*answerCase }
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	for _, c := range file.Cases {
		if c.Backend == "openai" || c.Backend == "openai-chat" || c.Backend == "openai-responses" {
			cases = append(cases, c)
		}
	}
	return cases
}

// play answers on c as the case has it, on the clock of whoever asked.
func (c *answerCase) play(conn net.Conn) (closing bool) {
	start := time.Now()
	at := func(seconds float64) {
		time.Sleep(time.Until(start.Add(time.Duration(seconds * float64(time.Second)))))
	}
	if c.Reply.Status != nil {
		at(c.Reply.HeadT)
		fmt.Fprintf(conn, "HTTP/1.1 %d %s\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n", *c.Reply.Status, c.Reply.Reason)
	}
	for _, read := range c.Reply.Reads {
		at(read.T)
		io.WriteString(conn, wiretest.Framed(read.Data+string(read.Base64)))
	}
	at(c.Reply.End.T)
	if c.Reply.End.Kind == "eof" {
		io.WriteString(conn, streamEnd)
	}
	return true
}

// ours is what is kept here of the case's answer, which it asks for.
func (c *answerCase) ours(t *testing.T) *record.Record {
	transport := wire.Connections{NetHTTP: netHTTP, Dial: wiretest.DialScript(c.play)}.Transport()
	defer transport.CloseIdleConnections()
	o := &exchange.Endpoint{URL: "http://server.test", Protocol: protocolNamed(strings.TrimPrefix(c.Backend, "openai-")), Transport: transport}
	load := asked(1, engine.Target{Send: o.Send, Count: func(string) int { return 0 }}) // so that nothing is made up
	prompt := 7
	if c.PromptLen != nil {
		prompt = *c.PromptLen
	}
	load.Source = func(yield func(*dataset.Conversation, error) bool) {
		yield(&dataset.Conversation{Turns: []dataset.Turn{{PromptLen: prompt}}}, nil)
	}
	return recorded(t, load)[0]
}

// asAnswer is a record as a client of vLLM's would have it.
func asAnswer(rec *record.Record) vllmAnswer {
	o := metrics.OutcomeOf(rec)
	a := vllmAnswer{Success: o.Success, TTFT: o.TTFT, ITL: o.ITL, Latency: o.Latency, In: rec.Tokens.In, Out: &rec.Tokens.Out, Text: o.Text}
	if rec.Result.Class == record.Empty {
		a.Error = rec.Result.Error
	}
	if s := rec.Server; s != nil {
		a.ServerQueue, a.ServerTTFT = inSeconds(s.QueueMS), inSeconds(s.TTFTMS)
	}
	return a
}

func inSeconds(ms *float64) *float64 {
	if ms == nil {
		return nil
	}
	s := *ms / 1000
	return &s
}

// Why something else is made of an answer here than by a client of vLLM's.
// docs/vllm.md has these rules; the first three are the class of the failure.
const (
	notEnded    = string(record.Truncated) // it takes an answer without an end for a success
	hasError    = string(record.InStream)  // it passes over an error after a token
	olderParser = "parser"                 // up to 0.32.0 it stripped each read, and lost spaces and what stood beside comments
	olderDelta  = "delta"                  // up to 0.32.0 a delta that is no object ended in an exception
	olderJSON   = "JSON"                   // up to 0.32.0 what is no JSON was skipped at times
	olderBlank  = "blank"                  // a summary's delta counts here as an empty one of a chat does: up to 0.32.0 as output
	lateBlank   = "late blank"             // an event is dated by its data here, and by its blank line there
)

// otherwise are the cases of which something else is made here on purpose: by all
// releases where the rule is the class of our failure or why the answer is mangled,
// else by the older ones alone.
var otherwise = map[string]string{
	"chat-no-done": notEnded, "chat-no-blank-line-at-end": notEnded, "random-10": notEnded, "random-22": notEnded,
	"random-26": notEnded, "random-42": notEnded, "random-43": notEnded, "random-53": notEnded,
	"chat-error-after-token": hasError, "comp-error-later": hasError,
	"chat-only-reasoning-content": record.DiffersOutput, "chat-refusal": record.DiffersOutput,
	"chat-crlf-pairs": record.DiffersLineEnd, "chat-event-line": record.DiffersEvent, "chat-no-space": record.DiffersSpace,
	"chat-cut-after-done": record.DiffersCut, "random-1": record.DiffersCut, "random-24": record.DiffersCut,
	"random-29": record.DiffersCut, "random-39": record.DiffersCut,

	"chat-error-after-role": hasError + " before 0.33.0",
	"chat-ping-alone":       olderParser, "chat-ping-mixed": olderParser, "chat-split-at-space": olderParser, "comp-ping-alone": olderParser,
	"random-3": olderParser, "random-6": olderParser, "random-13": olderParser, "random-15": olderParser, "random-18": olderParser,
	"random-20": olderParser, "random-25": olderParser, "random-33": olderParser, "random-38": olderParser, "random-44": olderParser,
	"random-51": olderParser, "random-52": olderParser, "random-55": olderParser, "random-56": olderParser, "random-59": olderParser,
	"resp-function-arguments": record.DiffersOutput, "resp-refusal": record.DiffersOutput, "resp-reasoning-summary": olderBlank,
	"resp-crlf": record.DiffersLineEnd, "resp-tail-without-blank": record.DiffersEvent, "resp-tail-late-blank": lateBlank, "random-16": record.DiffersCut, "random-40": record.DiffersCut,
	"chat-no-delta": olderDelta, "chat-delta-not-object": olderDelta,
	"chat-bad-json": olderJSON, "comp-bad-json": olderJSON,
}

// TestAnswersAreThoseOfVLLM plays every reply, and compares with what the client of
// each release makes of it: to the nanosecond, and token by token.
func TestAnswersAreThoseOfVLLM(t *testing.T) {
	releases := []struct {
		name string
		record.Definitions
	}{{"0.33.0", record.Definitions033}, {"0.32.0", record.Definitions030}, {"0.30.0", record.Definitions030}}
	for _, c := range answerCases(t) {
		t.Run(c.Name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rec := c.ours(t)
				time.Sleep(time.Minute) // the server ends, too
				var differ []string
				for _, release := range releases {
					if c.by(release.name).Unsupported {
						continue
					}
					diff := cmp.Diff(compared(c.by(release.name), rec), compared(asAnswer(release.Of(rec)), rec), cmpopts.EquateEmpty())
					if diff != "" {
						differ = append(differ, release.name)
					}
					if diff != "" && otherwise[c.Name] == "" {
						t.Errorf("%s, class %q, otherwise %q, error %q (-vLLM +ours):\n%s", release.name, rec.Result.Class, rec.Result.Differs, rec.Result.Error, diff)
					}
				}
				rule := otherwise[c.Name]
				// Lines that run into each other are told as a cut, which vLLM's client fails elsewhere.
				if byLatest := len(differ) > 0 && differ[0] == "0.33.0"; byLatest && rec.Result.Differs == "" && c.Name != "chat-no-blank-line-at-end" && rule != lateBlank {
					t.Errorf("rule %q: the record does not say that vLLM's client makes something else of it", rule)
				}
				if whole := rule == string(rec.Result.Class) || rule == rec.Result.Differs || rule == lateBlank; rule != "" && (len(differ) == 0 || whole != (differ[0] == "0.33.0")) {
					t.Errorf("rule %q, class %q, otherwise %q: it differs by %q", rule, rec.Result.Class, rec.Result.Differs, differ)
				}
			})
		})
	}
}

// compared is an answer less what does not count: where it failed what is in no
// number beside its times, and the words of an error.
func compared(a vllmAnswer, rec *record.Record) vllmAnswer {
	if a.Out == nil {
		a.Out = new(int)
	}
	if rec.Result.Class != record.Empty || a.Error != exchange.NeverValid && a.Error != "Never received a token delta to calculate TTFT.This response will be marked as failed!" {
		a.Error = ""
	}
	if !a.Success { // the latency of a failed response is that of its last event, in the client's file alone
		a.Latency = 0
		a.In, a.Out, a.Text = 0, nil, ""
	}
	return a
}
