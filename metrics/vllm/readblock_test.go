package vllm

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/servebench/servebench/metrics"
)

// blocksOf cuts the block texts out of a document.
func blocksOf(text string) []string {
	var blocks []string
	for {
		_, rest, found := strings.Cut(text, "============ Serving")
		if !found {
			return blocks
		}
		body, after, found := strings.Cut(rest, strings.Repeat("=", 50))
		if !found {
			return blocks
		}
		blocks = append(blocks, "============ Serving"+body+strings.Repeat("=", 50)+"\n")
		text = after
	}
}

// padded gives each line of a block the spaces that vLLM prints and editors strip.
func padded(block string) string {
	var b strings.Builder
	for line := range strings.Lines(block) {
		line = strings.TrimRight(line, " \n")
		if strings.Contains(line, ":") && len(line) < 51 {
			line += strings.Repeat(" ", 51-len(line))
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

// print writes the summaries' blocks, each in the version it was read in.
func print(t *testing.T, sums []*metrics.Summary) []string {
	t.Helper()
	var blocks []string
	for _, s := range sums {
		v, err := ParseVersion(s.Source.VLLM)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		if err := Block(&b, s, v); err != nil {
			t.Fatal(err)
		}
		blocks = append(blocks, b.String())
	}
	return blocks
}

// seeds are the documents with result blocks.
var seeds = []string{"kvcached-on-off.md", "mps-sm-partition.md", "num-prompts-seq-length-sweep.txt", "percentiles-e2el.txt", "prefill-decode.md"}

func TestSeedBlocksArePrintedAgain(t *testing.T) {
	count, verbatim := 0, 0
	for _, name := range seeds {
		text, err := os.ReadFile(top + "/testdata/seeds/" + name)
		if err != nil {
			t.Fatal(err)
		}
		sums, err := read(bytes.NewReader(text), metrics.Ask{})
		if err != nil {
			t.Fatal(err)
		}
		want := blocksOf(string(text))
		got := print(t, sums)
		if len(got) != len(want) {
			t.Fatalf("%s: %d blocks, want %d", name, len(got), len(want))
		}
		for i := range got {
			count++
			if got[i] == want[i] {
				verbatim++
			}
			if got[i] != padded(want[i]) {
				t.Errorf("%s: block %d is\n%s\nwant\n%s", name, i, got[i], padded(want[i]))
			}
			if len(sums[i].Ending.Warnings) > 0 {
				t.Errorf("%s: block %d warns %q", name, i, sums[i].Ending.Warnings)
			}
		}
	}
	if count != 37 || verbatim != 26 {
		t.Errorf("%d blocks, %d of them printed as they stood; want 37 and 26", count, verbatim)
	}
}

func TestGoldenBlocksArePrintedAgain(t *testing.T) {
	for _, g := range goldenCases(t) {
		sums, err := read(strings.NewReader(g.Stdout), metrics.Ask{})
		if err != nil {
			t.Fatal(err)
		}
		if got := print(t, sums); len(got) != 1 || got[0] != g.Block {
			t.Errorf("%s: got\n%s\nwant\n%s", g.Name, got, g.Block)
		}
	}
}

func TestEveryPrefixOfABlockIsReadAsItsLines(t *testing.T) {
	g := goldenCases(t)[16] // speculative decoding
	lines := strings.SplitAfter(strings.TrimSuffix(g.Block, "\n"), "\n")
	for n := 2; n < len(lines); n++ {
		sums, err := read(strings.NewReader(strings.Join(lines[:n], "")), metrics.Ask{})
		if err != nil {
			t.Fatalf("%d lines: %v", n, err)
		}
		want := lines[:n]
		for strings.HasPrefix(want[len(want)-1], "--") || strings.HasPrefix(want[len(want)-1], "Per-position") {
			want = want[:len(want)-1]
		}
		if got := print(t, sums)[0]; got != strings.Join(want, "")+strings.Repeat("=", 50)+"\n" {
			t.Errorf("%d lines: got\n%s", n, got)
		}
	}
}

func TestBlocksAreFoundInAnyText(t *testing.T) {
	const head = "============ Serving Benchmark Result ============"
	wide := strings.Repeat("=", 17) + " Serving Benchmark Result " + strings.Repeat("=", 17)
	for name, text := range map[string]string{
		"bar on the same line":  "100%|██| 5/5 [00:11<00:00, 17.08it/s]" + head + "\nSuccessful requests: 5\n",
		"bar rewritten":         "  0%|  | 0/5\r100%|██| 5/5\r" + head + "\r\nSuccessful requests: 5\r\n",
		"quoted":                "> " + head + "\n> Successful requests:    5\n> " + strings.Repeat("=", 50) + "\n",
		"srun --label":          "0: " + head + "\n0: Successful requests:    5\n",
		"Rust client":           wide + "\nSuccessful requests:     5   \n" + strings.Repeat("=", 60) + "\n",
		"head cut off":          "Maximum request concurrency: 7\nSuccessful requests: 5\n",
		"two, and one is empty": head + "\n" + head + "\nSuccessful requests: 5\n",
	} {
		sums, err := read(strings.NewReader(text), metrics.Ask{})
		if err != nil || len(sums) != 1 {
			t.Errorf("%s: %d blocks, %v", name, len(sums), err)
			continue
		}
		want := head + "\n" + padded("Successful requests:                     5\n") + strings.Repeat("=", 50) + "\n"
		if got := print(t, sums)[0]; got != want {
			t.Errorf("%s: got\n%s", name, got)
		}
	}
	if _, err := read(strings.NewReader("nothing: 5\n"), metrics.Ask{}); err != ErrNoBlock {
		t.Errorf("no block: %v", err)
	}
}

func sortedLines(text string) []string { return slices.Sorted(strings.Lines(text)) }

func TestMissingLinesLeaveTheOrderOfOthers(t *testing.T) {
	text, err := os.ReadFile(top + "/testdata/seeds/percentiles-e2el.txt")
	if err != nil {
		t.Fatal(err)
	}
	whole := slices.Collect(strings.Lines(string(text)))
	for i, line := range whole[1 : len(whole)-1] {
		if !strings.Contains(line, ":") || strings.Contains(line, "Total Token") {
			continue
		}
		without := strings.Join(slices.Delete(slices.Clone(whole), i+1, i+2), "")
		sums, err := read(strings.NewReader(without), metrics.Ask{})
		if err != nil {
			t.Fatal(err)
		}
		if got := print(t, sums)[0]; got != without {
			t.Errorf("without %q: got\n%s", line, got)
		}
	}
}

func TestJSONOfABlockInventsNoConfiguration(t *testing.T) {
	const block = "============ Serving Benchmark Result ============\nSuccessful requests: 5\n"
	const nulls = `{"date": null, "endpoint_type": null, "backend": null, "label": null, "model_id": null, "tokenizer_id": null, "num_prompts": null, `
	for text, want := range map[string]string{
		block: `"request_rate": null, "burstiness": null, "max_concurrency": null, "completed": 5, "request_goodput": null}`,
		block + "Maximum request concurrency: 4\nRequest rate configured (RPS): 2.50\n": `"request_rate": 2.5, "burstiness": null, "max_concurrency": 4, "completed": 5, "request_goodput": null}`,
	} {
		sums, err := read(strings.NewReader(text), metrics.Ask{})
		if err != nil {
			t.Fatal(err)
		}
		var got strings.Builder
		if err := writeResult(&got, sums[0], Version{}); err != nil {
			t.Fatal(err)
		}
		if got.String() != nulls+want {
			t.Errorf("got\n%s\nwant\n%s", got.String(), nulls+want)
		}
	}
}

func FuzzReadBlocks(f *testing.F) {
	for _, name := range seeds {
		text, err := os.ReadFile(top + "/testdata/seeds/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text[:min(len(text), 3000)])
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		sums, err := read(bytes.NewReader(text), metrics.Ask{})
		if err != nil {
			return
		}
		const empty = "============ Serving Benchmark Result ============\n==================================================\n"
		once := strings.ReplaceAll(strings.Join(print(t, sums), ""), empty, "")
		sums, err = read(strings.NewReader(once), metrics.Ask{})
		if err != nil {
			return
		}
		// Sections that contradict each other leave the order of percentiles open.
		if twice := strings.Join(print(t, sums), ""); !slices.Equal(sortedLines(twice), sortedLines(once)) {
			t.Errorf("printed again:\n%s\nonce:\n%s", twice, once)
		}
	})
}

func TestSGLangsBlocksAreToldApart(t *testing.T) {
	sums, err := read(strings.NewReader("============ Serving Benchmark Result ============\nBackend:   sglang\nSuccessful requests:  5\n"), metrics.Ask{})
	if err != nil || len(sums) != 1 || len(sums[0].Ending.Warnings) != 1 || !strings.Contains(sums[0].Ending.Warnings[0], "SGLang") {
		t.Errorf("got %v, %v", sums, err)
	}
}

// Blocks of pooling backends are read, although none can be measured yet: what they
// say is printed again.
func TestBlocksOfPoolingArePrintedAgain(t *testing.T) {
	n := 0
	for _, g := range goldenFile(t, "metrics-0.33.json", 24) {
		sums, err := read(strings.NewReader(g.Block), metrics.Ask{})
		if err != nil {
			t.Fatal(err)
		}
		if got := print(t, sums); len(got) != 1 || got[0] != g.Block {
			t.Errorf("%s: got\n%s\nwant\n%s", g.Name, got, g.Block)
		}
		if strings.Contains(g.Block, "Input throughput (inputs/s):") {
			n++
		}
	}
	if n == 0 {
		t.Error("none has inputs/s")
	}
}
