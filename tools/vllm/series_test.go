//go:build vllm && linux

package vllm_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// seriesSweep is a sweep of two equal engines.
const seriesSweep = `seed: ${series}000
load:
  model: SERVED
  tokenizer: TOKENIZER
  num-prompts: 160
  random-input-len: 30
  random-output-len: 24
  max-concurrency: 8
  num-warmups: 16
  ignore-eos: true
  base-url: http://127.0.0.1:${port}
arms:
  - name: old
    <<: &engine
      ready: http://127.0.0.1:${port}/health
      command: [VENV/bin/vllm, serve, MODEL, --served-model-name, SERVED, --host, 127.0.0.1, --port, "${port}", --dtype, float32,
        --max-model-len, "2048", --max-num-seqs, "256", --enforce-eager, --no-enable-prefix-caching]
      env: {VLLM_TARGET_DEVICE: cpu, HF_HUB_OFFLINE: "1", VLLM_NO_USAGE_STATS: "1", VLLM_CPU_KVCACHE_SPACE: "1",
        VLLM_CPU_OMP_THREADS_BIND: nobind, OMP_NUM_THREADS: "1"}
  - name: new
    <<: *engine
`

// TestSeries makes six sequential sweeps of two equal engines until they stop by themselves. SERIES is
// the folder, in which a series that was interrupted goes on.
func TestSeries(t *testing.T) {
	dir := os.Getenv("SERIES")
	if dir == "" {
		t.Fatal("SERIES must be the folder of the series")
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	m := writeModel(t)
	for from, to := range map[string]string{m.dir: filepath.Join(dir, "model"), m.tokenizer: filepath.Join(dir, "tokenizer")} {
		if _, err := os.Stat(to); err == nil {
			continue
		}
		if err := os.CopyFS(to, os.DirFS(from)); err != nil {
			t.Fatal(err)
		}
	}
	programs := map[string]string{}
	for _, name := range []string{"cmd/servebench", "tools/series"} {
		programs[name] = filepath.Join(dir, filepath.Base(name))
		if out, err := exec.CommandContext(t.Context(), "go", "-C", "../../"+filepath.Dir(name), "build", "-o", programs[name], "./"+filepath.Base(name)).CombinedOutput(); err != nil {
			t.Fatalf("go build %s: %v\n%s", name, err, out)
		}
	}
	file := filepath.Join(dir, "engines.yaml")
	text := strings.NewReplacer("SERVED", served, "TOKENIZER", filepath.Join(dir, "tokenizer"), "MODEL", filepath.Join(dir, "model"), "VENV", filepath.Join(os.Getenv("ENGINE"), "venv")).Replace(seriesSweep)
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), programs["tools/series"], "-n", "6", "-o", filepath.Join(dir, "engines"), "-servebench", programs["cmd/servebench"], file, "--despite", "suspect")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	t.Logf("%s", out)
	if err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`: \d+ PASS, 0 REGRESSED`).Match(out) {
		t.Error("an equal engine is called worse")
	}
}
