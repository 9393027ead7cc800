package rows

import (
	"io"
	"strings"
	"testing"
)

// A zeros never ends.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// letters never end, and are no end of a string.
type letters struct{}

func (letters) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'a'
	}
	return len(p), nil
}

// An endless is a file with a beginning whose rest never ends.
type endless struct {
	head string
	at   int64
}

func (e *endless) Read(p []byte) (int, error) {
	if e.at < int64(len(e.head)) {
		n := copy(p, e.head[e.at:])
		e.at += int64(n)
		return n, nil
	}
	return letters{}.Read(p)
}

func (e *endless) Seek(offset int64, whence int) (int64, error) {
	if whence != io.SeekStart {
		return 0, io.ErrNoProgress
	}
	e.at = offset
	return offset, nil
}

func TestALineWithoutEndIsAnError(t *testing.T) {
	var said error
	for _, err := range Lines[map[string]any]("long.jsonl", io.MultiReader(strings.NewReader("{}\n\n"), zeros{})) {
		said = err
	}
	if said == nil || said.Error() != "long.jsonl:3: the line is longer than 64 MiB" {
		t.Error(said)
	}
}

func TestAnElementWithoutEndIsAnError(t *testing.T) {
	var said error
	for _, err := range Elements[map[string]any](Array{Name: "long.json", File: &endless{head: "[{},\n{},\n{\"a\": \""}}) {
		said = err
	}
	if said == nil || said.Error() != "long.json:3: a record is longer than 64 MiB" {
		t.Error(said)
	}
}

// The limit is on each element, not on all of them.
func TestManyLargeElementsAreRead(t *testing.T) {
	large := `"` + strings.Repeat("a", 33<<20) + `"`
	n := 0
	for _, err := range Elements[string](Array{Name: "large.json", File: strings.NewReader("[" + large + "," + large + "]")}) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	if n != 2 {
		t.Error(n)
	}
}
