package openai

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestVersionIsWhereEachServerSaysIt(t *testing.T) {
	for name, c := range map[string]struct {
		answers map[string]string
		want    string
		asked   int
	}{
		"vLLM":            {map[string]string{"/version": `{"version":"0.33.0"}`}, "0.33.0", 1},
		"llama.cpp":       {map[string]string{"/props": `{"default_generation_settings":{},"build_info":"b11549-5c1fa75"}`}, "b11549-5c1fa75", 2},
		"Ollama":          {map[string]string{"/api/version": `{"version":"0.12.6"}`}, "0.12.6", 3},
		"none":            {nil, "", 3},
		"of another type": {map[string]string{"/version": `{"version":7}`, "/props": `[]`, "/api/version": `{"version":"1"}`}, "1", 3},
		"a page":          {map[string]string{"/version": "<html>"}, "", 3},
		"not to show":     {map[string]string{"/version": `{"version":"a\u001b[2J"}`, "/props": `{"build_info":"` + strings.Repeat("x", 201) + `"}`}, "", 3},
	} {
		asked := 0
		web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked++
			answer, ok := c.answers[r.URL.Path]
			if !ok {
				w.WriteHeader(http.StatusNotFound)
			}
			w.Write([]byte(answer))
		}))
		if got := (&Server{URL: web.URL}).Version(t.Context()); got != c.want || asked != c.asked {
			t.Errorf("%s: version %q by %d calls, want %q by %d", name, got, asked, c.want, c.asked)
		}
		web.Close()
		if got := (&Server{URL: web.URL}).Version(t.Context()); got != "" {
			t.Errorf("%s: version %q of a server that is gone", name, got)
		}
	}
}
