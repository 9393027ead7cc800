package pooling_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/servebench/servebench/loadgen/api/completions"
	"github.com/servebench/servebench/loadgen/api/exchange"
	"github.com/servebench/servebench/loadgen/api/pooling"
	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/loadgen/wire"
	"github.com/servebench/servebench/metrics/record"
)

// An answerCase is one scripted reply, and what the clients of vLLM's releases make
// of it under an exact clock. See testdata/golden/README.md.
type answerCase struct {
	Name, Backend string
	Extra         json.RawMessage `json:"extra_body"`
	Reply         struct {
		Status  int
		Reason  string
		Headers map[string]string
		Length  int     `json:"content_length"`
		HeadT   float64 `json:"head_t"`
		Reads   []struct {
			T    float64
			Data string
		}
		End struct{ Kind string }
	}
	Expected vllmAnswer
}

// A vllmAnswer is what a client of vLLM's keeps of one, in seconds.
type vllmAnswer struct {
	Success bool
	Latency float64
	In      int `json:"prompt_len"`
}

func answerCases(t *testing.T) (cases []*answerCase) {
	t.Helper()
	data, err := os.ReadFile("../../../testdata/golden/answers.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Cases []*answerCase }
	_ = json.Unmarshal(data, &file) // what other backends have is of other types
	for _, c := range file.Cases {
		if slices.Contains([]string{"openai-embeddings", "vllm-pooling", "vllm-rerank"}, c.Backend) {
			cases = append(cases, c)
		}
	}
	if len(cases) != 15 {
		t.Fatalf("%d golden answers", len(cases))
	}
	return cases
}

// dial connects to a server that answers each request as the case has it.
func (c *answerCase) dial(context.Context, string, string) (net.Conn, error) {
	client, server := net.Pipe()
	go func() {
		defer server.Close()
		req, err := http.ReadRequest(bufio.NewReader(server))
		if err != nil {
			return
		}
		io.Copy(io.Discard, req.Body)
		start := time.Now()
		at := func(seconds float64) {
			time.Sleep(time.Until(start.Add(time.Duration(seconds * float64(time.Second)))))
		}
		at(c.Reply.HeadT)
		fmt.Fprintf(server, "HTTP/1.1 %d %s\r\nContent-Length: %d\r\n", c.Reply.Status, c.Reply.Reason, c.Reply.Length)
		for name, value := range c.Reply.Headers {
			fmt.Fprintf(server, "%s: %s\r\n", name, value)
		}
		io.WriteString(server, "\r\n")
		for _, read := range c.Reply.Reads {
			at(read.T)
			io.WriteString(server, read.Data)
		}
	}()
	return client, nil
}

// record is what is kept here of the case's answer to a request with so many more bytes.
func (c *answerCase) record(t *testing.T, pad int) *record.Record {
	transport := wire.Connections{Dial: c.dial}.Transport()
	defer transport.CloseIdleConnections()
	target := engine.Target{Pooling: true, Send: pooling.Sender(&exchange.Endpoint{Protocol: completions.Protocol, URL: "http://server.test/v1/embeddings", Transport: transport})}
	body := []byte("{}")
	if c.Extra != nil {
		body = c.Extra
	}
	body = append(bytes.Clone(body), bytes.Repeat([]byte(" "), pad)...)
	rec := &record.Record{Tokens: record.Tokens{InAsked: 7, In: 7}}
	epoch := time.Now()
	for _, err := range target.Send(t.Context(), epoch, &engine.Request{Body: body, Once: true}, rec) {
		if err != nil {
			rec.Result.Class, rec.Result.Error = record.Classify(err)
		}
	}
	rec.Payload = &record.Payload{Inputs: 1}
	time.Sleep(time.Minute) // the server ends, too
	return rec
}

// A failed answer has no latency here, also where its bytes came whole.
func TestAnswersAreThoseOfVLLM(t *testing.T) {
	for _, c := range answerCases(t) {
		t.Run(c.Name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rec := c.record(t, 0)
				for _, release := range []record.Definitions{record.Definitions033, record.Definitions030} {
					counted, want := release.Of(rec), c.Expected
					got := vllmAnswer{counted.Result.Class == record.OK, counted.E2EL().Seconds(), counted.Tokens.In}
					if !got.Success {
						got.In, want.Latency = 0, 0
					}
					if diff := cmp.Diff(want, got); diff != "" {
						t.Errorf("%s, error %q (-vLLM +ours):\n%s", release.Named(), rec.Result.Error, diff)
					}
				}
				if counted := record.Definitions033.Of(rec); counted.TTFT() != 0 || counted.Answer.Chunks.Len() != 0 {
					t.Errorf("it has a first token: %+v", counted)
				}
			})
		})
	}
}

// A large body is dropped once it is sent. What it asked for counts nevertheless.
func TestLargeRequestsHaveTheAnswersOfSmallOnes(t *testing.T) {
	for _, c := range answerCases(t) {
		synctest.Test(t, func(t *testing.T) {
			small, large := c.record(t, 0), c.record(t, 1<<20)
			if small.Result.Class != large.Result.Class || small.Result.Error != large.Result.Error || small.Tokens.In != large.Tokens.In {
				t.Errorf("%s: class %q, error %q, %d tokens, want %q, %q, %d", c.Name, large.Result.Class, large.Result.Error, large.Tokens.In, small.Result.Class, small.Result.Error, small.Tokens.In)
			}
		})
	}
}

// vLLM's client takes an error with status 200 for an answer without usage.
func TestAnErrorWithStatus200Fails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := new(answerCase)
		const body = `{"error": {"message": "no such model"}}`
		c.Reply.Status, c.Reply.Reason, c.Reply.Length = 200, "OK", len(body)
		c.Reply.Headers = map[string]string{"Content-Type": "application/json"}
		c.Reply.Reads = append(c.Reply.Reads, struct {
			T    float64
			Data string
		}{0.5, body})
		rec := c.record(t, 0)
		if rec.Result.Class != record.InStream || rec.Result.Error != "no such model" || rec.Result.Differs != record.DiffersError {
			t.Errorf("class %q, error %q, otherwise %q", rec.Result.Class, rec.Result.Error, rec.Result.Differs)
		}
	})
}
