package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	openai "github.com/sashabaranov/go-openai"

	"github.com/servebench/servebench/loadgen"
	"github.com/servebench/servebench/metrics"
)

// A stream is one answer being read by one of the clients that are compared. It
// returns when the answer has ended.
type stream func(ctx context.Context, tokens int, event func(arrival)) error

// An arrival is what a client says of one event.
type arrival struct {
	at     time.Time // when it came
	truth  int64     // when it was written, as its text has it, in nanoseconds since 1970
	shared bool      // it came in one read with the one before; only ours tells
}

// The clients that are compared, by name.
const (
	ours     = "servebench"
	goOpenAI = "go-openai"
	plain    = "plain"
)

// newStream makes a client of the server at url, which is http://host:port.
func newStream(client, url string) (stream, error) {
	switch client {
	case ours:
		return ourStream(url), nil
	case goOpenAI:
		return goOpenAIStream(url), nil
	case plain:
		return plainStream(url), nil
	}
	return nil, fmt.Errorf("no such client: %s", client)
}

// sender is servebench's own way to send, as servebench run makes it.
func sender(url string) *loadgen.OpenAI {
	tally := new(loadgen.Tally)
	return &loadgen.OpenAI{
		URL: url + endpoint, Header: loadgen.Headers("", nil),
		Transport: loadgen.Connections{Tally: tally}.Transport(), Tally: tally,
		Timeouts: loadgen.Timeouts{Stall: loadgen.DefaultStallTimeout, Total: loadgen.DefaultTotalTimeout},
	}
}

func ourStream(url string) stream {
	o := sender(url)
	return func(ctx context.Context, tokens int, event func(arrival)) error {
		request := &loadgen.Request{ID: "bench", Body: []byte(requestBody(tokens))}
		rec := new(metrics.Record)
		shared := 0
		for chunk, err := range o.Send(ctx, time.Now(), request, rec) {
			if err != nil {
				return err
			}
			event(arrival{chunk.At, written(chunk.Text), rec.SharedReads > shared})
			shared = rec.SharedReads
		}
		return nil
	}
}

func goOpenAIStream(url string) stream {
	config := openai.DefaultConfig("")
	config.BaseURL = url + strings.TrimSuffix(endpoint, "/completions")
	config.HTTPClient = &http.Client{Transport: manyConnections()}
	client := openai.NewClientWithConfig(config)
	return func(ctx context.Context, tokens int, event func(arrival)) error {
		reply, err := client.CreateCompletionStream(ctx, openai.CompletionRequest{Model: model, Prompt: "p", MaxTokens: tokens})
		if err != nil {
			return err
		}
		defer reply.Close()
		for {
			chunk, err := reply.Recv()
			switch {
			case err == io.EOF:
				return nil
			case err != nil:
				return err
			case len(chunk.Choices) > 0:
				event(arrival{at: time.Now(), truth: written(chunk.Choices[0].Text)})
			}
		}
	}
}

// plainStream is what one writes with the standard library and without a second
// thought.
func plainStream(url string) stream {
	client := &http.Client{Transport: manyConnections()}
	return func(ctx context.Context, tokens int, event func(arrival)) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, url+endpoint, strings.NewReader(requestBody(tokens)))
		if err != nil {
			return err
		}
		reply, err := client.Do(request)
		if err != nil {
			return err
		}
		defer reply.Body.Close()
		lines := bufio.NewScanner(reply.Body)
		for lines.Scan() {
			data, ok := bytes.CutPrefix(lines.Bytes(), []byte("data: "))
			if !ok || string(data) == "[DONE]" {
				continue
			}
			var chunk struct {
				ID      string
				Choices []struct {
					Index        int
					Text         string
					FinishReason string `json:"finish_reason"`
				}
				Usage *struct {
					CompletionTokens int `json:"completion_tokens"`
				}
			}
			if err := json.Unmarshal(data, &chunk); err != nil {
				return err
			}
			if len(chunk.Choices) > 0 {
				event(arrival{at: time.Now(), truth: written(chunk.Choices[0].Text)})
			}
		}
		return lines.Err()
	}
}

// manyConnections is a transport that keeps them all.
func manyConnections() http.RoundTripper { return &http.Transport{MaxIdleConnsPerHost: 1 << 20} }

// written reads from the text of a Metronome's event when that was written: it
// begins with it. It is 0 where the text says nothing of the kind.
func written[Text string | []byte](text Text) (at int64) {
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			break
		}
		at = 10*at + int64(text[i]-'0')
	}
	return at
}
