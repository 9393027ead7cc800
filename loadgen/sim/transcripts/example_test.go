package transcripts_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/servebench/servebench/loadgen/sim/transcripts"
)

// A form becomes a chat, and the chat's chunks become chunks of a transcription.
func Example() {
	chat := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Println(r.URL.Path, string(body))
		io.WriteString(w, `data: {"object":"chat.completion.chunk","choices":[{"delta":{"role":"assistant","content":""}}]}`+"\n\n")
		io.WriteString(w, `data: {"object":"chat.completion.chunk","choices":[{"delta":{"content":"Hi"}}]}`+"\n\ndata: [DONE]\n\n")
	})
	form := "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.wav\"\r\n\r\nRIFF\r\n" +
		"--b\r\nContent-Disposition: form-data; name=\"stream\"\r\n\r\nTrue\r\n--b--\r\n"
	r := httptest.NewRequest(http.MethodPost, "/v1/audio/transcriptions", strings.NewReader(form))
	r.Header.Set("Content-Type", "multipart/form-data; boundary=b")
	w := httptest.NewRecorder()
	(&transcripts.Handler{Chat: chat}).ServeHTTP(w, r)
	fmt.Print(w.Body)
	// Output:
	// /v1/chat/completions {"messages":[{"content":[{"input_audio":{"data":"UklGRg=="},"type":"input_audio"}],"role":"user"}],"stream":true,"stream_options":{}}
	// data: {"object":"transcription.chunk","choices":[{"delta":{"content":"Hi"}}]}
	//
	// data: [DONE]
}
