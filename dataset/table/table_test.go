package table

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/servebench/servebench/metrics/pyjson"
)

// forms are the files with the rows of rows.jsonl.
var forms = []string{"groups.parquet", "index.parquet", "stream.arrow", "footer.arrow", "rows.json", "rows.jsonl"}

// expected are the lines of rows.jsonl.
func expected(t *testing.T) (lines []string) {
	t.Helper()
	text, err := os.ReadFile("testdata/rows.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for s := bufio.NewScanner(bytes.NewReader(text)); s.Scan(); {
		lines = append(lines, s.Text())
	}
	return lines
}

// spelled is a row as its line, with bytes in base64.
func spelled(value any) string { return string(pyjson.Append(nil, textual(value))) }

func textual(value any) any {
	switch v := value.(type) {
	case []byte:
		return pyjson.Object{{Key: "base64", Value: base64.StdEncoding.EncodeToString(v)}}
	case pyjson.Object:
		object := make(pyjson.Object, len(v))
		for i, m := range v {
			object[i] = pyjson.Member{Key: m.Key, Value: textual(m.Value)}
		}
		return object
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = textual(v[i])
		}
		return list
	}
	return value
}

func TestRowsAreThoseThatWereWritten(t *testing.T) {
	lines := expected(t)
	all := make([]int, len(lines))
	for i := range all {
		all[i] = i
	}
	for _, name := range forms {
		path := filepath.Join("testdata", name)
		twice, err := Open([]string{path, path})
		if err != nil {
			t.Fatal(err)
		}
		if want := []int{len(lines), len(lines)}; twice.Len() != 2*len(lines) || !slices.Equal(twice.Lens(), want) {
			t.Errorf("%s: %d rows in files of %v", name, twice.Len(), twice.Lens())
		}
		for _, at := range [][]int{all, {}, {59}, {119, 3, 60, 3, 59, 17, 16, 41, 100, 100, 0}} {
			rows, err := twice.Rows(at, nil)
			if err != nil {
				t.Fatal(err)
			}
			for i, row := range rows {
				if diff := cmp.Diff(lines[at[i]%60], spelled(row)); diff != "" {
					t.Errorf("%s: row %d: -want +got:\n%s", name, at[i], diff)
				}
			}
		}
	}
}

func TestOnlyNamedColumnsAreRead(t *testing.T) {
	for _, name := range forms[:4] {
		opened, err := Open([]string{filepath.Join("testdata", name)})
		if err != nil {
			t.Fatal(err)
		}
		rows, err := opened.Rows([]int{2}, []string{"choices", "none", "number"})
		if err != nil {
			t.Fatal(err)
		}
		if got := spelled(rows[0]); got != `{"number": 1, "choices": {"B": "b", "A": "2"}}` {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// write writes a file, and gives its path.
func write(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestCellsOfCSVAreTexts(t *testing.T) {
	for name, text := range map[string]string{
		"a.csv": "\ufeff\"name\",share\r\n\"a \"\"b\"\", c\nd\",0.5\n\n,x\n1,2",
		"a.tsv": "name\tshare\n\"a \"\"b\"\", c\nd\"\t0.5\n\tx\n1\t2\n",
	} {
		opened, err := Open([]string{write(t, name, text)})
		if err != nil {
			t.Fatal(err)
		}
		rows, err := opened.Rows([]int{1, 0, 2, 1}, nil)
		if err != nil {
			t.Fatal(err)
		}
		want := []string{`{"name": null, "share": "x"}`, `{"name": "a \"b\", c\nd", "share": "0.5"}`, `{"name": "1", "share": "2"}`, `{"name": null, "share": "x"}`}
		for i, row := range rows {
			if got := spelled(row); got != want[i] {
				t.Errorf("%s: row %d is %s, want %s", name, i, got, want[i])
			}
		}
	}
}

func TestLongLinesAndBlankOnesAreCounted(t *testing.T) {
	long := strings.Repeat("x", 3<<20)
	opened, err := Open([]string{write(t, "a.jsonl", "\n {\"a\": \""+long+"\"}\n  \n{\"a\": 2}")})
	if err != nil {
		t.Fatal(err)
	}
	rows, err := opened.Rows([]int{1, 0}, nil)
	if err != nil || len(rows) != 2 || spelled(rows[0]) != `{"a": 2}` || spelled(rows[1]) != `{"a": "`+long+`"}` {
		t.Errorf("%d rows, %v", len(rows), err)
	}
}

func TestColumnsOfOtherTypesAreSkipped(t *testing.T) {
	path := filepath.Join("testdata", "skipped.arrow")
	opened, err := Open([]string{path})
	if err != nil {
		t.Fatal(err)
	}
	rows, err := opened.Rows([]int{1, 0}, []string{"question", "bytes", "text", "list"})
	want := `{"bytes": {"base64": "eg=="}, "text": "y", "list": ["w"], "question": "b"}{"bytes": null, "text": "x", "list": ["v", "u"], "question": "a"}`
	if err != nil || spelled(rows[0])+spelled(rows[1]) != want {
		t.Errorf("rows %v, %v", rows, err)
	}
	for _, name := range []string{"decimal", "date", "time", "duration", "fixed", "map"} {
		_, err := opened.Rows([]int{0}, []string{name})
		if want := path + ": reading Arrow: row 1: column " + name + ": its type is not supported: write the file as Parquet"; err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

func TestFaultsNameTheFile(t *testing.T) {
	file := func(name string) string {
		text, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	const rows = 552 // where few.arrow has the number of its rows
	few := file("few.arrow")
	for _, c := range []struct{ name, text, want string }{
		{"a.jsonl", "{}\n\n{", ":3: "},
		{"a.jsonl", "{}\n[1]", ":2: it is not a JSON object"},
		{"a.jsonl", "", ": it has no rows"},
		{"a.json", "[{}, 3]", ":1: it is not a JSON object"},
		{"a.json", "[{}", ":1: unexpected EOF"},
		{"a.json", " ", ": the file is empty"},
		{"a.csv", "a,b\n1", ":2: it has 1 cells, and the first line has 2"},
		{"a.parquet", "PAR1PAR1", ": reading Parquet: "},
		{"a.arrow", "ARROW", ": reading Arrow: "},
		{"a.arrow", file("stream.arrow")[:2000], ": reading Arrow: "},
		{"a.parquet", file("panic.parquet"), ": reading Parquet: the file is damaged: "},
		{"a.arrow", few[:rows] + "\xff\xff\xff\x7f" + few[rows+4:], ": reading Arrow: a message has a wrong number of rows"},
		{"a.txt", "a", ": its name must end in .parquet, .arrow, .jsonl, .json, .csv or .tsv"},
	} {
		path := write(t, c.name, c.text)
		opened, err := Open([]string{path})
		if err == nil {
			_, err = opened.Rows([]int{opened.Len() - 1}, nil)
		}
		if err == nil || !strings.HasPrefix(err.Error(), path+c.want) {
			t.Errorf("%s with %.20q: %v, want %s%s…", c.name, c.text, err, path, c.want)
		}
	}
	if _, err := Open([]string{"none.csv"}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
}

// FuzzOpen reads damaged files: each gives rows or an error that names it.
func FuzzOpen(f *testing.F) {
	for _, name := range []string{"few.parquet", "few.arrow", "panic.parquet", "skipped.arrow"} {
		text, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(filepath.Ext(name), text)
	}
	f.Add(".json", []byte("[{\"a\": [1]}, {}]"))
	f.Add(".jsonl", []byte("{\"a\": [1]}\n\n{}"))
	f.Add(".csv", []byte("a,b\n\"1\n\",2\n"))
	f.Fuzz(func(t *testing.T, end string, text []byte) {
		if formats[end] == nil {
			return
		}
		path := write(t, "a"+end, string(text))
		opened, err := Open([]string{path})
		if err != nil {
			if !strings.HasPrefix(err.Error(), path+":") {
				t.Errorf("error %v", err)
			}
			return
		}
		at := []int{opened.Len() - 1, 0, opened.Len() / 2}
		rows, err := opened.Rows(at, nil)
		if err == nil && len(rows) != 3 || err != nil && !strings.HasPrefix(err.Error(), path+":") {
			t.Errorf("%d rows, error %v", len(rows), err)
		}
	})
}
