package ollama_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/servebench/servebench/loadgen/sim/ollama"
)

// A chat's stream becomes lines.
func Example() {
	chat := func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusOK)
		io.WriteString(w, "data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	}
	w := httptest.NewRecorder()
	r := httptest.NewRequest("POST", "/api/generate", strings.NewReader(`{"prompt": "Hello"}`))
	(&ollama.Handler{Chat: http.HandlerFunc(chat)}).ServeHTTP(w, r)
	for line := range strings.Lines(w.Body.String()) {
		var said struct {
			Response string
			Done     bool
		}
		if err := json.Unmarshal([]byte(line), &said); err != nil {
			fmt.Println(err)
		}
		fmt.Printf("%+v\n", said)
	}
	// Output:
	// {Response:Hi Done:false}
	// {Response: Done:true}
}
