package truth

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestServerKeepsRequests has the server keep two requests, one of them long, and reads them
// back.
func TestServerKeepsRequests(t *testing.T) {
	file := filepath.Join(t.TempDir(), "kept")
	url, stop := start(t, Script{First: time.Millisecond, Chunks: 2, Keep: file})
	long := `{"prompt":"` + strings.Repeat("a long prompt ", 1<<16) + `","max_tokens":300}`
	began := time.Now().UnixNano()
	if events := complete(t, url, long); len(events) != 2+1 {
		t.Errorf("%d events of an answer of 300 tokens in 2 chunks: %q", len(events), events)
	}
	const chat = `{"messages":[{"role":"user","content":"hello"}],"max_completion_tokens":7,"stream_options":{"include_usage":true}}`
	r, err := http.NewRequest(http.MethodPost, url+"/v1/chat/completions", strings.NewReader(chat))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Session-ID", "a-1")
	events := events(t, r)
	if len(events) != 2+1+1 || !strings.Contains(events[0], `"delta":{"content":"`+Said+`"}`) || !strings.Contains(events[2], `"completion_tokens":7`) {
		t.Errorf("a chat's events are %q", events)
	}
	notes := stop()
	if err := notes.keepIn(file); err != nil {
		t.Fatal(err)
	}
	kept, err := ReadKept(file)
	if err != nil || len(kept) != 2 {
		t.Fatalf("%d requests kept, %v", len(kept), err)
	}
	if string(kept[0].Body) != long || string(kept[1].Body) != chat {
		t.Error("a body is not as it was sent")
	}
	if id := kept[1].Field("x-session-id"); id != "a-1" || kept[0].Field("x-session-id") != "" {
		t.Errorf("the session is %q", id)
	}
	last := began
	for i, k := range kept {
		if k.Arrived <= last || k.Ended < k.Arrived+int64(time.Millisecond) || k.Ended > notes.last {
			t.Errorf("request %d arrived at %d and was answered at %d; the one before ended at %d", i, k.Arrived, k.Ended, last)
		}
		last = k.Ended
	}
}
