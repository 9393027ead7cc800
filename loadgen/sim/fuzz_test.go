package sim

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/servebench/servebench/dataset/tokenizer"
)

func FuzzUnderstand(f *testing.F) {
	s, err := New(Config{Tokenizer: tokenizer.Stub{Size: 100, BOS: []int{100}, Special: []int{100}}, Limits: Limits{ModelLen: 50}})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(s.Close)
	for _, body := range []string{
		fiveTokens, fiveChatTokens, completion(3, 4), `{}`, `null`, `{"prompt":[]}`, `{"prompt":[100]}`, `{"prompt":[[1,2]],"min_tokens":1}`,
		`{"messages":[{"content":[{"type":"text","text":"tok1"}]}],"stream_options":{}}`,
		`{"messages":[{"role":"assistant","tool_calls":[{"function":{"arguments":"{\"text\":\"tok1\"}"}}]},{"role":"tool","content":"tok2"}],"tools":[{"function":{"name":"a"}}],"tool_choice":"none"}`, `{"prompt":"tok1","stop":[ ],"logprobs":null}`,
	} {
		f.Add(body, false)
		f.Add(body, true)
	}
	f.Fuzz(func(t *testing.T, body string, chat bool) {
		q, p := s.reader.understand(httptest.NewRequest("POST", "/", strings.NewReader(body)), chat)
		if p != nil {
			if p.Code < 400 || p.Message == "" {
				t.Errorf("refused with %+v", p)
			}
			return
		}
		a := newReply(&s.cfg, s.vocabulary, httptest.NewRequest("POST", "/", nil), q, nil)
		want := a.text.Left()
		if len(q.prompt) < 1 || want < 1 || len(q.prompt)+want > 50 || want > q.maxTokens || want < q.minTokens {
			t.Errorf("%d prompt and %d output tokens for %+v", len(q.prompt), want, q)
		}
		if out := string(a.tokens(want)); !strings.Contains(out, `"finish_reason":"`+reason(a.text)) {
			t.Errorf("rendered as %s", out)
		}
	})
}
