//go:build oracle

package tokenizer

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// A vector is a line of what testdata/oracle.py writes.
type vector struct {
	MBs     float64
	Size    int
	Special int
	Text    string
	IDs     []int
	Full    []int
	Random  []int
	Decoded string
}

// TestOracleAgrees compares every family in $ORACLE with what Hugging Face's
// library says of it, and prints a table.
func TestOracleAgrees(t *testing.T) {
	root := os.Getenv("ORACLE")
	prose, err := os.ReadFile(filepath.Join(root, "prose.txt"))
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(root, "*", "vectors.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no vectors in %q: %v", root, err)
	}
	left, err := os.ReadFile(filepath.Join(root, "left-out.txt"))
	if err != nil {
		t.Fatal(err)
	}
	fmt.Printf("%s%-24s %7s %9s %10s %10s %8s\n", left, "family", "texts", "disagree", "ours MB/s", "theirs", "load s")
	for _, file := range files {
		began := time.Now()
		tok, err := Open(filepath.Join(filepath.Dir(file), tokenizerFile))
		if err != nil {
			t.Error(err)
			continue
		}
		loaded := time.Since(began)
		texts, wrong, theirs := compareFile(t, tok, file)
		began = time.Now()
		tok.Encode(string(prose), false)
		ours := float64(len(prose)) / 1e6 / time.Since(began).Seconds()
		family := filepath.Base(filepath.Dir(file))
		fmt.Printf("%-24s %7d %9d %10.1f %10.1f %8.2f\n", family, texts, wrong, ours, theirs, loaded.Seconds())
	}
}

func compareFile(t *testing.T, tok Tokenizer, file string) (texts, wrong int, theirs float64) {
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewReader(f)
	for dec := json.NewDecoder(lines); dec.More(); {
		var v vector
		if err := dec.Decode(&v); err != nil {
			t.Fatal(err)
		}
		if v.MBs > 0 {
			if theirs = v.MBs; tok.VocabSize() != v.Size || tok.NumSpecial() != v.Special {
				t.Errorf("%s: vocabulary %d, special %d, want %d, %d", file, tok.VocabSize(), tok.NumSpecial(), v.Size, v.Special)
			}
			continue
		}
		texts++
		if faults := v.faults(tok); len(faults) > 0 {
			if wrong++; wrong <= 5 {
				t.Errorf("%s: %s", filepath.Dir(file), strings.Join(faults, "\n"))
			}
		}
	}
	return texts, wrong, theirs
}

// faults says where tok differs from v.
func (v *vector) faults(tok Tokenizer) (faults []string) {
	if got := tok.Encode(v.Text, false); !slices.Equal(got, v.IDs) {
		faults = append(faults, fmt.Sprintf("Encode(%+q, false)\n got %v\nwant %v", v.Text, got, v.IDs))
	}
	if got := tok.Encode(v.Text, true); !slices.Equal(got, v.Full) {
		faults = append(faults, fmt.Sprintf("Encode(%+q, true)\n got %v\nwant %v", v.Text, got, v.Full))
	}
	if got := tok.Count(v.Text, true); got != len(v.Full) {
		faults = append(faults, fmt.Sprintf("Count(%+q, true) = %d, want %d", v.Text, got, len(v.Full)))
	}
	ids := v.Random
	if ids == nil {
		ids = v.Full
	}
	if got := tok.Decode(ids); got != v.Decoded {
		faults = append(faults, fmt.Sprintf("Decode(%v)\n got %+q\nwant %+q", ids, got, v.Decoded))
	}
	return faults
}

// A randomDocument is a line of what testdata/documents.py writes.
type randomDocument struct {
	Document json.RawMessage
	Refused  bool
	Texts    []struct {
		Text      string
		IDs, Full []int
	}
	Decoded []struct {
		IDs  []int
		Text string
	}
}

// TestOracleDocuments compares documents that have parts at random with what Hugging Face's library
// makes of them. What one refuses, the other may read, unless the library refuses it.
func TestOracleDocuments(t *testing.T) {
	f, err := os.Open(filepath.Join(os.Getenv("ORACLE"), "documents.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	read, texts := 0, 0
	refused := make(map[string]int) // by the reason, without what it quotes
	for dec := json.NewDecoder(bufio.NewReader(f)); dec.More(); {
		var d randomDocument
		if err := dec.Decode(&d); err != nil {
			t.Fatal(err)
		}
		tok, err := parse("t.json", d.Document, nil)
		switch {
		case err != nil:
			refused[regexp.MustCompile(`".*?"|[0-9]+`).ReplaceAllString(err.Error(), "…")]++
			continue
		case d.Refused:
			t.Errorf("the library refuses %s", d.Document)
			continue
		}
		read++
		texts += len(d.Texts)
		d.compare(t, tok)
	}
	fmt.Printf("%d random documents with %d texts; refused: %v\n", read, texts, refused)
}

func (d *randomDocument) compare(t *testing.T, tok *pipeline) {
	for _, row := range d.Texts {
		if got := tok.Encode(row.Text, false); !slices.Equal(got, row.IDs) {
			t.Errorf("%s\nEncode(%+q, false)\n got %v\nwant %v", d.Document, row.Text, got, row.IDs)
		}
		if got := tok.Encode(row.Text, true); !slices.Equal(got, row.Full) {
			t.Errorf("%s\nEncode(%+q, true)\n got %v\nwant %v", d.Document, row.Text, got, row.Full)
		}
	}
	for _, row := range d.Decoded {
		if got := tok.Decode(row.IDs); got != row.Text {
			t.Errorf("%s\nDecode(%v)\n got %+q\nwant %+q", d.Document, row.IDs, got, row.Text)
		}
	}
}
