package save_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/servebench/servebench/report/save"
)

func TestOutputsDestroyNothingThatIsRead(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.Mkdir("runs", 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"q.jsonl", filepath.Join("runs", "a.jsonl"), filepath.Join("runs", "old.html")} {
		if err := os.WriteFile(name, []byte("{}"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile("kept.jsonl", []byte(`{"v":3,"k":"run","run":"a"}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Link("q.jsonl", "link.jsonl"); err != nil {
		t.Fatal(err)
	}
	const twice, read = " is there twice: give each output a separate file", " is read, and writing to it would destroy it: give another file"
	for _, row := range []struct {
		outputs, inputs []string
		want            string
	}{
		{nil, []string{"q.jsonl"}, ""},
		{[]string{"a", "b", "-"}, []string{"q.jsonl", "-"}, ""},
		{[]string{"q.jsonl"}, []string{""}, ""}, // an input that is not given
		{[]string{os.DevNull, os.DevNull}, []string{os.DevNull}, ""},
		{[]string{"runs/old.html"}, []string{"runs"}, ""},
		{[]string{"./q.jsonl"}, []string{"q.jsonl"}, "./q.jsonl" + read},
		{[]string{"link.jsonl"}, []string{"q.jsonl:2-5"}, "link.jsonl" + read},
		{[]string{"q.jsonl"}, []string{"q.jsonl:2"}, "q.jsonl" + read},
		{[]string{"runs/a.jsonl"}, []string{"runs"}, "runs/a.jsonl" + read},
		{[]string{"kept.jsonl"}, []string{"q.jsonl"}, "kept.jsonl is a record stream, and writing to it would destroy it: give another file"},
		{[]string{"new", "./new"}, nil, "./new" + twice},
		{[]string{"-", "a", "-"}, nil, "- is there twice, and standard output takes one of them: give the other one a file"},
	} {
		said := ""
		if err := save.Clash(row.outputs, row.inputs); err != nil {
			said = err.Error()
		}
		if said != row.want {
			t.Errorf("%q of %q: %q, want %q", row.outputs, row.inputs, said, row.want)
		}
	}
}
