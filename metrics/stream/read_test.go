package stream

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/servebench/servebench/metrics"
)

func TestReadTellsWhatItReads(t *testing.T) {
	const run = `{"v":3,"k":"run","run":"r","config":{"request_rate":"inf","burstiness":1}}` + "\n"
	for name, text := range map[string]string{
		"stream":                   run,
		"stream after other lines": "srun: hello\n" + run,
		"stream far down":          strings.Repeat("=== Serving Benchmark Result ===\nSuccessful requests: 9\n", 5000) + run,
		"block far down":           strings.Repeat("prose\n", 20_000) + "Successful requests: 0\n",
		"result":                   ` {"duration": 1.0, "completed": 0, "total_input_tokens": 0}`,
		"block":                    "prose\n=== Serving Benchmark Result ===\nSuccessful requests: 0\n",
	} {
		sums, err := Read(strings.NewReader(text), metrics.Ask{})
		if err != nil || len(sums) != 1 || sums[0].Completed != 0 {
			t.Errorf("%s: %d runs, %v", name, len(sums), err)
		}
	}
	for name, text := range map[string]string{
		"nothing": "", "prose": "Successful: 5\n", "another object": `{"a": 1}`, "unknown kinds only": `{"v":3,"k":"weather","run":"r"}`,
	} {
		if _, err := Read(strings.NewReader(text), metrics.Ask{}); !errors.Is(err, ErrNothing) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestATornStreamIsNotTakenForNothing(t *testing.T) {
	_, err := Read(strings.NewReader(`{"v":3,"k":"run","run":"r","con`), metrics.Ask{})
	const want = "no run in it: there is only 1 torn or damaged line of the stream: line 1"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestNothingSaysWhatIsRead(t *testing.T) {
	for text, want := range map[string]string{
		"hello\n": "no run in it: it is no record stream (servebench run -o FILE), no result file of vLLM (--save-result) and no text with a result block",
		"{}":      "no run in it: it is no record stream (servebench run -o FILE), no result file of vLLM (--save-result) and no text with a result block",
		"\n":      "it is empty",
		"":        "it is empty",
	} {
		if _, err := Read(strings.NewReader(text), metrics.Ask{}); err == nil || err.Error() != want || !errors.Is(err, ErrNothing) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// An endless is a line without an end, of a given length.
type endless struct{ left int }

func (e *endless) Read(p []byte) (int, error) {
	if e.left == 0 {
		return 0, io.EOF
	}
	n := min(len(p), e.left)
	e.left -= n
	for i := range n {
		p[i] = 'x'
	}
	return n, nil
}

func TestALongForeignLineIsNotKept(t *testing.T) {
	stream := NewReader(&endless{left: 3 * maxTextLine})
	var kept int
	stream.foreign = func(line string) { kept = len(line) }
	for e, err := range stream.Entries() {
		t.Errorf("%v, %v", e, err)
	}
	if kept != maxTextLine || stream.Skipped != 1 {
		t.Errorf("kept %d bytes of %d lines", kept, stream.Skipped)
	}
}

// A line of a stream without end is damage, by file and line, and takes no more memory than the limit.
func TestALongLineIsDamage(t *testing.T) {
	if testing.Short() {
		t.Skip("it reads 256 MiB")
	}
	lines := recorded(t, 2)
	long := io.MultiReader(strings.NewReader(`{"v":3,"k":"req","run":"r","error":"`), &endless{left: maxMessage}, strings.NewReader("\"}\n"))
	file := newFile("r.jsonl", io.MultiReader(bytes.NewReader(lines[0]), long, bytes.NewReader(slices.Concat(lines[1:]...))))
	sums, err := Read(file, metrics.Ask{})
	if err != nil || len(sums) != 1 || sums[0].Completed != 2 {
		t.Fatalf("%d runs, %v", len(sums), err)
	}
	if want := "left out 1 torn or damaged line of the stream: r.jsonl:2"; !slices.Contains(sums[0].Ending.Warnings, want) {
		t.Errorf("warnings %q, want %q", sums[0].Ending.Warnings, want)
	}
}
