package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/servebench/servebench/tools/peers/reading"
	"github.com/servebench/servebench/tools/peers/truth"
)

// The clients, by the names of their columns.
const (
	ours   = reading.Ours
	warm   = "servebench, warm"
	rust   = "vllm-rs"
	python = "vllm, Python"
	aiperf = "AIPerf"
)

// A client is a program that loads servers.
type client struct {
	name  string
	turns int  // at most; 0 for no limit
	only  bool // only its accuracy is measured
	notes bool // its record stream says which chunks are marked
	args  func(l load, p place) []string
	read  func(dir string) (figures, error)
}

// A place is where a client finds the server and the tokenizer, and leaves its files.
type place struct{ url, tokenizer, dir string }

// Figures are what a client reports. Times are in milliseconds.
type figures struct {
	Completed int     `json:"completed"`
	MeanTTFT  float64 `json:"mean_ttft_ms"`
	P99TTFT   float64 `json:"p99_ttft_ms"`
	P99ITL    float64 `json:"p99_itl_ms"`
	Verdict   string  `json:"verdict"` // of servebench
	Marked    float64 `json:"marked"`  // percentage of its chunks whose stamps may be late
	LeastITL  float64 `json:"least_itl_ms"`
	MostITL   float64 `json:"most_itl_ms"` // between these two its P99 ITL lies
}

// resultFile is the name of a client's result.
const resultFile = "result.json"

// programs are where the clients are. An empty one is not installed. VLLM is a virtual environment,
// and multiTurn the folder of vLLM's benchmarks/multi_turn.
type programs struct{ servebench, vllm, aiperf, multiTurn string }

// clients are those that are installed. VLLM is the folder of a virtual environment.
func (p programs) clients() (all []client) {
	all = []client{
		{name: ours, read: readVLLM, args: vllmArgs(p.servebench, "run"), notes: true},
		{name: warm, read: readVLLM, args: vllmArgs(p.servebench, "run", "--warm-connections"), only: true, notes: true},
	}
	if found, _ := filepath.Glob(filepath.Join(p.vllm, "lib", "python3*", "site-packages", "vllm", "vllm-rs")); len(
		found) > 0 {
		all = append(all,
			client{name: rust, read: readVLLM, args: vllmArgs(found[0], "bench", "serve")},
			client{name: python, read: readVLLM, turns: 2,
				args: vllmArgs(filepath.Join(p.vllm, "bin", "python"), "tools/peers/bench_serve.py")})
	}
	if _, err := os.Stat(p.aiperf); err == nil {
		all = append(all, client{name: aiperf, read: readAIPerf, turns: 1, only: true, args: aiperfArgs(p.aiperf)})
	}
	return all
}

// takes says whether the client takes part in a measurement. Some have only their accuracy
// measured.
func (c client) takes(m measurement, turn int) bool {
	if c.turns > 0 && turn >= c.turns {
		return false
	}
	if m.clients != nil {
		return slices.Contains(m.clients, c.name)
	}
	return !c.only || m.load.First > 0 && m.less == nil
}

// vllmArgs is a command line with the flags of vllm bench serve.
func vllmArgs(command ...string) func(l load, p place) []string {
	return func(l load, p place) []string {
		args := append(slices.Clone(command), "--base-url", p.url, "--model", truth.Model, "--tokenizer", p.tokenizer,
			"--dataset-name", "random", "--num-prompts", strconv.Itoa(l.Requests), "--ignore-eos", "--disable-tqdm",
			"--random-input-len", strconv.Itoa(l.Input), "--random-output-len", strconv.Itoa(l.Output),
			"--percentile-metrics", "ttft,tpot,itl", "--save-result", "--result-dir", p.dir, "--result-filename", resultFile)
		if l.Concurrency > 0 {
			args = append(args, "--max-concurrency", strconv.Itoa(l.Concurrency))
		}
		if l.Rate > 0 {
			args = append(args, "--request-rate", strconv.FormatFloat(l.Rate, 'g', -1, 64))
		}
		if l.Even {
			args = append(args, "--burstiness", "1e9")
		}
		return args
	}
}

// readVLLM reads the JSON file of vllm bench serve. Servebench's has its verdict, too.
func readVLLM(dir string) (f figures, err error) {
	var file struct {
		figures
		Trust struct {
			Verdict string `json:"verdict"`
		} `json:"trust"`
		Truth struct {
			Late  float64  `json:"late_chunks_percent"`
			Least *float64 `json:"late_p99_itl_least_ms"`
			Most  *float64 `json:"late_p99_itl_most_ms"`
		} `json:"truth"`
	}
	if err := readJSON(filepath.Join(dir, resultFile), &file); err != nil {
		return f, err
	}
	f = file.figures
	f.Verdict, f.Marked = file.Trust.Verdict, file.Truth.Late
	f.LeastITL, f.MostITL = f.P99ITL, f.P99ITL
	if t := file.Truth; t.Least != nil && t.Most != nil {
		f.LeastITL, f.MostITL = *t.Least, *t.Most
	}
	return f, nil
}

func aiperfArgs(program string) func(l load, p place) []string {
	return func(l load, p place) []string {
		args := []string{program, "profile", "--model", truth.Model, "--url", p.url, "--endpoint-type", "completions",
			"--streaming",
			"--tokenizer", repositoryName, "--isl", strconv.Itoa(l.Input), "--osl", strconv.Itoa(l.Output),
			"--extra-inputs", "ignore_eos:true", "--extra-inputs", fmt.Sprintf("max_tokens:%d", l.Output),
			"--request-count", strconv.Itoa(l.Requests), "--artifact-dir", p.dir, "--ui", "none"}
		if l.Rate > 0 {
			return append(args, "--request-rate", strconv.FormatFloat(l.Rate, 'g', -1, 64))
		}
		return append(args, "--concurrency", strconv.Itoa(l.Requests))
	}
}

// readAIPerf reads AIPerf's summary.
func readAIPerf(dir string) (f figures, err error) {
	type metric struct{ Avg, P99 float64 }
	var file struct {
		RequestCount metric `json:"request_count"`
		TTFT         metric `json:"time_to_first_token"`
		Chunks       metric `json:"inter_chunk_latency"`
	}
	if err := readJSON(filepath.Join(dir, "profile_export_aiperf.json"), &file); err != nil {
		return f, err
	}
	return figures{Completed: int(file.RequestCount.Avg), MeanTTFT: file.TTFT.Avg, P99TTFT: file.TTFT.P99,
		P99ITL: file.Chunks.P99}, nil
}

func readJSON(name string, v any) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, v); err != nil {
		return fmt.Errorf("reading %s: %w", filepath.Base(name), err)
	}
	return nil
}
