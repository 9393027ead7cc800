package main

import (
	"bytes"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The image of a conversation goes to a chat, and to completions only its text. With
// --enable-multimodal-chat, the text comes before its type.
func TestShareGPTSendsTheImageOfAConversation(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sharegpt.json")
	const turns = `"conversations":[{"value":"kali purlen tiro groshi luka"},{"value":"tiro tiro luka groshi kali"}]`
	if err := os.WriteFile(path, []byte(`[{"image":"a.png",`+turns+`}]`), 0o666); err != nil {
		t.Fatal(err)
	}
	const image = `{"type": "image_url", "image_url": {"url": "file://a.png"}}`
	for _, c := range []struct{ flags, want, said string }{
		{"--backend openai-chat --endpoint /v1/chat/completions",
			`"messages": [{"role": "user", "content": [{"type": "text", "text": "kali purlen tiro groshi luka"}, ` + image + `]}], `, ""},
		{"--backend openai-chat --endpoint /v1/chat/completions --enable-multimodal-chat",
			`"messages": [{"role": "user", "content": [{"text": "kali purlen tiro groshi luka", "type": "text"}, ` + image + `]}], `, ""},
		{"", `"prompt": "kali purlen tiro groshi luka", `, "the sharegpt dataset has images or videos, and --backend openai sends none"},
	} {
		recorder := new(wireRecorder)
		server := httptest.NewServer(recorder)
		o := mustParse(t, c.flags+" --dataset-name sharegpt --num-prompts 1 --sharegpt-output-len 5 --model m --tokenizer ../../testdata/golden/tok-plain --request-id-prefix b- --base-url "+server.URL+" --dataset-path", path)
		var talk bytes.Buffer
		err := newExperiment(o, new(bytes.Buffer), &talk).run(t.Context())
		server.Close()
		if err != nil {
			t.Fatal(err)
		}
		if body := sorted(recorder.calls).generations["b-0"].Body; !strings.HasPrefix(body, `{"model": "m", `+c.want) {
			t.Errorf("%s: %s", c.flags, body)
		}
		if !strings.Contains(talk.String(), c.said) {
			t.Errorf("%s: no %q in %s", c.flags, c.said, &talk)
		}
	}
	_, err := parseRun(strings.Fields("--dataset-name sharegpt --enable-multimodal-chat --dataset-path " + path))
	if err == nil || !strings.Contains(err.Error(), "argument --enable-multimodal-chat: --backend openai sends no messages") {
		t.Errorf("messages as a prompt: %v", err)
	}
}
