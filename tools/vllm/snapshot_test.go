//go:build vllm

package vllm_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// A snapshot is what a release of vLLM's client takes.
type snapshot struct {
	Release   string
	Arguments []struct {
		Name, Words, Type string
		Flags, Choices    []string
		Default           json.RawMessage
	}
}

// TestSnapshot holds the snapshot that servebench has of the client's flags against the installed
// client. Of another release it prints what is new.
func TestSnapshot(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(folder, "../../cmd/servebench/internal/upstream/vllm-0.33.0.json"))
	if err != nil {
		t.Fatal(err)
	}
	installed := command(t, filepath.Join(venv(), "bin", "python"), []string{filepath.Join(folder, "testdata", "snapshot.py")})
	ours, theirs := decodeLines[snapshot](t, text)[0], decodeLines[snapshot](t, installed)[0]
	news := whatIsNew(&ours, &theirs)
	for _, line := range news {
		fmt.Printf("vLLM %s: %s\n", theirs.Release, line)
	}
	if ours.Release == theirs.Release && (len(news) > 0 || string(text) != string(installed)) {
		t.Errorf("the snapshot of %s is not that of the installed client: write it with tools/vllm/testdata/snapshot.py", ours.Release)
	}
	fmt.Printf("vLLM %s has %d arguments; %d lines are new since %s\n", theirs.Release, len(theirs.Arguments), len(news), ours.Release)
}

// whatIsNew says in lines what a snapshot has that an older one has not, and the other way round.
func whatIsNew(old, new *snapshot) (lines []string) {
	describe := func(s *snapshot) (all []string) {
		for _, a := range s.Arguments {
			for _, flag := range a.Flags {
				all = append(all, fmt.Sprintf("flag %s, %q words of type %q, default %s", flag, a.Words, a.Type, a.Default))
				for _, choice := range a.Choices {
					all = append(all, fmt.Sprintf("choice %s %s", flag, choice))
				}
			}
		}
		return all
	}
	before, after := describe(old), describe(new)
	for _, line := range after {
		if !slices.Contains(before, line) {
			lines = append(lines, "new: "+line)
		}
	}
	for _, line := range before {
		if !slices.Contains(after, line) {
			lines = append(lines, "gone: "+line)
		}
	}
	return lines
}

func TestSnapshotsAreCompared(t *testing.T) {
	read := func(text string) *snapshot { return &decodeLines[snapshot](t, []byte(text))[0] }
	old := read(`{"release": "1", "arguments": [{"name": "a", "flags": ["--a"], "choices": ["x", "y"], "default": "x"}, {"name": "b", "flags": ["--b"], "words": "0", "default": false}]}`)
	new := read(`{"release": "2", "arguments": [{"name": "a", "flags": ["--a"], "choices": ["x", "z"], "default": "x"}, {"name": "c", "flags": ["--c"], "type": "int", "default": 3}]}`)
	want := []string{`new: choice --a z`, `new: flag --c, "" words of type "int", default 3`, `gone: choice --a y`, `gone: flag --b, "0" words of type "", default false`}
	if got := whatIsNew(old, new); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
