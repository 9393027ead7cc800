//go:build e2e

package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// seriesSweep is a sweep of two arms, of which the second has its answers slowed down. Both go
// through a proxy, so that it is no difference. Prompts are not cached: the arms of a repeat share them.
const seriesSweep = `seed: ${series}000
load:
  backend: openai
  model: MODEL
  tokenizer: server
  num-prompts: 160
  random-input-len: 64
  random-output-len: 32
  max-concurrency: 4
  num-warmups: 4
  ignore-eos: true
  extra-body: '{"cache_prompt": false}'
  base-url: http://127.0.0.1:${port2}
arms:
  - name: old
    servers:
      - &server
        ready: http://127.0.0.1:${port}/health
        command: [SERVER, "${port}"]
      - ready: http://127.0.0.1:${port2}/health
        command: [PROXY, --listen, "127.0.0.1:${port2}", --to, "http://127.0.0.1:${port}"]
  - name: new
    servers:
      - *server
      - ready: http://127.0.0.1:${port2}/health
        command: [PROXY, --listen, "127.0.0.1:${port2}", --to, "http://127.0.0.1:${port}", --stretch, SLOWER]
`

// TestSeriesLlamaCpp makes sequential sweeps of llama.cpp's server until they stop by themselves: of
// two equal arms, and with all answers 10 % and 5 % slower. SERIES is the folder, in which a series
// that was interrupted goes on.
func TestSeriesLlamaCpp(t *testing.T) {
	dir := os.Getenv("SERIES")
	if dir == "" {
		t.Fatal("SERIES must be the folder of the series")
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	server, model := buildLlamaCpp(t, dir)
	programs := map[string]string{}
	for _, name := range []string{"cmd/servebench", "tools/delayproxy", "tools/series"} {
		programs[name] = filepath.Join(dir, filepath.Base(name))
		if out, err := exec.CommandContext(t.Context(), "go", "-C", "../../"+filepath.Dir(name), "build", "-o", programs[name], "./"+filepath.Base(name)).CombinedOutput(); err != nil {
			t.Fatalf("go build %s: %v\n%s", name, err, out)
		}
	}
	despite := []string{"--despite", "suspect"} // other work on this machine is no reason to stop
	margins := append(slices.Clone(despite), "--margin", "output_throughput=2%", "--margin", "median_ttft=2%", "--margin", "median_tpot=2%")
	for _, s := range []struct {
		name, slower string
		n            int
		flags        []string
		judge        func(passed, regressed int) bool
	}{
		{"equal", "0%", 40, despite, func(_, regressed int) bool { return regressed <= 5 }},
		{"tenth", "10%", 20, despite, func(_, regressed int) bool { return regressed >= 18 }},
		{"twentieth", "5%", 20, margins, func(_, regressed int) bool { return regressed >= 18 }},
	} {
		t.Run(s.name, func(t *testing.T) {
			file := filepath.Join(dir, s.name+".yaml")
			text := strings.NewReplacer("MODEL", model, "SERVER", server, "PROXY", programs["tools/delayproxy"], "SLOWER", s.slower).Replace(seriesSweep)
			if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
			args := append([]string{"-n", strconv.Itoa(s.n), "-o", filepath.Join(dir, s.name), "-servebench", programs["cmd/servebench"], file}, s.flags...)
			cmd := exec.CommandContext(t.Context(), programs["tools/series"], args...)
			cmd.Stderr = os.Stderr
			out, err := cmd.Output()
			t.Logf("%s", out)
			if err != nil {
				t.Fatal(err)
			}
			counts := regexp.MustCompile(`: (\d+) PASS, (\d+) REGRESSED`).FindSubmatch(out)
			passed, _ := strconv.Atoi(string(counts[1]))
			regressed, _ := strconv.Atoi(string(counts[2]))
			if !s.judge(passed, regressed) {
				t.Errorf("%d PASS, %d REGRESSED", passed, regressed)
			}
		})
	}
}
