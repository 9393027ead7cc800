package kinds

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/replay"
	"github.com/servebench/servebench/dataset/sessions"
)

func TestFilesAreTakenForWhatTheyAre(t *testing.T) {
	for _, row := range []struct{ file, dataset, why string }{
		{"../sessions/testdata/vllm-multi-turn.json", "conversations", `the first element has "id" and "messages"`},
		{"../sessions/testdata/sharegpt-conversations.json", "sharegpt", `the first element has "conversations". With --multi-turn all turns are sent, without it the first questions`},
		{"../sessions/testdata/aiperf-multi-turn.jsonl", "multi_turn", `the first object has "turns"`},
		{"../sessions/testdata/mooncake-oneshot.jsonl", "mooncake", `the first object has "hash_ids" and "input_length". timed_trace reads such a file, too, as vLLM does: without sessions, and with prompts cut to their hash ids`},
		{"../sessions/testdata/mooncake-sessions-tricky.jsonl", "mooncake", `the first object has "hash_ids", "input_length" and "session_id"`},
		{"../sessions/testdata/mooncake-delta.jsonl", "mooncake", `the first object has "messages". speed_bench has such lines, too, but is a folder`},
		{"../sessions/testdata/weka-tricky.json", "weka", `the first object has "id" and "requests"`},
		{"../sessions/testdata/azure-2023.csv", "azure", "it has the columns \"TIMESTAMP\", \"ContextTokens\" and \"GeneratedTokens\""},
		{"../sessions/testdata/otel-agents.jsonl", "otel", `the first object has "resourceSpans"`},
		{"../sessions/testdata/azure-2024.csv", "azure", "it has the columns \"TIMESTAMP\", \"ContextTokens\" and \"GeneratedTokens\""},
	} {
		g, err := Detect(row.file)
		if err != nil || g != (Guess{row.dataset, row.why}) {
			t.Errorf("%s: %+v, %v", row.file, g, err)
		}
	}
	for _, row := range []struct{ text, dataset, why string }{
		{"\ufeff\n{\"prompt\": \"x\", \"output_tokens\": 3}", "custom", `the first object has "prompt"`},
		{`{"id":"a","prompt":"x","prompt_len":1,"output_len":1,"due":0.5}`, "file", `the first object has "output_len" and "prompt_len"`},
		{`{"prompt":"x","output_len":1}`, "file", `the first object has "output_len" and "prompt". custom reads such a file, too, but not its "output_len"`},
		{`{"session":"a","turn":1,"prompt":"x"}`, "file", `the first object has "session" and "turn"`},
		{`{"v":3,"k":"run","run":"r"}`, "file", `the first object has "v", "k" and "run". It is the record stream of a run`},
		{`{"category":"math","turns":["x"]}`, "spec_bench", `the first object has "category" and "turns"`},
		{"Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n", "burstgpt", `it has the columns "Model", "Request tokens" and "Response tokens"`},
	} {
		g, err := Detect(saved(t, "f", row.text))
		if err != nil || g != (Guess{row.dataset, row.why}) {
			t.Errorf("%s: %+v, %v", row.text, g, err)
		}
	}
}

func TestUnknownFilesAreNotGuessed(t *testing.T) {
	for text, want := range map[string]string{
		"":             "the file is empty",
		"\x1f\x8b\x08": "the file is compressed: give it without compression",
		"[]":           "the list is empty, or it is cut",
		"[1]":          "the first element is not a JSON object: say what the file is with --dataset-name",
		"{":            "the first object is not a JSON object: say what the file is with --dataset-name",
		`{"a":1}`:      "the first object has fields of no known format: say what the file is with --dataset-name",
		`{"session_id":"a","turns":[ {"messages":[]}]}`: `the first object has "session_id" and "turns": these are AIPerf's DAG files, which are not read yet`,
		`{"filetype":"generate_conversations"}`:         `the first object has "filetype": these are recipes of vLLM's benchmarks/multi_turn, which are not read yet`,
		`{"spans":[]}`:                                  `the first object has "spans": these are spans of OpenTelemetry, but not in the form of OTLP, which are not read yet`,
		`{"chat_id":1,"parent_chat_id":-1}`:             `the first object has "chat_id" and "parent_chat_id": these are Bailian's traces, which are not read yet`,
		"Shall I compare thee":                          "neither JSON nor a table whose columns are known: say what the file is with --dataset-name, such as sonnet for lines of text",
	} {
		path := saved(t, "f", text)
		if _, err := Detect(path); err == nil || err.Error() != path+": "+want {
			t.Errorf("%s: error %v", text, err)
		}
	}
}

// What WriteLine writes is taken for a file of its lines.
func TestWrittenSessionsAreDetected(t *testing.T) {
	source, _, err := sessions.Conversations{Options: dataset.Options{Path: "../sessions/testdata/vllm-multi-turn.json", Num: 1}}.Open()
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for c, err := range source {
		if err != nil {
			t.Fatal(err)
		}
		if err := replay.WriteLine(&text, c, 0); err != nil {
			t.Fatal(err)
		}
	}
	if g, err := Detect(saved(t, "f", text.String())); err != nil || g.Dataset != "file" {
		t.Errorf("%+v, %v", g, err)
	}
}

// saved is the path of a file with a text.
func saved(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func FuzzDetect(f *testing.F) {
	f.Add(`[{"id":"a","messages":[]}]`)
	f.Add("TIMESTAMP,ContextTokens,GeneratedTokens\n")
	f.Fuzz(func(t *testing.T, text string) {
		if g, err := detect(strings.NewReader(text)); (err == nil) != (g.Dataset != "" && g.Why != "") {
			t.Errorf("%+v, %v", g, err)
		}
	})
}
