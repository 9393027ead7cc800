package truth

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// start starts a server; stop ends it and returns its notes.
func start(t *testing.T, s Script) (url string, stop func() *notes) {
	t.Helper()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	srv, err := newServer(s, int(read.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- srv.loop.Serve(srv) }()
	t.Cleanup(func() { write.Close(); read.Close() })
	return "http://127.0.0.1:" + strconv.Itoa(srv.loop.Port), func() *notes {
		write.Close()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		return &srv.notes
	}
}

// complete sends a request and returns the events of its answer.
func complete(t *testing.T, url, body string) []string {
	t.Helper()
	r, err := http.NewRequest(http.MethodPost, url+"/v1/completions", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	return events(t, r)
}

// events are what a request is answered with.
func events(t *testing.T, r *http.Request) (events []string) {
	t.Helper()
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	for lines := bufio.NewScanner(reply.Body); lines.Scan(); {
		if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			events = append(events, data)
		}
	}
	return events
}

func TestServerWritesWhatItNotes(t *testing.T) {
	for _, s := range []Script{
		{},
		{First: 3 * time.Millisecond, ITL: 2 * time.Millisecond},
		{First: 3 * time.Millisecond, ITL: 2 * time.Millisecond, LockStep: true},
		{First: 3 * time.Millisecond, ITL: 2 * time.Millisecond, Tail: time.Millisecond},
	} {
		url, stop := start(t, s)
		began := time.Now().UnixNano()
		for _, test := range []struct {
			body   string
			events int
		}{
			{`{"max_tokens": 5, "stream": true, "stream_options": {"include_usage": true}}`, 5 + 2},
			{`{"max_tokens":1,"stream":true}`, 1 + 1},
			{`{"prompt":"` + strings.Repeat("a long prompt ", 1<<16) + `","max_tokens":3}`, 3 + 1},
		} {
			events := complete(t, url, test.body)
			if len(events) != test.events || events[len(events)-1] != "[DONE]" {
				t.Errorf("%+v: %d events, want %d: %q", s, len(events), test.events, events)
			}
		}
		n := stop()
		if n.Failures > 0 || len(n.arrivals) != 3 || len(n.ttfts) != 3 || len(n.itls) != 4+2 {
			t.Errorf("%+v: noted %d failures, %d requests, %d first chunks and %d gaps", s, n.Failures, len(n.arrivals), len(n.ttfts), len(n.itls))
		}
		for _, at := range n.arrivals {
			if at < began || at > n.last {
				t.Errorf("a request arrived at %d, not between %d and %d", at, began, n.last)
			}
		}
		for _, ttft := range n.ttfts {
			if ttft < s.First {
				t.Errorf("%+v: TTFT %v", s, ttft)
			}
		}
		for _, itl := range n.itls {
			if !s.LockStep && itl < s.ITL {
				t.Errorf("%+v: ITL %v", s, itl)
			}
		}
	}
}

func TestServerKnowsModelsAndNothingElse(t *testing.T) {
	url, stop := start(t, Script{})
	for path, want := range map[string]int{"/v1/models": http.StatusOK, "/tokenize": http.StatusNotFound} {
		reply, err := http.Get(url + path)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(reply.Body)
		reply.Body.Close()
		if err != nil || reply.StatusCode != want {
			t.Errorf("%s: %s %v", path, reply.Status, err)
		}
		if want == http.StatusOK && !strings.Contains(string(text), `"id":"`+Model+`"`) {
			t.Errorf("models: %s", text)
		}
	}
	if n := stop(); n.Failures > 0 || len(n.arrivals) > 0 {
		t.Errorf("noted %d failures and %d requests", n.Failures, len(n.arrivals))
	}
}

func TestServerCountsAnswersThatNobodyRead(t *testing.T) {
	url, stop := start(t, Script{First: time.Hour})
	conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	const body = `{"max_tokens":2}`
	if _, err := io.WriteString(conn, "POST /v1/completions HTTP/1.1\r\nContent-Length: "+strconv.Itoa(len(body))+"\r\n\r\n"+body); err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(conn); err != nil || len(text) > 0 { // the server closes, too
		t.Errorf("answered %q, %v", text, err)
	}
	if n := stop(); n.Failures != 1 || len(n.arrivals) != 1 {
		t.Errorf("noted %d failures of %d requests", n.Failures, len(n.arrivals))
	}
}

func TestRequestsAreReadInPieces(t *testing.T) {
	const text = "POST /v1/completions HTTP/1.1\r\nHost: a\r\nx-request-id: b-7\r\ncontent-length: 39\r\n\r\n" + `{"max_tokens": 12,"include_usage": true`
	for end := range len(text) {
		if _, whole, err := parse([]byte(text[:end])); whole || err != nil {
			t.Fatalf("%q: whole %t, %v", text[:end], whole, err)
		}
	}
	r, whole, err := parse([]byte(text))
	if want := (request{completion: true, tokens: 12, usage: true, id: "b-7"}); err != nil || !whole || r != want {
		t.Errorf("%+v, whole %t, %v", r, whole, err)
	}
	for _, field := range []string{"Content-Length: x", "Transfer-Encoding: chunked"} {
		if _, _, err := parse([]byte("POST / HTTP/1.1\r\n" + field + "\r\n\r\n")); err == nil {
			t.Errorf("%s: no error", field)
		}
	}
}

func TestStreamsKeepStep(t *testing.T) {
	s := Script{ITL: 25, LockStep: true}
	for at, want := range map[time.Duration]time.Duration{0: 0, 1: 25, 25: 25, 26: 50} {
		if got := s.moment(at); got != want {
			t.Errorf("what may come from %d on is due at %d, want %d", at, got, want)
		}
	}
	if s.LockStep = false; s.moment(26) != 26 || s.wait() != 25 {
		t.Errorf("without steps, due at %d, then after %d", s.moment(26), s.wait())
	}
}
