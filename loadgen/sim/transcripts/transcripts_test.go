package transcripts

import (
	"bytes"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func asked(t *testing.T, fields map[string]string) *http.Request {
	t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for name, value := range fields {
		if err := form.WriteField(name, value); err != nil {
			t.Fatal(err)
		}
	}
	form.Close()
	r := httptest.NewRequest(http.MethodPost, "/v1/audio/translations", &body)
	r.Header.Set("Content-Type", form.FormDataContentType())
	return r
}

func TestFieldsReachTheChat(t *testing.T) {
	var got string
	chat := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = string(body)
	})
	(&Handler{chat}).ServeHTTP(httptest.NewRecorder(), asked(t, map[string]string{
		"file": "x", "model": "m", "max_completion_tokens": "7", "stream": "True", "ignore_eos": "True", "min_tokens": "2", "language": "en",
		"stream_include_usage": "True", "stream_continuous_usage_stats": "False",
	}))
	const want = `{"ignore_eos":true,"max_completion_tokens":7,"messages":[{"content":[{"input_audio":{"data":"eA=="},"type":"input_audio"}],"role":"user"}],` +
		`"min_tokens":2,"model":"m","stream":true,"stream_options":{"continuous_usage_stats":false,"include_usage":true}}`
	if got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

func TestWrongFormsAreRefused(t *testing.T) {
	for want, r := range map[string]*http.Request{
		"not a form":                            httptest.NewRequest(http.MethodPost, "/", strings.NewReader("{}")),
		"`file` is missing":                     asked(t, map[string]string{"stream": "True"}),
		"stream options need `stream`":          asked(t, map[string]string{"file": "x", "stream": "False", "stream_include_usage": "True"}),
		"`max_completion_tokens`: \\\"many\\\"": asked(t, map[string]string{"file": "x", "max_completion_tokens": "many"}),
		"longer than 26 MiB":                    asked(t, map[string]string{"file": strings.Repeat("x", maxForm), "stream": "True"}),
	} {
		w := httptest.NewRecorder()
		(&Handler{}).ServeHTTP(w, r)
		if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%d %s, want %s", w.Code, w.Body, want)
		}
	}
}

// However a stream is cut into writes, its lines are whole.
func TestAStreamIsPassedOnByLines(t *testing.T) {
	const chat = "data: " + `{"object":"chat.completion.chunk","choices":[{"delta":{"role":"assistant"}}]}` + "\r\n\r\n: ping\r\n\r\n" +
		"data: " + `{"object":"chat.completion.chunk","choices":[{"delta":{"content":"a"}}]}` + "\r\n\r\ndata: [DONE]\r\n\r\n"
	const want = ": ping\r\n\r\n" + "data: " + `{"object":"transcription.chunk","choices":[{"delta":{"content":"a"}}]}` + "\r\n\r\ndata: [DONE]\r\n\r\n"
	for size := range len(chat) {
		w := httptest.NewRecorder()
		s := &stream{ResponseWriter: w}
		for rest := chat; rest != ""; {
			n := min(size+1, len(rest))
			if _, err := io.WriteString(s, rest[:n]); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		if got := w.Body.String(); got != want {
			t.Fatalf("in writes of %d bytes: %q", size+1, got)
		}
	}
}

func TestAnAnswerThatIsNotStreamedIsOneObject(t *testing.T) {
	for answer, want := range map[string]string{
		`{"choices":[{"message":{"content":"Hi"}}]}`: `{"text":"Hi"}`,
		`{"error":{"message":"no"}}`:                 `{"error":{"message":"no"}}`,
	} {
		chat := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "99")
			if strings.Contains(answer, "error") {
				w.WriteHeader(http.StatusNotFound)
			}
			io.WriteString(w, answer)
		})
		w := httptest.NewRecorder()
		(&Handler{chat}).ServeHTTP(w, asked(t, map[string]string{"file": "x", "stream": "False"}))
		if got := w.Body.String(); got != want || (w.Code == http.StatusOK) != (want == `{"text":"Hi"}`) || w.Header().Get("Content-Length") != "" {
			t.Errorf("%d %s, want %s", w.Code, got, want)
		}
	}
}
