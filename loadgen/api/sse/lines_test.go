package sse

import (
	"bytes"
	"io"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

// linesOf are the events of lines of JSON, and what ended them.
func linesOf(r io.Reader) (all []got, err error) {
	var lines Reader
	lines.Reset(&ticker{r: r}, new(Buffers), Rules{Lines: true})
	for {
		e, err := lines.Next()
		if err != nil {
			return all, err
		}
		all = append(all, got{string(e.Name), string(e.Data), e.Whole})
	}
}

func TestALineIsAnEvent(t *testing.T) {
	for stream, want := range map[string][]got{
		"{\"a\":1}\n{\"b\":2}\r\n\n{\"c\":3}": {{"", `{"a":1}`, true}, {"", `{"b":2}`, true}, {"", `{"c":3}`, false}},
		"data: a\n: b\nevent: c\n":            {{"", "data: a", true}, {"", ": b", true}, {"", "event: c", true}},
		"\ufeff{}\n":                          {{"", "{}", true}},
		"\n\r\n":                              nil,
	} {
		for how, r := range map[string]io.Reader{"whole": bytes.NewReader([]byte(stream)), "byte a read": iotest.OneByteReader(bytes.NewReader([]byte(stream)))} {
			if lines, err := linesOf(r); err != io.EOF || !cmp.Equal(want, lines) {
				t.Errorf("%q, %s: %v, %v", stream, how, lines, err)
			}
		}
	}
}

func FuzzLinesDoNotDependOnReads(f *testing.F) {
	f.Add([]byte("{\"a\":1}\r\n{}\n\nx"), []byte{0, 1, 2})
	f.Add(bytes.Repeat([]byte("0123456789\n"), 900), []byte{255, 255})
	f.Fuzz(func(t *testing.T, stream, sizes []byte) {
		whole, _ := linesOf(bytes.NewReader(stream))
		lines, err := linesOf(&pieceReader{stream, sizes})
		if err != io.EOF {
			t.Fatal(err)
		}
		if diff := cmp.Diff(whole, lines); diff != "" {
			t.Errorf("lines (-whole +got):\n%s", diff)
		}
	})
}
