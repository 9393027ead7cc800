package loadgen

import (
	"testing"
)

// Transcriptions send no prompt. vLLM's client counts it with its chat template, whatever
// --skip-chat-template says.
func TestTranscriptionsCountTheTemplate(t *testing.T) {
	t.Chdir("../testdata/golden/inputs")
	for _, skip := range []bool{false, true} {
		p := &Plan{
			Server:   Server{Backend: "openai-audio", Endpoint: "/v1/audio/transcriptions", Tokenizer: "../tok-bos"},
			Workload: Workload{Dataset: "custom_audio", Path: "audio.jsonl", SkipTemplate: skip, NumPrompts: 2},
		}
		p.Workload.Settings.CustomAudio.OutputLen = 5
		sum := 0
		for _, c := range opened(t, p) {
			sum += c.Turns[0].PromptLen
		}
		if sum != 20 {
			t.Errorf("%d tokens, want vLLM's 20", sum)
		}
	}
}
