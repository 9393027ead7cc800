package main

import (
	"bufio"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// startServer starts the plain server in this process and returns its URL.
func startServer(t *testing.T) string {
	t.Helper()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	s, err := newServer(int(read.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- s.loop.Serve(s) }()
	t.Cleanup(func() {
		write.Close()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		read.Close()
	})
	return "http://127.0.0.1:" + strconv.Itoa(s.loop.Port)
}

// startSecure starts the server with HTTP/2 in this process and returns its URL.
func startSecure(t *testing.T) string {
	t.Helper()
	listener, err := listenSecure()
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: &secureServer{base: time.Now()}}
	go s.Serve(listener)
	t.Cleanup(func() { s.Close() })
	return "https://" + listener.Addr().String()
}

// fetch sends a request, a POST if there is a body, and returns the answer and its text.
func fetch(t *testing.T, c *http.Client, url, id, body string) (*http.Response, string) {
	t.Helper()
	q := httptest.NewRequest(http.MethodGet, url, nil)
	if body != "" {
		q = httptest.NewRequest(http.MethodPost, url, strings.NewReader(body))
	}
	q.RequestURI = ""
	q.Header.Set("X-Request-Id", id)
	answer, err := c.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer, string(text)
}

// tokens counts the events of an answer that have a token.
func tokens(text string) (n int) {
	for lines := bufio.NewScanner(strings.NewReader(text)); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "data: {") && strings.Contains(lines.Text(), " tok") {
			n++
		}
	}
	return n
}

func TestServersNoteEachToken(t *testing.T) {
	c := trusting()
	defer c.CloseIdleConnections()
	for name, url := range map[string]string{"plain": startServer(t), "secure": startSecure(t)} {
		t.Run(name, func(t *testing.T) {
			fetch(t, c, url+"/set?ttft=2&itl=1", "", "")
			answer, text := fetch(t, c, url+"/v1/completions", "a", `{"prompt":[1,2,3],"max_tokens":5,"stream":true}`)
			if want := map[string]int{"plain": 1, "secure": 2}[name]; answer.ProtoMajor != want {
				t.Errorf("HTTP/%d, want %d", answer.ProtoMajor, want)
			}
			if tokens(text) != 5 || !strings.Contains(text, `"prompt_tokens":3,"total_tokens":8,"completion_tokens":5`) ||
				!strings.HasSuffix(text, "data: [DONE]\n\n") {
				t.Errorf("the answer is %s", text)
			}
			messages := `{"messages":[{"role":"system","content":"be good"},{"role":"user","content":"a b c"}],` +
				`"max_completion_tokens":3}`
			if _, text := fetch(t, c, url+"/v1/chat/completions", "b", messages); tokens(text) != 3 ||
				!strings.Contains(text, `"prompt_tokens":5,`) || !strings.Contains(text, `"finish_reason":"length"`) {
				t.Errorf("the chat is %s", text)
			}
			_, text = fetch(t, c, url+"/truth", "", "")
			notes, err := readNotes(strings.NewReader(text))
			if err != nil {
				t.Fatal(err)
			}
			if len(notes) != 2 || notes[0].ID != "a" || notes[1].ID != "b" {
				t.Fatalf("the notes are %v", notes)
			}
			if len(notes[0].Writes) != 5 || len(notes[1].Writes) != 3 {
				t.Fatalf("the notes are %v", notes)
			}
			for _, n := range notes {
				n.monotone(t)
			}
			fetch(t, c, url+"/set?ttft=2&itl=1", "", "")
			if _, text = fetch(t, c, url+"/truth", "", ""); text != "" {
				t.Errorf("after /set there are still notes: %s", text)
			}
		})
	}
}

// monotone fails unless the first token was written no earlier than its pace of 2 ms allows, and the
// others no earlier than 1 ms from the one that was due before.
func (n *note) monotone(t *testing.T) {
	t.Helper()
	for i, at := range n.Writes {
		if due := n.Received + time.Duration(2+i)*time.Millisecond; at < due {
			t.Errorf("token %d of %s was written %v before it was due", i, n.ID, due-at)
		}
		if i > 0 && at <= n.Writes[i-1] {
			t.Errorf("token %d of %s was written at %v, and the one before at %v", i, n.ID, at, n.Writes[i-1])
		}
	}
}

func TestServersAnswerWhatIsNoLoad(t *testing.T) {
	c := trusting()
	defer c.CloseIdleConnections()
	for _, url := range []string{startServer(t), startSecure(t)} {
		for path, want := range map[string]int{"/v1/models": 200, "/set?ttft=soon&itl=1": 400, "/metrics": 404} {
			if answer, text := fetch(t, c, url+path, "", ""); answer.StatusCode != want {
				t.Errorf("%s%s: %s %s", url, path, answer.Status, text)
			}
		}
	}
}

func TestARequestMayComeInParts(t *testing.T) {
	whole := "POST /v1/completions HTTP/1.1\r\nHost: x\r\nX-REQUEST-ID: 7\r\nContent-Length: 38\r\n\r\n" +
		`{"prompt": "some words", "max_tokens"` + ":"
	for n := range len(whole) {
		if _, size := parse([]byte(whole[:n])); size != 0 {
			t.Fatalf("%d bytes of %d are a request of %d bytes", n, len(whole), size)
		}
	}
	r, size := parse([]byte(whole + "POST"))
	want := request{path: "/v1/completions", id: "7", tokens: defaultTokens, prompt: 2}
	if size != len(whole) || r != want {
		t.Errorf("the request is %+v of %d bytes, want %+v of %d", r, size, want, len(whole))
	}
}

func TestTokensOfLongBodiesAreAtTheirEnds(t *testing.T) {
	prompt := `"prompt":[` + strings.Repeat("17, ", 9999) + `17]`
	for _, body := range []string{`{"max_tokens":21,` + prompt + `}`, `{` + prompt + `,"max_tokens": 21}`} {
		r := request{path: "/v1/completions"}
		r.load([]byte(body))
		if r.tokens != 21 || r.prompt != 10000 {
			t.Errorf("%d tokens for a prompt of %d, want 21 and 10000", r.tokens, r.prompt)
		}
	}
}
