package openai

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/metrics"
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
		want   metrics.Record
		beside metrics.Tokens
		chunks int
	}{
		{"text", []string{heard, heard, heardStop, heardUse}, metrics.Record{Text: "HiHi", Finish: "stop", In: 3, Out: 9}, metrics.Tokens{}, 3},
		{"a role and nothing", []string{heardRole, heardNone, heardUse}, metrics.Record{In: 3, Out: 9}, metrics.Tokens{}, 2},
		{"usage with output", []string{heard}, metrics.Record{Text: "Hi", In: 3}, metrics.Tokens{In: 3, Out: 1}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := &Endpoint{URL: "http://server.test/v1/audio/transcriptions", Audio: true, Transport: transcription(append(c.events, "[DONE]")...)}
			rec, chunks := &metrics.Record{In: 3}, 0
			for chunk, err := range o.Send(t.Context(), time.Now(), &engine.Request{KeepText: true}, rec) {
				if err != nil {
					t.Fatal(err)
				}
				if chunks++; chunk.Blank {
					t.Errorf("chunk %d is no output", chunks)
				}
			}
			got := metrics.Record{Text: rec.Text, Finish: rec.Finish, In: rec.In, Out: rec.Out, Differs: rec.Differs}
			if diff := cmp.Diff(fmt.Sprintf("%+v", c.want), fmt.Sprintf("%+v", got)); diff != "" {
				t.Errorf("record (-want +got):\n%s", diff)
			}
			if beside := rec.WithOutput; beside == nil && c.beside.Out > 0 || beside != nil && *beside != c.beside {
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
		class  metrics.Class
	}{
		"no output": {[]string{heardUse, "[DONE]"}, metrics.Empty},
		"no delta":  {[]string{`{"choices":[{"text":"Hi"}]}`, "[DONE]"}, metrics.Malformed},
		"an error":  {[]string{heard, `{"error":{"message":"boom"}}`, "[DONE]"}, metrics.InStream},
		"cut":       {[]string{heard}, metrics.Truncated},
	} {
		o := &Endpoint{URL: "http://server.test/v1/audio/transcriptions", Audio: true, Transport: transcription(c.events...)}
		if got, _ := ask(t, o); got.Class != c.class {
			t.Errorf("%s: class %q, %s, want %q", name, got.Class, got.Error, c.class)
		}
	}
}

// vLLM's client skips comments in all other streams.
func TestCommentsInTranscriptionsAreTold(t *testing.T) {
	for audio, want := range map[bool]string{true: metrics.DiffersComment, false: ""} {
		o := &Endpoint{URL: "http://server.test/v1/x", Audio: audio, Chat: !audio, Transport: canned(": ping\n\ndata: " + heard + "\n\ndata: [DONE]\n\n")}
		if got, rec := ask(t, o); got.Class != metrics.OK || rec.Differs != want {
			t.Errorf("audio %v: class %q, differs %q", audio, got.Class, rec.Differs)
		}
	}
}
