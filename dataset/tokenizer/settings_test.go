package tokenizer

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// write writes files of a model into folder.
func write(t *testing.T, folder string, files map[string]string) {
	t.Helper()
	if err := os.MkdirAll(folder, 0o777); err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

func bytesJSON(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile("testdata/bytes.json")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// The ids are those of all_special_ids in transformers 5.
func TestSpecialTokensAreThoseOfTheConfig(t *testing.T) {
	for _, row := range []struct {
		name, config, tokens string
		want                 []int
	}{
		{"no config: what is flagged", "", "", []int{0, 1}},
		{"none", `{}`, "", nil},
		{"strings, objects, null", `{"bos_token":"<s>","eos_token":{"content":"word"},"pad_token":null}`, "", []int{0, 563}},
		{"a list and a map", `{"additional_special_tokens":["<both>",{"content":"</s>"}],"extra_special_tokens":{"x":"<s>"}}`, "", []int{0, 1, 562}},
		{"not in the vocabulary", `{"bos_token":"<s>","pad_token":"[PAD]"}`, "", []int{0}},
		{"the class's own", `{"tokenizer_class":"LlamaTokenizerFast"}`, "", []int{0, 1}},
		{"null overrules the class", `{"tokenizer_class":"LlamaTokenizer","eos_token":null}`, "", []int{0}},
		{"the map adds", `{"bos_token":"<s>"}`, `{"bos_token":"word","eos_token":"</s>","additional_special_tokens":["<both>"]}`, []int{0, 1, 562}},
		{"the map is not read", `{"bos_token":"<s>","added_tokens_decoder":{}}`, `{"eos_token":"</s>"}`, []int{0}},
	} {
		files := map[string]string{"tokenizer.json": bytesJSON(t)}
		if row.config != "" {
			files["tokenizer_config.json"] = row.config
		}
		if row.tokens != "" {
			files["special_tokens_map.json"] = row.tokens
		}
		folder := t.TempDir()
		write(t, folder, files)
		tok, err := Open(folder)
		if err != nil {
			t.Fatal(err)
		}
		if got := tok.SpecialIDs(); !slices.Equal(got, row.want) {
			t.Errorf("%s: %v, want %v", row.name, got, row.want)
		}
	}
}

func TestBytePairTextIsCleanedUpOnlyWhenForced(t *testing.T) {
	text := "a . b 's n't it ' s , x ?"
	for config, want := range map[string]string{
		`{"clean_up_tokenization_spaces":true}`: text,
		`{"clean_up_tokenization_spaces":true,"clean_up_tokenization_spaces_for_bpe_even_though_it_will_corrupt_output":true}`: "a. b'sn't it's, x?",
	} {
		folder := t.TempDir()
		write(t, folder, map[string]string{"tokenizer.json": bytesJSON(t), "tokenizer_config.json": config})
		tok, err := Open(folder)
		if err != nil {
			t.Fatal(err)
		}
		if got := tok.Decode(tok.Encode(text, false)); got != want {
			t.Errorf("%s: %q, want %q", config, got, want)
		}
	}
}

// inCache makes an empty cache of Hugging Face, and gives the folder of the model org/name there.
func inCache(t *testing.T) (model string) {
	t.Helper()
	home := t.TempDir()
	for _, name := range []string{"HF_HOME", "HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"} {
		t.Setenv(name, "") // restores it
		os.Unsetenv(name)
	}
	t.Setenv("DATA", home)
	t.Setenv("HF_HOME", "$DATA")
	return filepath.Join(home, "hub", "models--org--name")
}

func TestOpenFindsModelsInTheHuggingFaceCache(t *testing.T) {
	model := inCache(t)
	_, err := Open("org/name")
	if want := filepath.Join(model, "refs", "main"); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v does not say that it looked for %s", err, want)
	}
	if folder, err := Folder("org/name"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("org/name is in %s, %v", folder, err)
	}
	write(t, filepath.Join(model, "refs"), map[string]string{"main": "c0ffee"})
	snapshot := filepath.Join(model, "snapshots", "c0ffee")
	if _, err = Open("org/name"); err == nil || !strings.Contains(err.Error(), snapshot) {
		t.Errorf("%v does not say that it looked in %s", err, snapshot)
	}
	write(t, snapshot, map[string]string{"tokenizer_config.json": `{"eos_token":"</s>"}`})
	if _, err = Open("org/name"); err == nil || !strings.Contains(err.Error(), filepath.Join(snapshot, "tokenizer.json")) {
		t.Errorf("%v does not say which file it looked for", err)
	}
	if folder, err := Folder("org/name"); err != nil || folder != snapshot {
		t.Errorf("org/name is in %s, want %s (%v)", folder, snapshot, err)
	}
	write(t, snapshot, map[string]string{"tokenizer.json": bytesJSON(t)})
	tok, err := Open("org/name")
	if err != nil {
		t.Fatal(err)
	}
	if got := tok.SpecialIDs(); !slices.Equal(got, []int{1}) {
		t.Errorf("special ids %v, want the ids of tokenizer_config.json", got)
	}
	t.Setenv("HF_HUB_CACHE", "${DATA}/hub")
	t.Setenv("HF_HOME", "/no/such/folder")
	if _, err := Open("org/name"); err != nil {
		t.Error(err)
	}
}

// As for datasets: who fetched a revision by its commit has no main.
func TestOpenTakesTheOnlySnapshot(t *testing.T) {
	model := inCache(t)
	write(t, filepath.Join(model, "snapshots", "c0ffee"), map[string]string{"tokenizer.json": bytesJSON(t)})
	if _, err := Open("org/name"); err != nil {
		t.Error(err)
	}
	write(t, filepath.Join(model, "snapshots", "decaf"), map[string]string{"tokenizer.json": bytesJSON(t)})
	if _, err := Open("org/name"); err == nil {
		t.Error("one of two revisions was taken")
	}
}

func TestACacheThatCannotBeReadIsNotEmpty(t *testing.T) {
	write(t, filepath.Join(inCache(t), "refs", "main"), map[string]string{"a": "a folder, where a file is to be"})
	if _, err := Open("org/name"); err == nil || errors.Is(err, fs.ErrNotExist) || strings.Contains(err.Error(), "there is no file") {
		t.Errorf("%v", err)
	}
	if _, err := Folder("org/name"); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

func TestWhatIsNotThereIsSaid(t *testing.T) {
	folder := t.TempDir()
	write(t, folder, map[string]string{"vocab.txt": "[UNK]\n"})
	for name, want := range map[string]string{
		folder:                         "tokenizer.json: no such file or directory: no other form of a tokenizer is read, and transformers makes this one with save_pretrained",
		filepath.Join(folder, "other"): "there is no such file or folder",
		"~/model":                      "there is no such file or folder",
		"./model":                      "there is no such file or folder",
	} {
		if _, err := Open(name); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
}
