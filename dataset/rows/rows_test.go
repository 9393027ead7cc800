package rows

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

type part struct {
	Of   string
	Text string
}

func key(l *Line[part]) (string, error) {
	if l.Value.Text == "bad" {
		return "", errors.New("a bad text")
	}
	return l.Value.Of, nil
}

func texts(t *testing.T, file string, g *Grouped[part]) (groups []string) {
	t.Helper()
	for i := range g.Len() {
		lines, err := g.Lines(strings.NewReader(file), i)
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		for _, l := range lines {
			text.WriteString(l.Value.Text)
		}
		groups = append(groups, text.String())
	}
	return groups
}

func TestLinesOfOneKeyNeedNotBeAdjacent(t *testing.T) {
	file := "\n{\"of\":\"a\",\"text\":\"1\"}\r\n" + `
{"of":"b","text":"2"}
 {"of":"b","text":"3"}

{"of":"b","text":"4"}
{"of":"a","text":"5"}
{"text":"6"}
{"text":"7"}
{"of":"b","text":"8"}`
	g, err := Group("f.jsonl", strings.NewReader(file), key, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := texts(t, file, g), []string{"15", "2348", "6", "7"}; !slices.Equal(got, want) {
		t.Errorf("groups %q, want %q", got, want)
	}
	lines, _ := g.Lines(strings.NewReader(file), 1)
	if err := g.Fault(strings.NewReader(file), lines[3], errors.New("wrong")); err.Error() != "f.jsonl:11: wrong" {
		t.Errorf("error %v", err)
	}
}

func TestManyRunsAreOneListForEachKey(t *testing.T) {
	var file strings.Builder
	for i := range 3*chunkRuns + 5 {
		fmt.Fprintf(&file, `{"of":"%d","text":"%d."}`+"\n", i%3, i)
	}
	g, err := Group("f.jsonl", strings.NewReader(file.String()), key, nil)
	if err != nil {
		t.Fatal(err)
	}
	for k, got := range texts(t, file.String(), g) {
		var want strings.Builder
		for i := k; i < 3*chunkRuns+5; i += 3 {
			fmt.Fprintf(&want, "%d.", i)
		}
		if got != want.String() {
			t.Errorf("group %d is wrong", k)
		}
	}
}

func TestFaultOfAGroupedFileNamesTheLine(t *testing.T) {
	for text, want := range map[string]string{
		"{}\n\n{":                "f.jsonl:3: unexpected end of JSON input",
		"{}\n{\"text\":\"bad\"}": "f.jsonl:2: a bad text",
		"{\"of\":1}":             "f.jsonl:1: Of: unexpected JSON number",
	} {
		if _, err := Group("f.jsonl", strings.NewReader(text), key, nil); err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

func TestElementIsReadAgainAtItsPlace(t *testing.T) {
	file := strings.NewReader(" [ 1,\n\n 2 ,[3] ]")
	var after []int64
	for e, err := range Elements[json.RawMessage](Array{"f.json", file}) {
		if err != nil {
			t.Fatal(err)
		}
		after = append(after, e.After)
	}
	for i, want := range []string{"1", "2", "[3]"} {
		if got, err := At[json.RawMessage](file, after[i]); err != nil || string(got) != want {
			t.Errorf("element %d is %s, %v; want %s", i, got, err, want)
		}
	}
}

func FuzzGroup(f *testing.F) {
	f.Add("{}\n{\"of\":\"a\",\"text\":\"x\"}\n{}\n{\"of\":\"a\"}")
	f.Fuzz(func(t *testing.T, text string) {
		want := map[string]string{}
		alone := 0
		for line, err := range Lines[part]("f", strings.NewReader(text)) {
			if _, wrong := key(&line); err != nil || wrong != nil {
				if _, err := Group("f", strings.NewReader(text), key, nil); err == nil || !strings.HasPrefix(err.Error(), "f:") {
					t.Errorf("error %v", err)
				}
				return
			}
			k := line.Value.Of
			if k == "" {
				k = fmt.Sprint("\x00", alone)
				alone++
			}
			want[k] += line.Value.Text
		}
		g, err := Group("f", strings.NewReader(text), key, nil)
		if err != nil {
			t.Fatal(err)
		}
		got := texts(t, text, g)
		slices.Sort(got)
		if sorted := slices.Sorted(maps.Values(want)); !slices.Equal(got, sorted) {
			t.Errorf("groups %q, want %q", got, sorted)
		}
	})
}
