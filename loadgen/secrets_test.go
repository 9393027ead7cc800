package loadgen

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/servebench/servebench/dataset"
)

// repeater is a server that refuses everything, and repeats what it was sent.
func repeater(t *testing.T) string {
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusForbidden)
		io.WriteString(w, `{"error": {"message": "bad key: `+r.Header.Get("Authorization")+`"}}`)
	}))
	t.Cleanup(web.Close)
	return web.URL
}

// What a server says may hold the key, also to a program that brings the prompts.
func TestNothingThatIsSaidHasTheKey(t *testing.T) {
	const key = "sk-very-secret"
	server := Server{BaseURL: repeater(t) + "/", APIKey: key, Model: "m", Tokenizer: "server"}
	var source dataset.Source = func(yield func(*dataset.Conversation, error) bool) {
		yield(&dataset.Conversation{Turns: []dataset.Turn{{Prompt: "Hi", OutputLen: 1}}}, nil)
	}
	adapters := Workload{NumPrompts: 1}
	adapters.Adapters.Names = []string{"sql"}
	for name, plan := range map[string]*Plan{
		"a source":           {Server: server, Workload: Workload{Source: source, NumPrompts: 1}},
		"adapters":           {Server: server, Workload: adapters},
		"a server's ids":     {Server: server, Workload: Workload{NumPrompts: 1}},
		"a model to find":    {Server: Server{BaseURL: server.BaseURL, APIKey: key}, Workload: Workload{NumPrompts: 1}},
		"a profile and more": {Server: server, Workload: Workload{Source: source, NumPrompts: 1}, Watch: Watch{Server: true, Profile: true}},
	} {
		talk := new(remarks)
		_, err := plan.Run(t.Context(), talk)
		_, opening := plan.Dataset(t.Context(), talk)
		said := errors.Join(err, opening, plan.ResetPrefixCache(t.Context())).Error() + talk.String()
		if strings.Contains(said, key) || !strings.Contains(said, "<redacted>") {
			t.Errorf("%s: %s", name, said)
		}
	}
}
