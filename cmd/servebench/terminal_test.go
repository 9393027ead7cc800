package main

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/servebench/servebench/report/screen"
)

// writerFunc is a writer that is a function.
type writerFunc func(text []byte) (int, error)

func (f writerFunc) Write(text []byte) (int, error) { return f(text) }

// Whatever becomes of the terminal, what was measured is in its files.
func TestFilesAreWrittenBeforeAnythingIsPrintedAboutThem(t *testing.T) {
	file := filepath.Join(t.TempDir(), "r.json")
	url := watchedSim(t, func(*http.Request) {})
	o := mustParse(t, "--num-prompts 1 --random-input-len 4 --random-output-len 2 --save-result --result-filename r.json --result-dir", filepath.Dir(file), "--base-url", url)
	blocks := 0
	out := writerFunc(func(text []byte) (int, error) {
		if bytes.Contains(text, []byte("Serving Benchmark Result")) {
			blocks++
			if _, err := os.Stat(file); err != nil {
				t.Errorf("when the block is printed: %v", err)
			}
		}
		return len(text), nil
	})
	if err := newExperiment(o, out, io.Discard).run(t.Context()); err != nil || blocks != 1 {
		t.Errorf("%d blocks, %v", blocks, err)
	}
}

// The command after More: is one that a shell takes.
func TestMoreHasACommandForAShell(t *testing.T) {
	o := mustParse(t, "--base-url http://127.0.0.1:1")
	o.Results.Stream = "my  run of monday.jsonl"
	var talk bytes.Buffer
	if err := tellRest(&talk, screen.Screen{Width: 60}, o.rest()); err != nil {
		t.Fatal(err)
	}
	want := "More: for blocks, reasons and additional metrics of each\n      target run servebench report --extended\n      'my  run of monday.jsonl'\n"
	if talk.String() != want {
		t.Errorf("got %q\nwant %q", talk.String(), want)
	}
}

// A recording may hold anything. What is shown of it must not command the terminal.
func TestARecordingCannotCommandTheTerminal(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.jsonl")
	url := watchedSim(t, func(*http.Request) {})
	o := mustParse(t, "--num-prompts 1 --random-input-len 4 --random-output-len 2 -o", file, "--metadata", "label=\x1b[31mRED\x1b]0;title\a", "--base-url", url)
	if err := newExperiment(o, io.Discard, io.Discard).run(t.Context()); err != nil {
		t.Fatal(err)
	}
	out, talk, err := reportOf("", file, file)
	if err != nil || strings.ContainsAny(out+talk, "\x1b\a") || strings.Count(out, ", label �[31mRED�]0;title�)\n") != 2 || !strings.Contains(talk, "Note:") {
		t.Errorf("%v\n%q\n%q", err, out, talk)
	}
}
