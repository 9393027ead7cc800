package loadgen

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/servebench/servebench/dataset"
)

// Every warm-up sends the first request, however large it is.
func TestWarmUpsSendTheWholeRequest(t *testing.T) {
	var mu sync.Mutex
	sizes := map[int]int{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			http.NotFound(w, r)
			return
		}
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		sizes[len(body)]++
		mu.Unlock()
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "data: {\"choices\":[{\"text\":\"a\"}]}\n\ndata: [DONE]\n\n")
	}))
	defer server.Close()
	long := dataset.Turn{Prompt: strings.Repeat("word ", 20_000), OutputLen: 1}
	two := 2
	p := &Plan{
		Server: Server{BaseURL: server.URL, Model: "m", SkipTokenizer: true},
		Workload: Workload{NumPrompts: 1, Source: func(yield func(*dataset.Conversation, error) bool) {
			yield(&dataset.Conversation{Turns: []dataset.Turn{long}}, nil)
		}},
		Traffic: Traffic{Warmups: 9, MaxConcurrency: &two},
	}
	if _, err := p.Run(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if len(sizes) != 1 || sizes[0] != 0 {
		t.Errorf("bodies by their size: %v", sizes)
	}
	for size, n := range sizes {
		if n != 10 || size < 100_000 {
			t.Errorf("%d bodies of %d bytes", n, size)
		}
	}
}
