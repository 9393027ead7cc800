package dataset

import (
	"io"
	"path/filepath"
	"strings"
	"testing"
)

func (c *datasetCase) specBench(path string) SpecBench {
	return SpecBench{
		Options:  Options{Path: path, Tokenizer: c.tokenizer, Template: c.template(), Num: c.Num, DisableShuffle: c.DisableShuffle, NoOversample: c.NoOversample, IDPrefix: "b-"},
		Category: c.Category, OutputLen: c.OutputLen,
	}
}

func TestSpecBenchIsThatOfTheRealProgram(t *testing.T) {
	for _, c := range goldenCases(t, "spec_bench") {
		c.SkipTemplate = false // it renders these even with --skip-chat-template
		c.check(t, c.specBench(c.path("spec.jsonl")))
	}
}

func TestSpeedBenchIsThatOfTheRealProgram(t *testing.T) {
	for _, c := range goldenCases(t, "speed_bench") {
		c.check(t, SpeedBench{c.specBench(c.path("speed")), "qualitative"})
	}
}

func TestBadBenchFileIsNamedWithItsLine(t *testing.T) {
	spec := SpecBench{Options: Options{Path: "f.jsonl"}, OutputLen: 1}
	for _, row := range []struct {
		rows func(io.Reader) ([]promptRow, error)
		text string
		want string
	}{
		{spec.rows, "{\"turns\":[\"a\"]}\n{}", `f.jsonl:2: no "turns"`},
		{spec.rows, `{"turns":[]}`, `f.jsonl:1: no "turns"`},
		{spec.rows, `{"turns":[5]}`, "f.jsonl:1: turns: unexpected JSON number"},
		{spec.rows, "\n{", "f.jsonl:2: unexpected end of JSON input"},
		{SpeedBench{SpecBench: spec}.rows, `{"messages":[]}`, `f.jsonl:1: no "messages" with a "content"`},
		{SpeedBench{SpecBench: spec}.rows, `{"messages":[{"content":null}]}`, `f.jsonl:1: no "messages" with a "content"`},
		{SpeedBench{SpecBench: spec}.rows, `{"messages":["a"]}`, "f.jsonl:1: messages: unexpected JSON string"},
	} {
		if _, err := row.rows(strings.NewReader(row.text)); err == nil || err.Error() != row.want {
			t.Errorf("%s\nerror %v\nwant  %s", row.text, err, row.want)
		}
	}
}

func TestBenchRefusesWhatItCannotDo(t *testing.T) {
	path := writeFile(t, "all.jsonl", `{"category":"a","turns":["x"]}`)
	empty := writeFile(t, "empty.jsonl", "\n")
	folder := t.TempDir()
	for _, row := range []struct {
		open func() (Source, int, error)
		want string
	}{
		{SpecBench{Options: Options{Path: path}}.Open, "output length 0: must be at least 1"},
		{SpecBench{Options: Options{Path: path}, OutputLen: 1, Category: "b"}.Open, path + `: no row has the category "b"`},
		{SpecBench{Options: Options{Path: empty}, OutputLen: 1}.Open, empty + ": the file is empty"},
		{SpeedBench{SpecBench{Options: Options{Path: folder}, OutputLen: 1}, "throughput_1k"}.Open, "open " + filepath.Join(folder, "throughput_1k.jsonl") + ": no such file or directory"},
	} {
		if _, _, err := row.open(); err == nil || err.Error() != row.want {
			t.Errorf("error %v, want %s", err, row.want)
		}
	}
}

func FuzzBenchFiles(f *testing.F) {
	f.Add(`{"category":"a","turns":["x","y"]}`)
	f.Add(`{"category":"a","messages":[{"content":"x"}]}` + "\n\n{}")
	spec := SpecBench{Options: Options{Path: "f.jsonl"}, OutputLen: 1}
	f.Fuzz(func(t *testing.T, text string) {
		for _, rows := range []func(io.Reader) ([]promptRow, error){spec.rows, SpeedBench{SpecBench: spec}.rows} {
			if _, err := rows(strings.NewReader(text)); err != nil && !strings.HasPrefix(err.Error(), "f.jsonl:") {
				t.Errorf("the error does not name the file: %v", err)
			}
		}
	})
}
