package embeddings_test

import (
	"encoding/binary"
	"encoding/json"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	openai "github.com/sashabaranov/go-openai"

	"github.com/servebench/servebench/loadgen/sim/embeddings"
)

// A model answers completions with one prompt token for each byte of the body's prompt or messages, and notes
// which requests it got.
type model struct {
	mu    sync.Mutex
	asked []string
	ids   []string
}

func (m *model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var asked struct{ Prompt, Messages json.RawMessage }
	_ = json.Unmarshal(body, &asked)
	m.mu.Lock()
	m.asked = append(m.asked, string(asked.Prompt)+string(asked.Messages))
	m.ids = append(m.ids, r.Header.Get("X-Request-Id"))
	m.mu.Unlock()
	switch {
	case strings.Contains(string(body), "refuse me"):
		http.Error(w, "no", http.StatusTooManyRequests)
		return
	case strings.Contains(string(body), "cut me"):
		panic(http.ErrAbortHandler)
	}
	json.NewEncoder(w).Encode(map[string]any{"usage": map[string]any{"prompt_tokens": len(asked.Prompt) + len(asked.Messages)}})
}

// post posts a body, and gives the answer and what the model was asked.
func post(path, body string) (w *httptest.ResponseRecorder, asked, ids []string) {
	m := new(model)
	h := &embeddings.Handler{Completions: m, Chat: m, Dimensions: 4}
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
	r.Header.Set("X-Request-Id", "b-7")
	w = httptest.NewRecorder()
	h.ServeHTTP(w, r)
	slices.Sort(m.asked)
	slices.Sort(m.ids)
	return w, m.asked, m.ids
}

func TestEachSequenceIsARequest(t *testing.T) {
	for _, c := range []struct {
		path, body string
		want       []string
	}{
		{"/v1/embeddings", `{"input":"a"}`, []string{`"a"`}},
		{"/v1/embeddings", `{"input":["a","b"]}`, []string{`"a"`, `"b"`}},
		{"/pooling", `{"input":[1,2]}`, []string{`[1,2]`}},
		{"/pooling", `{"input":[[1,2],[3]]}`, []string{`[1,2]`, `[3]`}},
		{"/v1/embeddings", `{"messages":[{"role":"user","content":"a"}]}`, []string{`[{"role":"user","content":"a"}]`}},
		{"/embeddings", `{"input":"file://a.png","modality":"image"}`, []string{`[{"content":[{"image_url":{"url":"file://a.png"},"type":"image_url"}],"role":"user"}]`}},
		{"/v1/rerank", `{"query":"q","documents":["a",{"text":"b"}]}`, []string{`"q a"`, `"q b"`}},
		{"/score", `{"text_1":"q","text_2":["a","b"]}`, []string{`"q a"`, `"q b"`}},
		{"/v1/score", `{"text_1":["a","b"],"text_2":["c","d"]}`, []string{`"a c"`, `"b d"`}},
	} {
		w, asked, ids := post(c.path, c.body)
		if w.Code != http.StatusOK || !slices.Equal(asked, c.want) {
			t.Errorf("%s %s: status %d, asked %q", c.path, c.body, w.Code, asked)
		}
		if len(c.want) == 2 && !slices.Equal(ids, []string{"b-7", "b-7-1"}) {
			t.Errorf("%s: ids %q", c.body, ids)
		}
		var answer struct{ Usage openai.Usage }
		if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || answer.Usage.PromptTokens != len(strings.Join(c.want, "")) || answer.Usage.TotalTokens != answer.Usage.PromptTokens {
			t.Errorf("%s: usage %+v, %v", c.body, answer.Usage, err)
		}
	}
}

// The client's types of go-openai read the embeddings, and both encodings hold the same numbers.
func TestEmbeddingsHaveLengthOne(t *testing.T) {
	vector := func(body string) []float32 {
		w, _, _ := post("/v1/embeddings", body)
		var answer openai.EmbeddingResponse
		if strings.Contains(body, "base64") {
			var encoded openai.EmbeddingResponseBase64
			if err := json.Unmarshal(w.Body.Bytes(), &encoded); err != nil {
				t.Fatal(err)
			}
			decoded, err := encoded.ToEmbeddingResponse()
			if err != nil {
				t.Fatal(err)
			}
			answer = decoded
		} else if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
			t.Fatal(err)
		}
		return answer.Data[0].Embedding
	}
	plain := vector(`{"input":"a"}`)
	sum := 0.0
	for _, x := range plain {
		sum += float64(x) * float64(x)
	}
	if len(plain) != 4 || math.Abs(sum-1) > 1e-6 {
		t.Errorf("embedding %v", plain)
	}
	if packed := vector(`{"input":"a","encoding_format":"base64"}`); !slices.Equal(plain, packed) {
		t.Errorf("%v in base64 is %v", plain, packed)
	}
	if other := vector(`{"input":"b","dimensions":9}`); len(other) != 9 || slices.Equal(other[:4], plain) {
		t.Errorf("another text has %v", other)
	}
	w, _, _ := post("/v1/embeddings", `{"input":"a","encoding_format":"bytes"}`)
	if got := math.Float32frombits(binary.LittleEndian.Uint32(w.Body.Bytes())); got != plain[0] || !strings.Contains(w.Header().Get("Metadata"), `"prompt_tokens":3`) {
		t.Errorf("bytes begin with %v, header %q", got, w.Header())
	}
	if w, _, _ = post("/v1/embeddings", `{"input":"a","encoding_format":"bytes_only"}`); w.Body.Len() != 16 || w.Header().Get("Metadata") != "" {
		t.Errorf("%d bytes, header %q", w.Body.Len(), w.Header())
	}
}

func TestTheBestDocumentComesFirst(t *testing.T) {
	w, _, _ := post("/v1/rerank", `{"query":"q","documents":["a","b","c","d"],"top_n":3}`)
	var answer struct {
		Results []struct {
			Index    int
			Document struct{ Text string }
			Score    float64 `json:"relevance_score"`
		}
	}
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || len(answer.Results) != 3 {
		t.Fatal(err, w.Body)
	}
	for i, r := range answer.Results {
		if r.Document.Text != []string{"a", "b", "c", "d"}[r.Index] || i > 0 && r.Score > answer.Results[i-1].Score {
			t.Errorf("results %+v", answer.Results)
		}
	}
}

func TestWhatIsNoRequest(t *testing.T) {
	for body, path := range map[string]string{
		`{`: "/v1/embeddings", `{}`: "/v1/embeddings", `{"query":"q"}`: "/v1/rerank", `{"documents":["a"]}`: "/rerank",
		`{"text_1":["a","b"],"text_2":["c"]}`: "/score", `{"text_1":[],"text_2":[]}`: "/score", `{"input":"a","dimensions":-1}`: "/v1/embeddings",
	} {
		if w, asked, _ := post(path, body); w.Code != http.StatusBadRequest || len(asked) > 0 {
			t.Errorf("%s: status %d, asked %q", body, w.Code, asked)
		}
	}
}

func TestOneSequenceFailsAll(t *testing.T) {
	if w, _, _ := post("/v1/embeddings", `{"input":["a","refuse me"]}`); w.Code != http.StatusTooManyRequests || w.Body.String() != "no\n" {
		t.Errorf("status %d, %q", w.Code, w.Body)
	}
	defer func() {
		if why := recover(); why != http.ErrAbortHandler {
			t.Errorf("it ended with %v", why)
		}
	}()
	post("/v1/embeddings", `{"input":["a","cut me"]}`)
}

func FuzzRequest(f *testing.F) {
	paths := []string{"/v1/embeddings", "/pooling", "/v1/rerank", "/score"}
	f.Add(uint8(0), `{"input":["a",[1]]}`)
	f.Add(uint8(2), `{"query":"q","documents":["a",{"text":"b"}],"top_n":-1}`)
	f.Add(uint8(3), `{"text_1":"q","text_2":["a"]}`)
	f.Fuzz(func(t *testing.T, path uint8, body string) {
		if strings.Contains(body, "cut me") {
			t.Skip()
		}
		if w, _, _ := post(paths[int(path)%len(paths)], body); w.Code != http.StatusOK && w.Code != http.StatusBadRequest && w.Code != http.StatusTooManyRequests {
			t.Errorf("status %d", w.Code)
		}
	})
}
