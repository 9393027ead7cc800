// Package reading measures what it costs clients to read the streams of many answers, in one process: servebench,
// libraries, and bare reads of sockets.
package reading

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/http"
	"time"

	openai "github.com/sashabaranov/go-openai"

	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/loadgen/selftest"
	"github.com/servebench/servebench/loadgen/wire"
	"github.com/servebench/servebench/metrics/record"
)

// The clients, by name. AtOnce answers at once, without a server.
const (
	Ours      = "servebench"
	Recording = "servebench, recording"
	GoOpenAI  = "go-openai"
	Plain     = "plain" // of the standard library
	AtOnce    = "at once"
)

// Sender makes a client of the server at url, which is http://host:port.
func Sender(client, url string) engine.Sender {
	switch client {
	case GoOpenAI:
		return goOpenAISender(url)
	case Plain:
		return plainSender(url)
	case AtOnce:
		return noSender()
	default:
		return ourSender(url)
	}
}

const endpoint = "/v1/completions"

// requestBody asks for a stream of so many tokens.
func requestBody(tokens int) []byte {
	return fmt.Appendf(nil, `{"model":"metronome","prompt":"p","max_tokens":%d,"stream":true}`, tokens)
}

func ourSender(url string) engine.Sender {
	tally := new(wire.Tally)
	return selftest.Client(url, wire.Connections{Tally: tally}.Transport(), tally).Send
}

func goOpenAISender(url string) engine.Sender {
	config := openai.DefaultConfig("")
	config.BaseURL = url + "/v1"
	config.HTTPClient = &http.Client{Transport: manyConnections()}
	client := openai.NewClientWithConfig(config)
	return texts(func(ctx context.Context, body []byte, text func(string) bool) error {
		var request openai.CompletionRequest
		if err := json.Unmarshal(body, &request); err != nil {
			return err
		}
		reply, err := client.CreateCompletionStream(ctx, request)
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
			case len(chunk.Choices) > 0 && !text(chunk.Choices[0].Text):
				return nil
			}
		}
	})
}

// plainSender is the simplest client that one writes with the standard library.
func plainSender(url string) engine.Sender {
	client := &http.Client{Transport: manyConnections()}
	return texts(func(ctx context.Context, body []byte, text func(string) bool) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, url+endpoint, bytes.NewReader(body))
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
			var chunk openai.CompletionResponse
			if err := json.Unmarshal(data, &chunk); err != nil {
				return err
			}
			if len(chunk.Choices) > 0 && !text(chunk.Choices[0].Text) {
				return nil
			}
		}
		return lines.Err()
	})
}

// noSender needs no server.
func noSender() engine.Sender {
	return texts(func(_ context.Context, _ []byte, text func(string) bool) error {
		now := time.Now().UnixNano()
		text(fmt.Sprint(now, now, 0))
		return nil
	})
}

// texts is a Sender that stamps each text when it gets it.
func texts(send func(ctx context.Context, body []byte, text func(string) bool) error) engine.Sender {
	return func(ctx context.Context, _ time.Time, req *engine.Request, _ *record.Record) iter.Seq2[engine.Chunk, error] {
		return func(yield func(engine.Chunk, error) bool) {
			wanted := true
			var buf []byte
			err := send(ctx, req.Body, func(text string) bool {
				buf = append(buf[:0], text...)
				wanted = yield(engine.Chunk{At: time.Now(), Text: buf}, nil)
				return wanted
			})
			if err != nil && wanted {
				yield(engine.Chunk{}, err)
			}
		}
	}
}

// manyConnections is a transport that keeps all its connections.
func manyConnections() http.RoundTripper { return &http.Transport{MaxIdleConnsPerHost: 1 << 20} }
