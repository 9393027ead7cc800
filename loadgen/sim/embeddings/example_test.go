package embeddings_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/servebench/servebench/loadgen/sim/embeddings"
)

// Each pair of the query and a document is a completion of one token.
func Example() {
	completions := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Println(r.URL.Path, string(body))
		io.WriteString(w, `{"usage":{"prompt_tokens":3,"completion_tokens":1}}`)
	})
	h := &embeddings.Handler{Completions: completions, Dimensions: 4}
	r := httptest.NewRequest(http.MethodPost, "/v1/rerank", strings.NewReader(`{"model":"m","query":"red","documents":["a rose"]}`))
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	fmt.Println(w.Body)
	// Output:
	// /v1/completions {"ignore_eos":true,"max_tokens":1,"model":"m","prompt":"red a rose"}
	// {"model":"m","results":[{"index":0,"document":{"text":"a rose"},"relevance_score":0.4654220918850428}],"usage":{"prompt_tokens":3,"total_tokens":3,"completion_tokens":0}}
}
