package main

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"mime"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// goldenFolder is where the golden files are, from the working directory: see inInputs.
func goldenFolder(t *testing.T) string {
	t.Helper()
	for _, folder := range []string{"../../testdata/golden/", "../"} {
		if _, err := os.Stat(folder + "tok-plain"); err == nil {
			return folder
		}
	}
	t.Fatal("the golden files are missing")
	return ""
}

// unset takes variables out of the environment until the test ends.
func unset(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		t.Setenv(name, "") // restores it
		os.Unsetenv(name)
	}
}

// inInputs makes the folder of the input files the working directory, where the golden runs were
// made: their files name others. It puts the repositories that they read into a Hugging Face cache.
func inInputs(t *testing.T) {
	t.Helper()
	t.Chdir("../../testdata/golden/inputs")
	home := t.TempDir()
	t.Setenv("HF_HOME", home)
	unset(t, "HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_DATASETS_CACHE")
	const commit = "0123456789abcdef0123456789abcdef01234567"
	repository := home + "/hub/datasets--gorilla-llm--Berkeley-Function-Calling-Leaderboard"
	files, err := filepath.Glob("BFCL_v3_*.json")
	if err != nil || len(files) != 3 {
		t.Fatalf("%q, %v", files, err)
	}
	for _, folder := range []string{"/refs", "/snapshots/" + commit} {
		if err := os.MkdirAll(repository+folder, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(repository+"/refs/main", []byte(commit), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err == nil {
			err = os.WriteFile(repository+"/snapshots/"+commit+"/"+name, text, 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// A wireRecorder answers each request with two tokens, and notes it.
type wireRecorder struct {
	metrics string // of each request, a member of the last chunk; empty for none

	mu    sync.Mutex
	calls []wireCall
}

func (w *wireRecorder) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	if slices.Contains([]string{"/version", "/props", "/api/version"}, r.URL.Path) {
		return // servebench alone asks for them: see docs/vllm.md
	}
	body, _ := io.ReadAll(r.Body)
	c := wireCall{Method: r.Method, Path: r.URL.Path}
	if kind, options, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind == "multipart/form-data" {
		c.Form = formOf(string(body), options["boundary"])
	} else {
		c.Body = string(body)
	}
	for name := range r.Header {
		c.Headers = append(c.Headers, [2]string{name, r.Header.Get(name)})
	}
	w.mu.Lock()
	w.calls = append(w.calls, c)
	w.mu.Unlock()
	switch {
	case r.URL.Path == "/v1/models":
		io.WriteString(rw, `{"data": [{"id": "served", "root": "root/m"}]}`)
	case r.URL.Path == "/start_profile", r.URL.Path == "/stop_profile":
	case strings.HasSuffix(r.URL.Path, "embeddings"), strings.HasSuffix(r.URL.Path, "pooling"), strings.HasSuffix(r.URL.Path, "rerank"):
		const usage = `"usage": {"prompt_tokens": 5, "total_tokens": 5}`
		rw.Header().Set("Content-Type", "application/json")
		rw.Header().Set("Metadata", "{"+usage+"}")
		io.WriteString(rw, `{"object": "list", "data": [{"object": "embedding", "index": 0, "embedding": [0.5, 0.25]}], "results": [], `+usage+"}")
	case strings.HasSuffix(r.URL.Path, "completions"), strings.HasPrefix(r.URL.Path, "/v1/audio/"):
		rw.Header().Set("Content-Type", "text/event-stream")
		for _, token := range []string{"a", " b"} {
			io.WriteString(rw, `data: {"choices":[{"index":0,"text":"`+token+`","delta":{"content":"`+token+`"}}]}`+"\n\n")
		}
		io.WriteString(rw, `data: {"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":2}`+w.metrics+"}\n\ndata: [DONE]\n\n")
	case r.URL.Path == "/v1/responses":
		rw.Header().Set("Content-Type", "text/event-stream")
		for _, token := range []string{"a", " b"} {
			io.WriteString(rw, "event: response.output_text.delta\ndata: "+`{"type":"response.output_text.delta","delta":"`+token+`"}`+"\n\n")
		}
		io.WriteString(rw, "event: response.completed\ndata: "+`{"type":"response.completed","response":{"id":"r","usage":{"input_tokens":9,"output_tokens":2}`+w.metrics+"}}\n\n")
	default:
		http.NotFound(rw, r)
	}
}

// formOf are the parts of a form, as they were sent.
func formOf(body, boundary string) (parts []wirePart) {
	for _, text := range strings.Split("\r\n"+body, "\r\n--"+boundary)[1:] {
		head, value, ok := strings.Cut(strings.TrimPrefix(text, "\r\n"), "\r\n\r\n")
		if !ok {
			continue // the end
		}
		p := wirePart{Headers: strings.Split(head, "\r\n"), Value: value}
		_, p.Name, _ = strings.Cut(head, `name="`)
		p.Name, _, _ = strings.Cut(p.Name, `"`)
		if p.Name == "file" {
			hash := sha256.Sum256([]byte(value))
			p.Value, p.Bytes, p.SHA256 = "", len(value), hex.EncodeToString(hash[:])
		}
		parts = append(parts, p)
	}
	return parts
}

func TestFormsAreReadAsSent(t *testing.T) {
	const body = "--b\r\nContent-Type: audio/wav\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.wav\"\r\n\r\nRI\r\nFF\r\n" +
		"--b\r\nContent-Disposition: form-data; name=\"model\"\r\n\r\nm\r\n--b--\r\n"
	want := []wirePart{
		{Name: "file", Headers: []string{"Content-Type: audio/wav", `Content-Disposition: form-data; name="file"; filename="a.wav"`}, Bytes: 6,
			SHA256: "af3f7bdda9ff360ff7b9e46f609a66b317facf02a79b4546215cd2bc7d04d07c"},
		{Name: "model", Headers: []string{`Content-Disposition: form-data; name="model"`}, Value: "m"},
	}
	if diff := cmp.Diff(want, formOf(body, "b")); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
