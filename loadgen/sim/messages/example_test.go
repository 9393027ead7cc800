package messages_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/servebench/servebench/loadgen/sim/messages"
)

// A chat's stream becomes a message.
func Example() {
	chat := func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusOK)
		io.WriteString(w, "data: {\"id\":\"chatcmpl-1\",\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}\n\ndata: [DONE]\n\n")
	}
	w := httptest.NewRecorder()
	r := httptest.NewRequest("POST", "/v1/messages", strings.NewReader(`{"messages": [{"role": "user", "content": "Hello"}], "max_tokens": 1, "stream": true}`))
	(&messages.Handler{Chat: http.HandlerFunc(chat)}).ServeHTTP(w, r)
	for line := range strings.Lines(w.Body.String()) {
		if strings.HasPrefix(line, "event: ") {
			fmt.Print(line)
		}
	}
	// Output:
	// event: message_start
	// event: content_block_start
	// event: content_block_delta
	// event: content_block_stop
	// event: message_delta
	// event: message_stop
}
