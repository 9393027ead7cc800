package hf

import (
	"flag"
	"os"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the table of docs/prompts.md")

// The table of repositories in the docs is the code's.
func TestTheDocsHaveTheRepositories(t *testing.T) {
	const file = "../../docs/prompts.md"
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	const head = "| repository | sends | output tokens | needs |\n|---|---|---|---|\n"
	before, rest, ok := strings.Cut(string(data), head)
	if !ok {
		t.Fatalf("%s has no table of repositories", file)
	}
	for strings.HasPrefix(rest, "|") {
		_, rest, _ = strings.Cut(rest, "\n")
	}
	want := before + head
	for _, c := range classes {
		want += c.row()
	}
	want += rest
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o666); err != nil {
			t.Fatal(err)
		}
	} else if string(data) != want {
		t.Errorf("%s differs from the code: go test ./dataset/hf -update", file)
	}
}

// row is the line of the table for the repositories of a class.
func (c *class) row() string {
	sends, tokens, needs := "text", "as recorded", ""
	switch {
	case c == mmvu:
		sends, needs = "text, video by its URL", "media"
	case c == asr:
		sends, needs = "audio", "media"
	case c.medium != nil:
		sends, needs = "text, image", "media"
	case c == bfcl:
		sends, needs = "text, tools", "`openai-chat`, `anthropic`"
	}
	if c.outputLen > 0 {
		tokens = strconv.Itoa(c.outputLen)
	}
	if c.split == "" && c != bfcl {
		needs = strings.TrimPrefix(needs+", `--hf-split`", ", ")
	}
	return "| `" + strings.Join(c.repositories, "`, `") + "` | " + sends + " | " + tokens + " | " + needs + " |\n"
}
