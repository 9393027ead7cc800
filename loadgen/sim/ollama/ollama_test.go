package ollama_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/servebench/servebench/loadgen/sim/ollama"
)

// A client that mixes up the two endpoints is told so: a server that answers anyway would hide its mistake.
func TestEachEndpointTakesItsOwnMembers(t *testing.T) {
	asked := 0
	server := &ollama.Handler{Chat: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked++
		w.WriteHeader(http.StatusOK)
	})}
	for _, row := range []struct {
		path, body string
		status     int
	}{
		{"/api/chat", `{"messages": [{"role": "user", "content": "Hi"}]}`, http.StatusOK},
		{"/api/generate", `{"prompt": "Hi"}`, http.StatusOK},
		{"/api/chat", `{"prompt": "Hi"}`, http.StatusBadRequest},
		{"/api/generate", `{"messages": [{"role": "user", "content": "Hi"}]}`, http.StatusBadRequest},
	} {
		w, before := httptest.NewRecorder(), asked
		server.ServeHTTP(w, httptest.NewRequest("POST", row.path, strings.NewReader(row.body)))
		if w.Code != row.status || (asked > before) != (row.status == http.StatusOK) {
			t.Errorf("%s %s: %d, the chat was asked: %t", row.path, row.body, w.Code, asked > before)
		}
	}
}
