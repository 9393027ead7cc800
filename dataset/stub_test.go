package dataset

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/servebench/servebench/dataset/tokenizer"
)

// lossyStub is the golden file's tokenizer whose texts do not have the tokens
// that they were made of: ids divisible by 7 become two tokens, and of the others
// those divisible by 11 are dropped from the text.
type lossyStub struct{ tokenizer.Stub }

func (l lossyStub) Encode(text string, special bool) []int {
	var ids []int
	for _, id := range l.Stub.Encode(text, special) {
		if ids = append(ids, id); id%7 == 0 {
			ids = append(ids, (id+1)%l.Size)
		}
	}
	return ids
}

func (l lossyStub) Count(text string, special bool) int { return len(l.Encode(text, special)) }

func (l lossyStub) Decode(ids []int) string {
	kept := slices.DeleteFunc(slices.Clone(ids), func(id int) bool { return id%11 == 0 && id%7 != 0 })
	return l.Stub.Decode(kept)
}

// stubNamed is the tokenizer of a golden file: stub-N, with -sK for K special
// tokens around a sequence, -xK for K special ids, and -lossy.
func stubNamed(t *testing.T, name string) tokenizer.Tokenizer {
	t.Helper()
	var stub tokenizer.Stub
	lossy := false
	for _, part := range strings.Split(name, "-")[1:] {
		var n int
		switch {
		case part == "lossy":
			lossy = true
		case match(part, "s%d", &n):
			stub.BOS = make([]int, n)
		case match(part, "x%d", &n):
			for id := range n {
				stub.Special = append(stub.Special, id)
			}
		case !match(part, "%d", &stub.Size):
			t.Fatalf("tokenizer %s: unknown part %s", name, part)
		}
	}
	if lossy {
		return lossyStub{stub}
	}
	return stub
}

func match(s, format string, n *int) bool {
	read, err := fmt.Sscanf(s, format, n)
	return read == 1 && err == nil
}

func decode(t *testing.T, data []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatal(err)
	}
}

// turns gives the only turn of each conversation, and adds their ids to ids.
func turns(t *testing.T, source Source, ids *[]string) []Turn {
	t.Helper()
	var list []Turn
	for c, err := range source {
		if err != nil {
			t.Fatal(err)
		}
		if len(c.Turns) != 1 {
			t.Fatalf("conversation %s has %d turns, want 1", c.ID, len(c.Turns))
		}
		list = append(list, c.Turns[0])
		if ids != nil {
			*ids = append(*ids, c.ID)
		}
	}
	return list
}
