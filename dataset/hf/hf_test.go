package hf

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/servebench/servebench/dataset/jinja"
	"github.com/servebench/servebench/dataset/media"
)

// rowsOf makes a dataset of a file with these lines.
func rowsOf(t *testing.T, name string, lines ...string) HF {
	t.Helper()
	d := parse(t, nil, "tok-plain")
	d.Path, d.Name, d.Num = filepath.Join(t.TempDir(), "rows.jsonl"), name, 100
	d.NoOversample, d.DisableShuffle = true, true
	if err := os.WriteFile(d.Path, []byte(strings.Join(lines, "\n")), 0o666); err != nil {
		t.Fatal(err)
	}
	return d
}

func TestFaultsNameTheRow(t *testing.T) {
	for _, c := range []struct{ name, row, want string }{
		{"openai/gsm8k", `{"answer": "1"}`, "row 2: it has no question"},
		{"openai/gsm8k", `{"question": 1}`, "row 2: question is no text"},
		{"philschmid/mt-bench", `{"turns": []}`, "row 2: it has no turns[0]"},
		{"lmarena-ai/VisionArena-Chat", `{"conversation": [[{"role": "user"}]], "images": ["a"]}`, "row 2: it has no conversation[0][0].content"},
		{"Lin-Chen/MMStar", `{"question": "q", "image": 3}`, "row 2: image is no image: it must be bytes, a path, or an object with bytes or path"},
		{"Lin-Chen/MMStar", `{"question": "q", "image": {"bytes": null, "path": "no.png"}}`, "row 2: open no.png: no such file or directory"},
		{"yale-nlp/MMVU", `{"question": "q", "choices": {"A": "a"}, "video": null}`, "row 2: video is no text"},
		{"Aeala/ShareGPT_Vicuna_unfiltered", `{"conversations": "a"}`, "row 2: conversations is no list"},
		{"Aeala/ShareGPT_Vicuna_unfiltered", `{"conversations": [{"value": "a"}, {}]}`, "row 2: it has no conversations[1].value"},
	} {
		good := map[string]string{
			"openai/gsm8k": `{"question": "q"}`, "philschmid/mt-bench": `{"turns": ["q"]}`,
			"lmarena-ai/VisionArena-Chat":      `{"conversation": [[{"content": "q"}]], "images": ["http://a/b.png"]}`,
			"Lin-Chen/MMStar":                  `{"question": "q", "image": "http://a/b.png"}`,
			"yale-nlp/MMVU":                    `{"question": "q", "choices": {"A": "a"}, "video": "v.mp4"}`,
			"Aeala/ShareGPT_Vicuna_unfiltered": `{"conversations": []}`,
		}[c.name]
		d := rowsOf(t, c.name, good, c.row)
		_, _, err := d.Open()
		if err == nil || err.Error() != d.Path+": "+c.want {
			t.Errorf("%s with %s: %v, want …: %s", c.name, c.row, err, c.want)
		}
	}
}

func TestImageThatCannotBeDecodedIsNamedBeforeTheLoad(t *testing.T) {
	d := rowsOf(t, "Lin-Chen/MMStar")
	damaged := filepath.Join(filepath.Dir(d.Path), "damaged.png")
	if err := os.WriteFile(damaged, []byte("\x89PNG\r\n\x1a\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	row := fmt.Sprintf(`{"question": "q", "image": {"path": %q}}`, damaged)
	if err := os.WriteFile(d.Path, []byte(row), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, _, err := d.Open(); err == nil || !strings.HasPrefix(err.Error(), d.Path+": row 1: reading the image: ") {
		t.Errorf("%v", err)
	}
}

func TestImageThatNoJPEGFileHoldsIsNamedBeforeTheLoad(t *testing.T) {
	d := rowsOf(t, "Lin-Chen/MMStar")
	write := func(wide int) {
		name := filepath.Join(filepath.Dir(d.Path), fmt.Sprintf("%d.png", wide))
		if err := os.WriteFile(name, media.Pixels{Width: wide, Height: 1, RGB: make([]byte, 3*wide)}.PNG(), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(d.Path, fmt.Appendf(nil, `{"question": "q", "image": {"path": %q}}`, name), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write(media.MaxDimension)
	if _, _, err := d.Open(); err != nil {
		t.Error(err)
	}
	write(media.MaxDimension + 1)
	if _, _, err := d.Open(); err == nil || err.Error() != d.Path+": row 1: the image has 65501 by 1 pixels, and a JPEG file may be at most 65500 wide or high" {
		t.Errorf("%v", err)
	}
}

func TestVideosAreFromTheNetworkWithoutAFolder(t *testing.T) {
	const url = "https://huggingface.co/datasets/yale-nlp/MMVU/resolve/main/videos/Art/0.mp4"
	d := rowsOf(t, "yale-nlp/MMVU", `{"question": "q", "choices": {"A": "a"}, "video": "`+url+`"}`)
	source, _, err := d.Open()
	if err != nil {
		t.Fatal(err)
	}
	for c, err := range source {
		if want := `{"type": "video_url", "video_url": {"url": "` + url + `"}}`; err != nil || string(c.Turns[0].Payload.Media[0].Part) != want {
			t.Errorf("%+v, %v, want %s", c, err, want)
		}
	}
}

func TestImagesByURLGoAsURLs(t *testing.T) {
	d := rowsOf(t, "Lin-Chen/MMStar", `{"question": " q Options: A", "image": "https://a/b.png"}`, `{"question": "q2", "image": "/c d.png"}`)
	source, n, err := d.Open()
	if err != nil || n != 2 {
		t.Fatal(n, err)
	}
	want := []string{`{"type": "image_url", "image_url": {"url": "https://a/b.png"}}`, `{"type": "image_url", "image_url": {"url": "file:///c d.png"}}`}
	i := 0
	for c, err := range source {
		if err != nil {
			t.Fatal(err)
		}
		if got := string(c.Turns[0].Payload.Media[0].Part); got != want[i] {
			t.Errorf("%s, want %s", got, want[i])
		}
		i++
	}
}

func TestRowsThatDoNotFitAreLeftOut(t *testing.T) {
	long := strings.Repeat("luka ", 1100)
	pair := func(question, answer string) string {
		return fmt.Sprintf(`{"conversations": [{"value": %q}, {"value": %q}]}`, question, answer)
	}
	d := rowsOf(t, "Aeala/ShareGPT_Vicuna_unfiltered", `{"conversations": [{"value": "one"}]}`, pair("luka luka luka luka luka", "x"), pair(long, "luka luka luka luka"),
		pair("luka luka luka luka", "luka luka luka luka"), pair("luka luka luka luka luka", strings.Repeat(long, 2)))
	_, n, err := d.Open()
	if err != nil || n != 1 {
		t.Errorf("%d conversations, %v; want 1", n, err)
	}
	d.OutputLen = new(5)
	if _, n, err = d.Open(); err != nil || n != 4 {
		t.Errorf("%d conversations with an output length, %v; want 4", n, err)
	}
	none := rowsOf(t, "AI-MO/NuminaMath-CoT", `{"problem": "a", "solution": "b"}`)
	if _, _, err := none.Open(); err == nil || !strings.HasSuffix(err.Error(), ": none of its 1 rows fits: prompt and answer need 4 tokens, the prompt may have 2048, and both together 32000") {
		t.Errorf("%v", err)
	}
}

func TestArrowFilesOfTheLibrary(t *testing.T) {
	cached(t)
	d := parse(t, strings.Fields("--dataset-path AI-MO/NuminaMath-1.5 --num-prompts 5 --seed 1"), "tok-bos")
	other := parse(t, strings.Fields("--dataset-path AI-MO/aimo-validation-aime --num-prompts 5 --seed 1"), "tok-bos")
	var got, want []string
	for list, d := range map[*[]string]HF{&got: d, &want: other} {
		source, _, err := d.Open()
		if err != nil {
			t.Fatal(err)
		}
		for c := range source {
			*list = append(*list, fmt.Sprint(c.ID, c.Turns[0]))
		}
	}
	if len(got) != 5 || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestCallsWithoutATemplateCountTexts(t *testing.T) {
	t.Setenv("HF_HOME", t.TempDir())
	folder := t.TempDir()
	row := `{"question": [[{"role": "user", "content": "luka"}, {"role": "user", "content": "ro"}]], "function": {"name": "f", "parameters": {"type": "dict"}}}`
	if err := os.WriteFile(folder+"/BFCL_v3_own.json", []byte(row+"\n"+`{"question": [], "function": []}`), 0o666); err != nil {
		t.Fatal(err)
	}
	d := parse(t, strings.Fields("--num-prompts 3 --no-oversample --hf-name "+BFCL), "tok-plain")
	d.Path, d.Categories = folder, []string{"own"}
	d.ChatTemplate.Open = func() (*jinja.Template, error) { return nil, os.ErrNotExist }
	source, n, err := d.Open()
	if err != nil || n != 1 {
		t.Fatal(n, err)
	}
	for c := range source {
		turn := c.Turns[0]
		if want := d.Tokenizer.Count("luka\nro", true); turn.PromptLen != want || turn.OutputLen != 512 {
			t.Errorf("%d tokens in and %d out, want %d and 512", turn.PromptLen, turn.OutputLen, want)
		}
		const tools = `{"tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}], "tool_choice": "auto"}`
		if got := string(turn.Payload.Members); got != tools {
			t.Errorf("members %s, want %s", got, tools)
		}
	}
}
