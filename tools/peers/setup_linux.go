package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/servebench/servebench/dataset/tokenizer/tokenizertest"
)

// repositoryName is the tokenizer's in the Hugging Face cache.
const repositoryName = "peers/truth"

// newBench picks the cores, the same for client and server if there is only one, and writes the tokenizer.
func newBench(dir string) (*bench, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	b := &bench{self: self, dir: dir}
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return nil, fmt.Errorf("sched_getaffinity: %w", err)
	}
	var cpus []int
	for cpu := 0; len(cpus) < set.Count(); cpu++ {
		if set.IsSet(cpu) {
			cpus = append(cpus, cpu)
		}
	}
	b.clientCPU, b.serverCPU = cpus[0], cpus[min(1, len(cpus)-1)]
	return b, b.writeTokenizer()
}

// writeTokenizer fills a Hugging Face cache with one of Llama 3's size: AIPerf finds it by its name
// only.
func (b *bench) writeTokenizer() error {
	const revision = "0123456789abcdef0123456789abcdef01234567"
	repository := filepath.Join(b.cache(), "hub", "models--"+strings.ReplaceAll(repositoryName, "/", "--"))
	b.tokenizer = filepath.Join(repository, "snapshots", revision)
	if err := errors.Join(os.MkdirAll(b.tokenizer, 0o755),
		os.MkdirAll(filepath.Join(repository, "refs"), 0o755)); err != nil {
		return err
	}
	for name, text := range map[string][]byte{
		filepath.Join(repository, "refs", "main"):           []byte(revision),
		filepath.Join(b.tokenizer, "tokenizer.json"):        tokenizertest.Llama(),
		filepath.Join(b.tokenizer, "tokenizer_config.json"): []byte(`{"tokenizer_class":"PreTrainedTokenizerFast"}`),
		filepath.Join(b.tokenizer, "config.json"):           []byte(`{"model_type":"gpt2"}`),
	} {
		if err := os.WriteFile(name, text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// cache is the folder of Hugging Face's files.
func (b *bench) cache() string { return filepath.Join(b.dir, "huggingface") }

// thisMachine is what the page says of it.
func thisMachine() machine {
	m := machine{Cores: runtime.NumCPU(), Date: time.Now().UTC().Format(time.DateOnly)}
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		_, rest, _ := strings.Cut(string(text), "model name\t: ")
		m.CPU, _, _ = strings.Cut(rest, "\n")
	}
	if text, err := os.ReadFile("/proc/loadavg"); err == nil {
		fmt.Sscan(string(text), &m.Load)
	}
	var name unix.Utsname
	if unix.Uname(&name) == nil {
		m.Linux, _, _ = strings.Cut(unix.ByteSliceToString(name.Release[:]), "-")
	}
	return m
}

// versions asks the programs.
func (p programs) versions() map[string]string {
	ask := func(command ...string) string {
		out, err := exec.Command(command[0], command[1:]...).Output()
		if err != nil {
			return ""
		}
		line, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
		return line
	}
	vllm := ask(filepath.Join(p.vllm, "bin", "python"), "-c",
		"import importlib.metadata as m; print('vLLM', m.version('vllm'))")
	v := map[string]string{ours: ask(p.servebench, "version"), rust: vllm, python: vllm}
	if p.aiperf != "" {
		v[aiperf] = ask(p.aiperf, "--version")
	}
	return v
}
