package report

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
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
		v, err := ParseVersion(s.VLLM)
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

func TestSeedBlocksArePrintedAgain(t *testing.T) {
	files, _ := filepath.Glob("../testdata/seeds/*")
	count, verbatim := 0, 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		sums, err := metrics.ReadBlocks(bytes.NewReader(text), metrics.Ask{})
		if err != nil {
			t.Fatal(err)
		}
		want := blocksOf(string(text))
		got := print(t, sums)
		if len(got) != len(want) {
			t.Fatalf("%s: %d blocks, want %d", file, len(got), len(want))
		}
		for i := range got {
			count++
			if got[i] == want[i] {
				verbatim++
			}
			if got[i] != padded(want[i]) {
				t.Errorf("%s: block %d is\n%s\nwant\n%s", file, i, got[i], padded(want[i]))
			}
			if len(sums[i].Warnings) > 0 {
				t.Errorf("%s: block %d warns %q", file, i, sums[i].Warnings)
			}
		}
	}
	if count != 37 || verbatim != 26 {
		t.Errorf("%d blocks, %d of them printed as they stood; want 37 and 26", count, verbatim)
	}
}

func TestGoldenBlocksArePrintedAgain(t *testing.T) {
	for _, g := range goldenCases(t) {
		sums, err := metrics.ReadBlocks(strings.NewReader(g.Stdout), metrics.Ask{})
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
		sums, err := metrics.ReadBlocks(strings.NewReader(strings.Join(lines[:n], "")), metrics.Ask{})
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
		sums, err := metrics.ReadBlocks(strings.NewReader(text), metrics.Ask{})
		if err != nil || len(sums) != 1 {
			t.Errorf("%s: %d blocks, %v", name, len(sums), err)
			continue
		}
		want := head + "\n" + padded("Successful requests:                     5\n") + strings.Repeat("=", 50) + "\n"
		if got := print(t, sums)[0]; got != want {
			t.Errorf("%s: got\n%s", name, got)
		}
	}
	if _, err := metrics.ReadBlocks(strings.NewReader("nothing: 5\n"), metrics.Ask{}); err != metrics.ErrNoBlock {
		t.Errorf("no block: %v", err)
	}
}

func TestResultFilesGiveTheirBlock(t *testing.T) {
	for _, name := range []string{"chat", "completions"} {
		file, err := os.ReadFile("../testdata/golden/wire/" + name + ".result.json")
		if err != nil {
			t.Fatal(err)
		}
		stdout, err := os.ReadFile("../testdata/golden/wire/" + name + ".stdout.txt")
		if err != nil {
			t.Fatal(err)
		}
		checkResult(t, name, file, blocksOf(string(stdout))[0])
	}
	for _, g := range goldenCases(t) {
		checkResult(t, g.Name, g.Result, g.Block)
	}
}

// checkResult reads a result file and expects its block, and the file again.
func checkResult(t *testing.T, name string, file []byte, block string) {
	t.Helper()
	sums, err := metrics.ReadResults(bytes.NewReader(file), metrics.Ask{Outcomes: true})
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	if got := print(t, sums); len(got) != 1 || got[0] != block {
		t.Errorf("%s: got\n%s\nwant\n%s", name, got, block)
	}
	if w := sums[0].Warnings; len(w) > 0 {
		t.Errorf("%s: warns %q", name, w)
	}
	var again bytes.Buffer
	if err := JSON(&again, sums[0]); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(tokens(t, again.Bytes()), tokens(t, file)) {
		t.Errorf("%s: written again it differs:\n%.600s\n%.600s", name, again.Bytes(), file)
	}
	// The golden cases' files have lost their spaces, those of the wire have not.
	if spaced := bytes.Contains(file, []byte(`", "`)); spaced && !bytes.Equal(again.Bytes(), file) {
		t.Errorf("%s: written again it has other bytes", name)
	}
}

func TestWhatAFileLacksIsComputedFromItsArrays(t *testing.T) {
	for _, g := range goldenCases(t) {
		if g.Tokenizer == nil {
			continue
		}
		goodput, err := metrics.ParseGoodput([]string{"ttft:200", "tpot:30"})
		if err != nil {
			t.Fatal(err)
		}
		ask := metrics.Ask{
			Metrics:     []string{"ttft", "tpot", "itl", "e2el"},
			Percentiles: []float64{12.5, 50, 99},
			Goodput:     goodput,
		}
		sums, err := metrics.ReadResults(bytes.NewReader(g.Result), ask)
		if err != nil {
			t.Fatal(err)
		}
		want := g.summary(t)
		c := &want.Header.Config
		c.Metrics, c.Percentiles, c.Goodput = ask.Metrics, ask.Percentiles, ask.Goodput
		collector := metrics.NewCollector(want.Header)
		for _, o := range want.Outcomes {
			collector.AddOutcome(o)
		}
		computed := collector.Summary(want.Seconds)
		computed.SpecDecode = want.SpecDecode
		got, expected := print(t, sums), print(t, []*metrics.Summary{computed})
		if got[0] != expected[0] {
			t.Errorf("%s: got\n%s\nwant\n%s", g.Name, got[0], expected[0])
		}
	}
}

func TestEstimatesFromChatFilesAreMarked(t *testing.T) {
	file, err := os.ReadFile("../testdata/golden/wire/chat.result.json")
	if err != nil {
		t.Fatal(err)
	}
	sums, err := metrics.ReadResults(bytes.NewReader(file), metrics.Ask{Percentiles: []float64{50, 75}})
	if err != nil {
		t.Fatal(err)
	}
	s := sums[0]
	if len(s.Warnings) != 1 || !strings.Contains(s.Warnings[0], "tpot and e2el are approximate") {
		t.Errorf("warnings %q", s.Warnings)
	}
	if !s.E2EL.Approximate() || !s.TPOT.Approximate() || s.TTFT.Approximate() || s.ITL.Approximate() {
		t.Error("not tpot and e2el alone are marked")
	}
	if p := s.E2EL.Percentile(75); p < 290 || p > 310 {
		t.Errorf("P75 of e2el is %v ms", p)
	}
}

func TestAppendedResultsAreAllRead(t *testing.T) {
	cases := goldenCases(t)
	var file bytes.Buffer
	for i, g := range cases[:3] {
		if i > 0 {
			file.WriteString("\n")
		}
		if err := json.Compact(&file, g.Result); err != nil {
			t.Fatal(err)
		}
	}
	file.WriteString("\n" + `{"another": "kind"}`)
	sums, err := metrics.ReadResults(&file, metrics.Ask{})
	if err != nil {
		t.Fatal(err)
	}
	got := print(t, sums)
	if len(got) != 3 {
		t.Fatalf("%d blocks", len(got))
	}
	for i := range got {
		if got[i] != cases[i].Block {
			t.Errorf("block %d is\n%s", i, got[i])
		}
	}
}

func TestResultsThatAreNotGetAnError(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"another object": {`{"a": 1}`, "no JSON object with the keys duration"},
		"cut":            {`{"duration": 1, "completed": 2, "total_in`, "object 1: unexpected EOF"},
		"no object":      {`[1, 2]`, "where an object should begin"},
		"uneven arrays": {`{"duration": 1, "completed": 1, "total_input_tokens": 1, "input_lens": [1, 2], "output_lens": [1], "ttfts": [], "itls": []}`,
			"arrays of 2, 1, 0 and 0 requests"},
	} {
		_, err := metrics.ReadResults(strings.NewReader(c.text), metrics.Ask{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func sortedLines(text string) []string { return slices.Sorted(strings.Lines(text)) }

func TestMissingLinesLeaveTheOrderOfOthers(t *testing.T) {
	text, err := os.ReadFile("../testdata/seeds/percentiles-e2el.txt")
	if err != nil {
		t.Fatal(err)
	}
	whole := slices.Collect(strings.Lines(string(text)))
	for i, line := range whole[1 : len(whole)-1] {
		if !strings.Contains(line, ":") || strings.Contains(line, "Total Token") {
			continue
		}
		without := strings.Join(slices.Delete(slices.Clone(whole), i+1, i+2), "")
		sums, err := metrics.ReadBlocks(strings.NewReader(without), metrics.Ask{})
		if err != nil {
			t.Fatal(err)
		}
		if got := print(t, sums)[0]; got != without {
			t.Errorf("without %q: got\n%s", line, got)
		}
	}
}

func FuzzReadBlocks(f *testing.F) {
	files, _ := filepath.Glob("../testdata/seeds/*")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text[:min(len(text), 3000)])
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		sums, err := metrics.ReadBlocks(bytes.NewReader(text), metrics.Ask{})
		if err != nil {
			return
		}
		const empty = "============ Serving Benchmark Result ============\n==================================================\n"
		once := strings.ReplaceAll(strings.Join(print(t, sums), ""), empty, "")
		sums, err = metrics.ReadBlocks(strings.NewReader(once), metrics.Ask{})
		if err != nil {
			return
		}
		// Sections that contradict each other leave the order of percentiles open.
		if twice := strings.Join(print(t, sums), ""); !slices.Equal(sortedLines(twice), sortedLines(once)) {
			t.Errorf("printed again:\n%s\nonce:\n%s", twice, once)
		}
	})
}

func FuzzReadResults(f *testing.F) {
	f.Add([]byte(`{"date": "20261120-120437", "backend": "openai-chat", "label": null, "m": "d", "request_rate": "inf", "duration": 2.5, "completed": 1, "failed": 1, "total_input_tokens": 5, "input_lens": [5, 5], "output_lens": [3, 0], "ttfts": [0.1, 0.0], "itls": [[0.1, 0.2], []], "start_times": [1.5, 1.6], "generated_texts": ["a", ""], "errors": ["", "x"], "mean_ttft_ms": 100.0, "p99.9_ttft_ms": 100.0, "spec_decode_acceptance_rate": 5, "spec_decode_per_position_acceptance_rates": [0.5]}`))
	f.Fuzz(func(t *testing.T, file []byte) {
		sums, err := metrics.ReadResults(bytes.NewReader(file), metrics.Ask{Outcomes: true, Metrics: []string{"e2el", "itl"}})
		if err != nil {
			return
		}
		print(t, sums)
		for _, s := range sums {
			if err := JSON(&bytes.Buffer{}, s); err != nil {
				t.Error(err)
			}
		}
	})
}

func TestSGLangsBlocksAreToldApart(t *testing.T) {
	sums, err := metrics.ReadBlocks(strings.NewReader("============ Serving Benchmark Result ============\nBackend:   sglang\nSuccessful requests:  5\n"), metrics.Ask{})
	if err != nil || len(sums) != 1 || len(sums[0].Warnings) != 1 || !strings.Contains(sums[0].Warnings[0], "SGLang") {
		t.Errorf("got %v, %v", sums, err)
	}
}
