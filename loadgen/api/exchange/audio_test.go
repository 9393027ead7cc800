package exchange_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/servebench/servebench/loadgen/api/chat"
	"github.com/servebench/servebench/loadgen/api/exchange"
	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/metrics/record"
)

// Of transcriptions: the shape of vLLM's chunks.
const (
	heard     = `{"id":"trsc-1","object":"transcription.chunk","created":1,"model":"m","choices":[{"delta":{"content":"Hi"},"finish_reason":null}],"usage":{"prompt_tokens":4,"total_tokens":5,"completion_tokens":1}}`
	heardNone = `{"id":"trsc-1","object":"transcription.chunk","choices":[{"delta":{},"finish_reason":null}]}`
	heardRole = `{"id":"trsc-1","object":"transcription.chunk","choices":[{"delta":{"role":"assistant","content":""},"finish_reason":null}]}`
	heardStop = `{"id":"trsc-1","object":"transcription.chunk","choices":[{"delta":{"content":""},"finish_reason":"stop","stop_reason":null}]}`
	heardUse  = `{"id":"trsc-1","object":"transcription.chunk","choices":[],"usage":{"prompt_tokens":4,"completion_tokens":9}}`
)

// transcription is an answer of these events.
func transcription(events ...string) (body canned) {
	for _, event := range events {
		body = append(body, "data: "+event+"\n\n"...)
	}
	return body
}

// Every chunk with choices is output, whatever it adds, and only its output is taken from
// usage: see vLLM's async_request_openai_audio.
func TestTranscriptionsAreRead(t *testing.T) {
	for _, c := range []struct {
		name   string
		events []string
		want   record.Record
		beside record.Count
		chunks int
	}{
		{"text", []string{heard, heard, heardStop, heardUse}, record.Record{Answer: record.Answer{Text: "HiHi", Finish: "stop"}, Tokens: record.Tokens{In: 3, Out: 9}}, record.Count{}, 3},
		{"a role and nothing", []string{heardRole, heardNone, heardUse}, record.Record{Tokens: record.Tokens{In: 3, Out: 9}}, record.Count{}, 2},
		{"usage with output", []string{heard}, record.Record{Answer: record.Answer{Text: "Hi"}, Tokens: record.Tokens{In: 3}}, record.Count{In: 3, Out: 1}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := &exchange.Endpoint{URL: "http://server.test/v1/audio/transcriptions", Protocol: protocolNamed("audio"), Transport: transcription(append(c.events, "[DONE]")...)}
			rec, chunks := &record.Record{Tokens: record.Tokens{In: 3}}, 0
			for chunk, err := range o.Send(t.Context(), time.Now(), &engine.Request{KeepText: true}, rec) {
				if err != nil {
					t.Fatal(err)
				}
				if chunks++; chunk.Blank {
					t.Errorf("chunk %d is no output", chunks)
				}
			}
			got := record.Record{Answer: record.Answer{Text: rec.Answer.Text, Finish: rec.Answer.Finish}, Tokens: record.Tokens{In: rec.Tokens.In, Out: rec.Tokens.Out}, Result: record.Result{Differs: rec.Result.Differs}}
			if diff := cmp.Diff(fmt.Sprintf("%+v", c.want), fmt.Sprintf("%+v", got)); diff != "" {
				t.Errorf("record (-want +got):\n%s", diff)
			}
			if beside := rec.Tokens.WithOutput; beside == nil && c.beside.Out > 0 || beside != nil && *beside != c.beside {
				t.Errorf("with output %+v, want %+v", beside, c.beside)
			}
			if chunks != c.chunks {
				t.Errorf("%d chunks, want %d", chunks, c.chunks)
			}
		})
	}
}

func TestFailedTranscriptionsHaveAClass(t *testing.T) {
	for name, c := range map[string]struct {
		events []string
		class  record.Class
	}{
		"no output": {[]string{heardUse, "[DONE]"}, record.Empty},
		"no delta":  {[]string{`{"choices":[{"text":"Hi"}]}`, "[DONE]"}, record.Malformed},
		"an error":  {[]string{heard, `{"error":{"message":"boom"}}`, "[DONE]"}, record.InStream},
		"cut":       {[]string{heard}, record.Truncated},
	} {
		o := &exchange.Endpoint{URL: "http://server.test/v1/audio/transcriptions", Protocol: protocolNamed("audio"), Transport: transcription(c.events...)}
		if got, _ := ask(t, o); got.Class != c.class {
			t.Errorf("%s: class %q, %s, want %q", name, got.Class, got.Error, c.class)
		}
	}
}

// vLLM's client skips comments in all other streams.
func TestCommentsInTranscriptionsAreTold(t *testing.T) {
	for spoken, want := range map[bool]string{true: record.DiffersComment, false: ""} {
		o := &exchange.Endpoint{URL: "http://server.test/v1/x", Protocol: map[bool]*exchange.Protocol{true: protocolNamed("audio"), false: chat.Protocol}[spoken], Transport: canned(": ping\n\ndata: " + heard + "\n\ndata: [DONE]\n\n")}
		if got, rec := ask(t, o); got.Class != record.OK || rec.Result.Differs != want {
			t.Errorf("audio %v: class %q, differs %q", spoken, got.Class, rec.Result.Differs)
		}
	}
}
