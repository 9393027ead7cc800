package pooling

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/servebench/servebench/metrics/record"
)

func TestUsageIsFoundOnlyWhereItIs(t *testing.T) {
	for text, easy := range map[string]bool{
		`{"data": [{"embedding": [1]}], "usage": {"prompt_tokens": 9, "details": {"x": null}}}`: true,
		`{"data":[],"usage":{"prompt_tokens":9}}` + "\n":                                        true,
		`{"id": "rerank-1", "usage" : {"prompt_tokens": 9}, "results": [{"index": 0}]}`:         true,
		`{"id": "{", "usage": {"prompt_tokens": 9}, "results": []}`:                             false,
		`{"a": {"usage": {"prompt_tokens": 1}}, "usage": {"prompt_tokens": 9}, "results": []}`:  false,
		`{"usage": {"prompt_tokens": 9}, "data": [{"usage": {"prompt_tokens": 1}}]}`:            false,
		`{"data": [{"usage": {"prompt_tokens": 1}}], "usage": {"prompt_tokens": 9}}`:            false,
		`{"results": [{"text": "\"usage\": {"}], "usage": {"prompt_tokens": 9}}`:                true,
		`{"usage": {"prompt_tokens": 9}, "error": null}`:                                        false,
	} {
		rec := new(record.Record)
		if err := count([]byte(text), rec); err != nil || rec.Tokens.In != 9 {
			t.Errorf("%s: %d tokens, %v", text, rec.Tokens.In, err)
		}
		if got := usageIn([]byte(text)) != nil; got != easy {
			t.Errorf("%s: found at once: %t", text, got)
		}
	}
	for _, text := range []string{`{"data": [{"usage": {"prompt_tokens": 9}}]}`, `{"x": {"usage": {"prompt_tokens": 9}}}`, `{"usage": null}`, `{}`} {
		rec := &record.Record{Tokens: record.Tokens{In: 3}}
		if err := count([]byte(text), rec); err != nil || rec.Tokens.In != 0 {
			t.Errorf("%s: %d tokens, %v", text, rec.Tokens.In, err)
		}
	}
}

// What is found at once is what decoding everything finds.
func FuzzUsage(f *testing.F) {
	f.Add(`{"data": [{"embedding": [1]}], "usage": {"prompt_tokens": 9}}`)
	f.Add(`{"id": "a", "usage": {"prompt_tokens": 9}, "results": [{"index": 0}]}`)
	f.Add(`{"a": {"usage": {}}, "usage": {"prompt_tokens": 2}}`)
	f.Fuzz(func(t *testing.T, text string) {
		var whole struct {
			Usage struct {
				Prompt int `json:"prompt_tokens"`
			} `json:"usage"`
		}
		rec := new(record.Record)
		if strings.Count(strings.ToLower(text), "usage") > 1 || strings.Contains(text, `\u`) {
			t.Skip("encoding/json takes other spellings of the name, too")
		}
		if json.Unmarshal([]byte(text), &whole) != nil || usageIn([]byte(text)) == nil || count([]byte(text), rec) != nil {
			return
		}
		if rec.Tokens.In != whole.Usage.Prompt {
			t.Errorf("%d tokens, decoded %d", rec.Tokens.In, whole.Usage.Prompt)
		}
	})
}
