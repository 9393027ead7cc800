package sim

import (
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/servebench/servebench/loadgen/sim/speed"
)

// An embedding takes the step that reads its prompt, and a batch takes one step if it fits.
func TestAnEmbeddingTakesItsPrefill(t *testing.T) {
	cost := speed.Cost{Base: 10 * time.Millisecond, PerPromptToken: time.Millisecond}
	for body, want := range map[string]time.Duration{
		`{"input":"tok1 tok2 tok3"}`:            13 * time.Millisecond,
		`{"input":["tok1 tok2 tok3","tok4"]}`:   14 * time.Millisecond,
		`{"input":[[1,2,3],[4,5,6],[7],[8,9]]}`: 19 * time.Millisecond,
	} {
		synctest.Test(t, func(t *testing.T) {
			server, err := New(Config{Tokenizer: stub, Cost: cost})
			if err != nil {
				t.Fatal(err)
			}
			defer server.Close()
			start := time.Now()
			w := httptest.NewRecorder()
			server.ServeHTTP(w, httptest.NewRequest("POST", "/v1/embeddings", strings.NewReader(body)))
			if took := time.Since(start); w.Code != 200 || took != want {
				t.Errorf("%s: status %d after %v, want %v: %s", body, w.Code, took, want, w.Body)
			}
		})
	}
}
