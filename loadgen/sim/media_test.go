package sim

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"

	"github.com/servebench/servebench/dataset/media/sound"
)

// spoken is a form with a sound, and its media type.
func spoken(t *testing.T, file []byte, fields map[string]string) (body, kind string) {
	t.Helper()
	var b bytes.Buffer
	form := multipart.NewWriter(&b)
	part, err := form.CreateFormFile("file", "a.wav")
	if err != nil {
		t.Fatal(err)
	}
	part.Write(file)
	for name, value := range fields {
		form.WriteField(name, value)
	}
	form.Close()
	return b.String(), form.FormDataContentType()
}

// A transcription is a chat with that sound: as many tokens in and out, and the same text.
func TestATranscriptionIsTheChatOfItsSound(t *testing.T) {
	file := (&sound.Sound{Rate: 8000, Channels: 1, Samples: make([]float64, 16000)}).WAV()
	type chunk struct {
		Object  string
		Choices []struct{ Delta struct{ Content string } }
		Usage   *struct {
			In  int `json:"prompt_tokens"`
			Out int `json:"completion_tokens"`
		}
	}
	read := func(h *harness, data string) (c chunk) {
		if err := json.Unmarshal([]byte(data), &c); err != nil {
			h.t.Fatalf("%s: %v", data, err)
		}
		return c
	}
	texts, last := map[string]string{}, map[string]chunk{}
	bubble(t, Config{Cost: testCost}, func(h *harness) {
		part := map[string]any{"type": "input_audio", "input_audio": map[string]any{"data": base64.StdEncoding.EncodeToString(file), "format": "wav"}}
		chat := map[string]any{"messages": []any{map[string]any{"role": "user", "content": []any{part}}}, "max_completion_tokens": 5, "ignore_eos": true,
			"stream": true, "stream_options": map[string]any{"include_usage": true}}
		for _, e := range h.stream("/v1/chat/completions", "chat", string(mustJSON(chat))) {
			if e.data != "[DONE]" {
				last["chat"] = read(h, e.data)
				for _, choice := range last["chat"].Choices {
					texts["chat"] += choice.Delta.Content
				}
			}
		}
		body, kind := spoken(t, file, map[string]string{"max_completion_tokens": "5", "ignore_eos": "True", "stream": "True", "stream_include_usage": "True"})
		r := h.request(h.t.Context(), "/v1/audio/transcriptions", "speech", body)
		r.Header.Set("Content-Type", kind)
		reply, err := h.client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer reply.Body.Close()
		var all bytes.Buffer
		all.ReadFrom(reply.Body)
		if reply.StatusCode != http.StatusOK || !strings.HasSuffix(all.String(), "data: [DONE]\n\n") {
			t.Fatalf("%d %s", reply.StatusCode, all.String())
		}
		for line := range strings.SplitSeq(all.String(), "\n") {
			data, ok := strings.CutPrefix(line, "data: ")
			if !ok || data == "[DONE]" {
				continue
			}
			c := read(h, data)
			last["speech"] = c
			for _, choice := range c.Choices {
				texts["speech"] += choice.Delta.Content
			}
			if c.Object != "transcription.chunk" {
				t.Errorf("object %q", c.Object)
			}
		}
	})
	for name, c := range last {
		if want := chatTemplateTokens + 1 + 2*25; c.Usage == nil || c.Usage.In != want || c.Usage.Out != 5 {
			t.Errorf("%s: usage %+v, want %d in", name, c.Usage, want)
		}
	}
	if texts["speech"] != texts["chat"] || texts["chat"] == "" {
		t.Errorf("texts %q", texts)
	}
}
