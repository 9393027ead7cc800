package hub

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// folder writes files with their texts, and gives the folder.
func folder(t testing.TB, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func empty(names ...string) map[string]string {
	files := map[string]string{}
	for _, name := range names {
		files[name] = ""
	}
	return files
}

func with(files map[string]string, name, text string) map[string]string {
	files[name] = text
	return files
}

// The library datasets 5.2.0 finds the same files.
func TestSplits(t *testing.T) {
	const card = `---
license: mit
configs:
- config_name: main
  data_files:
  - split: train
    path: main/train-*
  - split: test
    path: [main/test-*, "extra/**/*.jsonl"]
- config_name: other
  data_dir: other
- config_name: all
  default: true
  data_files: "**/*.json[l]"
---
text`
	carded := with(empty("main/train-0.jsonl", "main/test-0.jsonl", "extra/a/b/c.jsonl", "extra/d.jsonl", "other/valid.jsonl", "x.jsonl", "y.json"), "README.md", card)
	for _, c := range []struct {
		files         map[string]string
		subset, split string
		want          string // files with commas, or part of the error
	}{
		{empty("data/train-00000-of-00002.parquet", "data/train-00001-of-00002.parquet", "data/val-00000-of-00001.parquet", "test.parquet"), "", "train",
			"data/train-00000-of-00002.parquet,data/train-00001-of-00002.parquet"},
		{empty("data/train-00000-of-00002.parquet", "data/val-00000-of-00001.parquet"), "", "val", "data/val-00000-of-00001.parquet"},
		{empty("data/train-00000-of-00002.parquet"), "", "test", "Bad split: test. Available splits: ['train']"},
		{empty("train/a.csv", "dev/b.csv", "tests/c.csv"), "", "validation", "dev/b.csv"},
		{empty("train/a.csv", "my eval/b.csv"), "", "test", "my eval/b.csv"},
		{empty("my-train.json", "my_valid2.json", "latest.json"), "", "validation", "my_valid2.json"},
		{empty("my-train.json", "latest.json"), "", "train", "my-train.json"},
		{empty("a.jsonl", "b/c.jsonl", ".hidden/d.jsonl", "__x/e.jsonl", "README.md", "f.csv", "dataset_info.json"), "", "train", "a.jsonl,b/c.jsonl"},
		{empty("a.jsonl", "b.json"), "", "train", "a.jsonl,b.json"},
		{empty("a.txt"), "", "train", "there is no Parquet, Arrow, JSON or CSV file"},
		{empty("main/train.csv", "b/train.csv"), "main", "train", "main/train.csv"},
		{empty("a/train.csv"), "main", "train", "it has no subset main"},
		{carded, "main", "train", "main/train-0.jsonl"},
		{carded, "main", "test", "main/test-0.jsonl,extra/a/b/c.jsonl,extra/d.jsonl"},
		{carded, "other", "validation", "other/valid.jsonl"},
		{carded, "", "train", "extra/a/b/c.jsonl,extra/d.jsonl,main/test-0.jsonl,main/train-0.jsonl,other/valid.jsonl,x.jsonl"},
		{carded, "none", "test", "it has no subset none: give one of them as --hf-subset: main, other, all"},
		{with(empty("a.csv"), "README.md", "---\nconfigs: 3\n---\n"), "", "train", "README.md: yaml: "},
		{with(empty("a.csv"), "README.md", "---\nlicense: mit\n---\n"), "", "train", "a.csv"},
	} {
		root := folder(t, c.files)
		p, err := Open(root)
		if err != nil {
			t.Fatal(err)
		}
		files, err := p.Split(Subset{Name: c.subset}, c.split)
		for i := range files {
			files[i], _ = filepath.Rel(root, files[i])
			files[i] = filepath.ToSlash(files[i])
		}
		if got := strings.Join(files, ","); err == nil && got != c.want || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("split %s of %s in %v: %s, %v; want %s", c.split, c.subset, c.files, got, err, c.want)
		}
	}
}

func TestOptionalSubset(t *testing.T) {
	p, err := Open(folder(t, empty("test.csv")))
	if err != nil {
		t.Fatal(err)
	}
	if files, err := p.Split(Subset{Name: "main", Optional: true}, "test"); err != nil || len(files) != 1 {
		t.Errorf("%q, %v", files, err)
	}
}

// inCache makes a cache of Hugging Face with files in it.
func inCache(t *testing.T, files map[string]string) {
	t.Helper()
	for _, name := range []string{"HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_DATASETS_CACHE"} {
		t.Setenv(name, "") // restores it
		os.Unsetenv(name)
	}
	t.Setenv("HF_HOME", folder(t, files))
}

func TestMissingFilesHaveTheCommandThatFetchesThem(t *testing.T) {
	inCache(t, empty("hub/datasets--o--half/snapshots/1/README.md"))
	want := "o/r: it is not in the cache of Hugging Face (" + filepath.Join(os.Getenv("HF_HOME"), "hub", "datasets--o--r") +
		"), and nothing is downloaded: fetch it with hf download o/r --repo-type dataset"
	if _, err := Open("o/r"); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	if _, err := Open("a/b/c"); err == nil || !strings.Contains(err.Error(), "there is no such file or folder") {
		t.Errorf("%v", err)
	}
	half, err := Open("o/half")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := half.Split(Subset{}, "train"); err == nil || !strings.HasSuffix(err.Error(), "fetch them with hf download o/half --repo-type dataset") {
		t.Errorf("%v", err)
	}
	if _, err := half.File("x.json"); err == nil || !strings.HasSuffix(err.Error(), "fetch it with hf download o/half x.json --repo-type dataset") {
		t.Errorf("%v", err)
	}
	inCache(t, empty("hub/datasets--o--r/refs/main/x"))
	if _, err := Open("o/r"); err == nil || strings.Contains(err.Error(), "hf download") {
		t.Errorf("%v for a repository that cannot be read", err)
	}
	own, err := Open(half.Folder)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := own.File("x.json"); err == nil || err.Error() != half.Folder+": it has no file x.json: fetch it with hf download REPOSITORY x.json --repo-type dataset" {
		t.Errorf("%v", err)
	}
	if path, err := half.File("README.md"); err != nil || filepath.Base(path) != "README.md" {
		t.Errorf("%s, %v", path, err)
	}
}

func TestRevisionMainIsTaken(t *testing.T) {
	inCache(t, map[string]string{
		"hub/datasets--o--r/refs/main": "22\n", "hub/datasets--o--r/snapshots/11/train.csv": "", "hub/datasets--o--r/snapshots/22/train.csv": "",
	})
	p, err := Open("o/r")
	if err != nil || filepath.Base(p.Folder) != "22" {
		t.Errorf("%v, %v", p, err)
	}
}

// The library datasets replaces no variable in the path of its Arrow files.
func TestVariablesAreReplacedAsByThePrograms(t *testing.T) {
	inCache(t, nil)
	t.Setenv("DATA", folder(t, empty("hub/datasets--o--r/snapshots/1/a.csv", "datasets/o___other/a/0.0.0/1/other-train.arrow")))
	t.Setenv("HF_HOME", "${DATA}")
	if p, err := Open("o/r"); err != nil || filepath.Base(p.Folder) != "1" {
		t.Errorf("%v, %v", p, err)
	}
	if p, err := Open("o/other"); err == nil {
		t.Errorf("%v was found", p)
	}
}

func TestTheNewerNameOfTheCacheWins(t *testing.T) {
	inCache(t, nil)
	for name, file := range map[string]string{"HF_HUB_CACHE": "datasets--o--r/snapshots/1/a.csv", "HUGGINGFACE_HUB_CACHE": "datasets--o--r/snapshots/2/a.csv"} {
		t.Setenv(name, folder(t, empty(file)))
	}
	p, err := Open("o/r")
	if err != nil || filepath.Base(p.Folder) != "1" {
		t.Errorf("%v, %v", p, err)
	}
}

func TestArrowFilesOfTheLibraryAreTaken(t *testing.T) {
	inCache(t, empty("datasets/Lin-Chen___mm_star/val/0.0.0/1/mm_star-val.arrow", "datasets/o___r/a/0.0.0/1/r-train-00000-of-00002.arrow",
		"datasets/o___r/a/0.0.0/1/r-train-00001-of-00002.arrow", "datasets/o___two/a/0.0.0/1/two-train.arrow", "datasets/o___two/a/0.0.0/2/two-train.arrow"))
	for _, c := range []struct {
		repo, split string
		want        []string // names of files, or part of the error
	}{
		{"Lin-Chen/MMStar", "val", []string{"mm_star-val.arrow"}},
		{"o/r", "train", []string{"r-train-00000-of-00002.arrow", "r-train-00001-of-00002.arrow"}},
		{"o/r", "test", []string{"there is no split test"}},
		{"o/two", "train", []string{"several versions"}},
	} {
		p, err := Open(c.repo)
		if err != nil {
			t.Fatal(err)
		}
		files, err := p.Split(Subset{}, c.split)
		for i := range files {
			files[i] = filepath.Base(files[i])
		}
		if err == nil && !slices.Equal(files, c.want) || err != nil && !strings.Contains(err.Error(), c.want[0]) {
			t.Errorf("%s: %q, %v; want %q", c.repo, files, err, c.want)
		}
	}
}

func FuzzCard(f *testing.F) {
	f.Add("---\nconfigs:\n- config_name: a\n  data_files:\n  - split: test\n    path: main/test-*\n---\n", "main/test-*")
	f.Add("---\nconfigs:\n- config_name: a\n  data_files: [a, b]\n", "**/[!a].x?")
	f.Fuzz(func(t *testing.T, text, pattern string) {
		if c, err := parseCard(text); err == nil {
			for i := range c {
				if _, err := c.config(c[i].Name); err != nil && c[i].Name != "" {
					t.Errorf("subset %q: %v", c[i].Name, err)
				}
			}
		}
		matching([]string{"main/test-0.csv"}, pattern)
	})
}
