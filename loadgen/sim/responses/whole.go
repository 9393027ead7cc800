package responses

import (
	"bytes"
	"net/http"

	"github.com/servebench/servebench/loadgen/sim/chatstream"
)

// A whole writes the stream of a chat as one response at its end.
type whole struct{ *stream }

// Chunk notes what a chunk adds. An error is the whole answer.
func (w whole) Chunk(out *bytes.Buffer, c *chatstream.Chunk) {
	w.stream.Chunk(new(bytes.Buffer), c)
	if c.Error != nil {
		out.Write(mustJSON(map[string]any{"object": "response", "status": "failed", "error": c.Error}))
	}
}

// Done writes the response, unless the answer has failed.
func (w whole) Done(out *bytes.Buffer) {
	if !w.begun || w.failed {
		return
	}
	output := []any{}
	if w.text.Len() > 0 {
		text := map[string]any{"type": "output_text", "text": w.text.String()}
		output = append(output, map[string]any{"type": "message", "id": "msg_" + w.id, "role": "assistant",
			"content": []any{text}})
	}
	for _, f := range w.calls {
		output = append(output, f.item())
	}
	response, _ := w.response()
	response["object"], response["output"] = "response", output
	w.keep(w.id, w.message())
	out.Write(mustJSON(response))
}

// A jsonWriter says that a successful reply is JSON.
type jsonWriter struct{ http.ResponseWriter }

// WriteHeader begins the reply.
func (w jsonWriter) WriteHeader(status int) {
	if status == http.StatusOK {
		w.Header().Set("Content-Type", "application/json")
	}
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap is the writer below, for http.ResponseController.
func (w jsonWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
