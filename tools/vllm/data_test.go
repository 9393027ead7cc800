//go:build vllm

package vllm_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// enterData makes a folder with the files of all datasets the working directory, as
// command lines name them and as files name others: repositories of Hugging Face's hub
// by their names, the inputs of the golden runs, and small files of other formats.
func enterData(t *testing.T) {
	t.Helper()
	golden, dir := filepath.Join(folder, "../../testdata/golden"), t.TempDir()
	command(t, filepath.Join(venv(), "bin", "python"), []string{filepath.Join(folder, "testdata", "rows.py"), golden, dir})
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(golden, "inputs"))); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"tok-plain", "tok-bos"} {
		if err := os.CopyFS(filepath.Join(dir, name), os.DirFS(filepath.Join(golden, name))); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("HF_HOME", filepath.Join(dir, "home"))
	t.Chdir(dir)

	var burst, spec, speed, trace, share strings.Builder
	burst.WriteString("Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n")
	var conversations []string
	for i := range 24 {
		fmt.Fprintf(&burst, "%d,%s,%d,%d,0,x\n", i, []string{"GPT-4", "ChatGPT"}[i%3/2], 5+i, 3+i%4)
		fmt.Fprintf(&spec, `{"question_id": %d, "category": %q, "turns": ["tiro luka %d", "second"]}`+"\n", i, []string{"writing", "math"}[i%2], i)
		fmt.Fprintf(&speed, `{"category": %q, "messages": [{"role": "user", "content": "bane groshi %d"}]}`+"\n", []string{"coding", "math"}[i%2], i)
		fmt.Fprintf(&trace, `{"timestamp": %d, "input_length": %d, "output_length": 4, "hash_ids": [%d, %d]}`+"\n", 20*i, 17+i%9, i%3, i)
		media := []string{"", `, "image": "http://h/` + fmt.Sprint(i) + `.png"`, `, "video": "http://h/v.mp4"`}[i%3]
		conversations = append(conversations, fmt.Sprintf(`{"conversations": [{"from": "human", "value": "tiro luka bane somi %d"}, {"from": "gpt", "value": "groshi purlen ro na deva"}]%s}`, i, media))
	}
	fmt.Fprintf(&share, "[%s]", strings.Join(conversations, ", "))
	for name, text := range map[string]string{
		"burst.csv": burst.String(), "spec.jsonl": spec.String(), "qualitative.jsonl": speed.String(), "trace.jsonl": trace.String(), "share.json": share.String(),
	} {
		writeFile(t, name, []byte(text))
	}
}
