package stream

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/servebench/servebench/metrics"
)

// files are texts as files one after the other, each read through.
func files(read func(io.Reader) io.Reader, texts ...string) *Files {
	f := &Files{}
	for i, text := range texts {
		f.names = append(f.names, fmt.Sprint("f", i))
		f.files = append(f.files, plain(read(strings.NewReader(text))))
	}
	return f
}

func TestFilesNameTheirLines(t *testing.T) {
	texts := []string{"a\nb", "", "c\n", "d\ne\n"}
	// An empty file has an empty line, as has the end of one whose last line ends.
	want := []string{"f0:1 a", "f0:2 b", "f1:1 ", "f2:1 c", "f2:2 ", "f3:1 d", "f3:2 e"}
	for name, read := range map[string]func(io.Reader) io.Reader{
		"whole":             func(r io.Reader) io.Reader { return r },
		"byte by byte":      iotest.OneByteReader,
		"end with the data": iotest.DataErrReader,
		"both":              func(r io.Reader) io.Reader { return iotest.DataErrReader(iotest.OneByteReader(r)) },
	} {
		f := files(read, texts...)
		text, err := io.ReadAll(f)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var got []string
		for i, line := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n") {
			got = append(got, f.place(i+1)+" "+line)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestFilesEndAtAnError(t *testing.T) {
	broken := func(r io.Reader) io.Reader { return io.MultiReader(r, iotest.ErrReader(iotest.ErrTimeout)) }
	f := files(broken, "a\n", "b\n")
	if _, err := io.ReadAll(f); err == nil || err.Error() != "timeout" {
		t.Errorf("error %v, want that of the reader", err)
	}
}

func TestDamagedLinesAreNamedByFileAndLine(t *testing.T) {
	lines := recorded(t, 4)
	dir := t.TempDir()
	write := func(name string, lines ...[]byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, slices.Concat(lines...), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	torn := []byte(`{"v":3,"k":"req"` + "\n")
	first := write("first.jsonl", []byte("srun: a banner\n"), lines[0], lines[1], torn, lines[2][:20])
	second := write("second.jsonl", slices.Repeat([][]byte{torn}, 9)...)
	third := write("third.jsonl", lines[2:]...)
	f, err := OpenFiles(first, second, third)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	sums, err := Read(f, metrics.Ask{})
	if err != nil || len(sums) != 1 || sums[0].Completed != 4 {
		t.Fatalf("%d runs, %v", len(sums), err)
	}
	want := fmt.Sprintf("left out 11 torn or damaged lines of the stream: %s:4, %[1]s:5, %s:1, %[2]s:2, %[2]s:3, and 6 more", first, second)
	if !slices.Contains(sums[0].Ending.Warnings, want) {
		t.Errorf("warnings %q, want %q", sums[0].Ending.Warnings, want)
	}
	_, err = Read(newFile("<stdin>", strings.NewReader("a banner\n"+string(torn))), metrics.Ask{})
	if want := "no run in it: there is only 1 torn or damaged line of the stream: <stdin>:2"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

// A message in pieces is named by its first line.
func TestMessagesWithoutTheirEndAreNamedByTheirFirstLine(t *testing.T) {
	const text = `{"v":3,"k":"run","run":"r","config":{"request_rate":"inf","burstiness":1}}
{"v":3,"k":"req","run":"r","s":0,"m":1,"p":0,"of":3,"json":"{"}
{"v":3,"k":"more","run":"r","s":0,"m":1,"p":1,"of":3,"json":"{"}
`
	sums, err := Read(newFile("r.jsonl", strings.NewReader(text)), metrics.Ask{})
	if err != nil || len(sums) != 1 {
		t.Fatalf("%d runs, %v", len(sums), err)
	}
	if want := "left out 1 torn or damaged line of the stream: r.jsonl:2"; !slices.Contains(sums[0].Ending.Warnings, want) {
		t.Errorf("warnings %q, want %q", sums[0].Ending.Warnings, want)
	}
}

func TestOpenFilesNamesTheMissingOne(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing.jsonl")
	if _, err := OpenFiles(os.DevNull, missing); err == nil || !strings.Contains(err.Error(), missing) {
		t.Errorf("error %v", err)
	}
}
