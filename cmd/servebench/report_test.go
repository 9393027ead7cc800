package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect"
	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/stream"
)

// reportOf runs `servebench report` with these arguments on this input.
func reportOf(stdin string, args ...string) (out, talk string, err error) {
	var outBuf, talkBuf bytes.Buffer
	cmd := newReportCommand()
	cmd.SetArgs(append([]string{}, args...)) // nil means those of the test itself
	cmd.SetIn(strings.NewReader(stdin))
	cmd.SetOut(&outBuf)
	cmd.SetErr(&talkBuf)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	err = cmd.Execute()
	return outBuf.String(), talkBuf.String(), err
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// notJudged is what report says of a result of vLLM.
const notJudged = "NOT JUDGED: vLLM's results say nothing about the client that measured them\n"

func TestStrictRefusesAResultOfVLLM(t *testing.T) {
	for _, name := range []string{"../../testdata/seeds/percentiles-e2el.txt", "../../testdata/golden/wire/chat.result.json"} {
		if said, code := carryOut(newReportCommand(), "--strict", name); code != exitNoVerdict || !strings.Contains(said, notJudged) {
			t.Errorf("%s: exit code %d\n%s", name, code, said)
		}
	}
}

func TestReportPrintsAPaddedBlockAgain(t *testing.T) {
	const name = "../../testdata/seeds/percentiles-e2el.txt"
	want := readFile(t, name)
	for _, args := range [][]string{{name}, {"-"}, nil} {
		out, talk, err := reportOf(want, args...)
		if out != want || talk != notJudged || err != nil {
			t.Errorf("%q: got %v %q\n%s", args, err, talk, out)
		}
	}
}

func TestReportGivesTheBlockOfAResultFile(t *testing.T) {
	const dir = "../../testdata/golden/wire/"
	_, want, _ := strings.Cut(readFile(t, dir+"chat.stdout.txt"), "gnuplot to plot the metrics\n")
	out, talk, err := reportOf("", dir+"chat.result.json")
	if out != want || !strings.HasPrefix(talk, notJudged+"Note: ") || err != nil {
		t.Errorf("got %v %q\n%s\nwant\n%s", err, talk, out, want)
	}
	out, _, err = reportOf("", "--format", "json", "--save-detailed", dir+"chat.result.json")
	if want := readFile(t, dir+"chat.result.json") + "\n"; out != want || err != nil {
		t.Errorf("as JSON: %v, %d bytes, want %d", err, len(out), len(want))
	}
}

func TestReportHonoursItsFlags(t *testing.T) {
	out, talk, err := reportOf("", "--vllm-version", "0.6.4", "--percentile-metrics", "e2el,ttft", "--metric-percentiles", "75",
		"--goodput", "ttft:52", "--goodput", "e2el:400", "../../testdata/golden/wire/chat.result.json")
	if err != nil {
		t.Fatal(err)
	}
	var labels []string
	for line := range strings.Lines(out) {
		label, _, _ := strings.Cut(strings.Trim(strings.TrimSpace(line), "-= "), ":")
		labels = append(labels, label)
	}
	want := []string{"Serving Benchmark Result", "Successful requests", "Benchmark duration (s)", "Total input tokens",
		"Total generated tokens", "Request throughput (req/s)", "Request goodput (req/s)", "Output token throughput (tok/s)",
		"Total Token throughput (tok/s)", "Time to First Token", "Mean TTFT (ms)", "Median TTFT (ms)", "P75 TTFT (ms)",
		"End-to-end Latency", "Mean E2EL (ms)", "Median E2EL (ms)", "P75 E2EL (ms)", ""}
	if got := strings.Join(labels, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("lines\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
	if !strings.Contains(talk, "e2el are approximate") || !strings.Contains(talk, "goodput is approximate") {
		t.Errorf("said %q", talk)
	}
}

func TestReportMergesAndSeparatesRunsOfAStream(t *testing.T) {
	var text bytes.Buffer
	for _, h := range []metrics.Header{{Run: "b", Shard: 0, Shards: 2}, {Run: "a"}, {Run: "b", Shard: 1, Shards: 2}} {
		w := stream.NewWriter(&text)
		c := aspect.Collector(&h)
		r := &record.Record{Run: h.Run, Tokens: record.Tokens{In: 10 * len(h.Run), Out: 1}}
		c.Add(r)
		if err := errors.Join(w.Begin(&h), w.Write(r), w.End(c.Summary(2))); err != nil {
			t.Fatal(err)
		}
	}
	out, talk, err := reportOf(text.String())
	if err != nil || strings.Contains(talk, "WARNING") || strings.Count(talk, "VALID: standard input, run ") != 2 {
		t.Fatalf("%v, %q", err, talk)
	}
	var completed []string
	for line := range strings.Lines(out) {
		if label, value, _ := strings.Cut(line, ":"); label == "Successful requests" {
			completed = append(completed, strings.TrimSpace(value))
		}
	}
	if strings.Join(completed, " ") != "2 1" {
		t.Errorf("blocks of %q requests\n%s", completed, out)
	}
}

func TestReportSaysWhatItLookedFor(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "prose.txt")
	if err := os.WriteFile(empty, []byte("nothing here\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const good = "../../testdata/seeds/percentiles-e2el.txt"
	out, _, err := reportOf("", empty, good)
	var exit exitError
	if !errors.As(err, &exit) || exit.code != exitNo || !errors.Is(err, stream.ErrNothing) {
		t.Errorf("got %v", err)
	}
	for _, part := range []string{"prose.txt", "record stream", "result file of vLLM", "result block"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not name %q", err, part)
		}
	}
	if out != "\n"+good+"\n"+readFile(t, good) {
		t.Errorf("the other file was not reported:\n%s", out)
	}
}

// A terminal is asked for a file, instead of waiting for what nobody types.
func TestReportDoesNotWaitForATerminal(t *testing.T) {
	terminal, err := os.Open("/dev/ptmx")
	if err != nil {
		t.Skipf("this system has no pseudo-terminals: %v", err)
	}
	defer terminal.Close()
	cmd := newReportCommand()
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetIn(terminal)
	cmd.SetArgs([]string{})
	if err := cmd.Execute(); err == nil || !strings.HasPrefix(err.Error(), "report needs a FILE") {
		t.Error(err)
	}
}

// A recording that was cut before a request had ended has an answer of its own.
func TestReportOfNoRequestIsNoSuccess(t *testing.T) {
	const head = `{"v":3,"k":"run","run":"a","epoch":"2026-11-22T20:53:36Z","version":"devel","definitions":"0.33.0","config":{"model":"m","num_prompts":5}}` + "\n"
	_, _, err := reportOf(head, "-")
	var exit exitError
	if !errors.As(err, &exit) || exit.code != exitNo || !strings.Contains(err.Error(), "no request is recorded") {
		t.Error(err)
	}
}

func TestReportRefusesFlagsItCannotHonour(t *testing.T) {
	for _, args := range [][]string{
		{"--format", "xml"}, {"--vllm-version", "0.3.3"}, {"--metric-percentiles", "101"}, {"--goodput", "itl:5"}, {"--goodput", "ttft:-1"},
	} {
		_, _, err := reportOf("", args...)
		var exit exitError
		if err == nil || errors.As(err, &exit) || !strings.Contains(err.Error(), args[0]) {
			t.Errorf("%q: %v", args, err)
		}
	}
}
