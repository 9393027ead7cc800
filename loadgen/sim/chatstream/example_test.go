package chatstream_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http/httptest"

	"github.com/servebench/servebench/loadgen/sim/chatstream"
)

// loud is an API whose events are the texts of a chat.
type loud struct{}

func (loud) Chunk(out *bytes.Buffer, c *chatstream.Chunk) {
	chatstream.Event(out, "text", map[string]any{"said": c.Choices[0].Delta.Content})
}

func (loud) Done(out *bytes.Buffer) { chatstream.Event(out, "end", map[string]any{}) }

// A chat's chunks become events of another API.
func Example() {
	reply := httptest.NewRecorder()
	w := &chatstream.Writer{ResponseWriter: reply, API: loud{}}
	w.WriteHeader(200)
	io.WriteString(w, "data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}\n\ndata: [DO")
	io.WriteString(w, "NE]\n\n")
	w.End()
	fmt.Print(reply.Body)
	// Output:
	// event: text
	// data: {"said":"Hi","type":"text"}
	//
	// event: end
	// data: {"type":"end"}
}
