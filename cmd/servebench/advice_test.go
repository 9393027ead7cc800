package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/servebench/servebench/loadgen"
)

// What a server without the right key is told names the variable that has it; any
// other refusal does not.
func TestALockedServerIsAboutTheKey(t *testing.T) {
	for _, test := range []struct {
		status    int
		key, says string
	}{
		{http.StatusUnauthorized, "", "401 Unauthorized: OPENAI_API_KEY is not set"},
		{http.StatusUnauthorized, "wrong", "401 Unauthorized: is OPENAI_API_KEY its key?"},
		{http.StatusNotFound, "", "404 Not Found"},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(test.status) }))
		_, err := (&loadgen.Server{URL: server.URL}).Models(t.Context())
		server.Close()
		b := &bench{options: &options{Server: serverOptions{APIKey: test.key}}}
		if got := b.advised(err).Error(); !strings.HasSuffix(got, ": "+test.says) {
			t.Errorf("status %d with key %q: %s", test.status, test.key, got)
		}
	}
}
