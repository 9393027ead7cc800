//go:build vllm && linux

package vllm_test

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// tenantsSweep is three servers on one machine: two engines, of which the second gets long prompts at a
// few instants, and llama.cpp's server.
const tenantsSweep = `repeats: 3
load:
  target:
    - "a=http://127.0.0.1:${port},model=SERVED,tokenizer=TOKENIZER"
    - "b=http://127.0.0.1:${port2},model=SERVED,tokenizer=TOKENIZER,random-input-len=1200,random-output-len=8,request-rate=2,num-prompts=30,max-concurrency=4"
    - "c=http://127.0.0.1:${port3},model=GGUF,tokenizer=server,request-rate=5,num-prompts=75"
  pairs: true
  request-rate: 4
  num-prompts: 60
  num-warmups: 4
  max-concurrency: 4
  random-input-len: 30
  random-output-len: 48
  ignore-eos: true
arms:
  - name: shared
    servers:
      - ready: http://127.0.0.1:${port}/health
        command: &engine [VENV/bin/vllm, serve, MODEL, --served-model-name, SERVED, --host, 127.0.0.1, --port, "${port}", --dtype, float32,
          --max-model-len, "2048", --max-num-seqs, "64", --enforce-eager, --no-enable-prefix-caching]
        env: &env {VLLM_TARGET_DEVICE: cpu, HF_HUB_OFFLINE: "1", VLLM_NO_USAGE_STATS: "1", VLLM_CPU_KVCACHE_SPACE: "1",
          VLLM_CPU_OMP_THREADS_BIND: nobind, OMP_NUM_THREADS: "1"}
      - ready: http://127.0.0.1:${port2}/health
        command: [VENV/bin/vllm, serve, MODEL, --served-model-name, SERVED, --host, 127.0.0.1, --port, "${port2}", --dtype, float32,
          --max-model-len, "2048", --max-num-seqs, "64", --enforce-eager, --no-enable-prefix-caching]
        env: *env
      - ready: http://127.0.0.1:${port3}/health
        command: [LLAMACPP, "${port3}"]
`

// TestTenants loads three real servers that share the cores of this machine, each alone, each pair and
// all together, and holds the matrix of slowdowns against one made by hand from the records.
func TestTenants(t *testing.T) {
	dir := t.TempDir()
	if kept := os.Getenv("TENANTS"); kept != "" {
		dir = kept
	}
	m := writeModel(t)
	programs := map[string]string{}
	for _, name := range []string{"cmd/servebench", "tools/llamacpp"} {
		programs[name] = filepath.Join(dir, filepath.Base(name))
		if out, err := exec.CommandContext(t.Context(), "go", "-C", "../../"+filepath.Dir(name), "build", "-o", programs[name], "./"+filepath.Base(name)).CombinedOutput(); err != nil {
			t.Fatalf("go build %s: %v\n%s", name, err, out)
		}
	}
	gguf, err := exec.CommandContext(t.Context(), programs["tools/llamacpp"], "-install").Output()
	if err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer("SERVED", served, "TOKENIZER", m.tokenizer, "MODEL", m.dir, "VENV", filepath.Join(os.Getenv("ENGINE"), "venv"),
		"GGUF", strings.TrimSpace(string(gguf)), "LLAMACPP", programs["tools/llamacpp"]).Replace(tenantsSweep)
	file := filepath.Join(dir, "tenants.yaml")
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	folder, began := filepath.Join(dir, "tenants.sweep"), time.Now()
	cmd := exec.CommandContext(t.Context(), programs["cmd/servebench"], "sweep", file, "-o", folder)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	t.Logf("%s", out)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("the sweep took %.0f min", time.Since(began).Minutes())
	holdMatrix(t, folder)
	holdCauses(t, folder)
}

// A tenancy is what one target did in a run with all of them, on the clock that they share, in nanoseconds.
type tenancy struct {
	prefills [][2]float64 // from when a request was sent to its first token
	tokens   [][]float64  // when the chunks of each answer arrived
}

// holdCauses counts by hand for each target that is said to slow another: gaps of the other are longer on average if they
// end while a prompt of that target waits for its first token.
func holdCauses(t *testing.T, folder string) {
	t.Helper()
	var said struct {
		Sharing []struct {
			Causes struct {
				Slowed map[string][]string `json:"slowed_by"`
			}
		}
	}
	text, err := os.ReadFile(filepath.Join(folder, "sharing.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &said); err != nil || len(said.Sharing) != 1 {
		t.Fatalf("%v: %s", err, text)
	}
	groups := tenancies(t, filepath.Join(folder, "records.jsonl"))
	if len(groups) != 3 {
		t.Fatalf("%d runs with all targets, want 3", len(groups))
	}
	for victim, by := range said.Sharing[0].Causes.Slowed {
		for _, cause := range by {
			during, apart := gapsBeside(groups, victim, cause)
			t.Logf("gaps of %s: %.2f ms while %s has a prompt, %.2f ms otherwise", victim, during, cause, apart)
			if !(during > apart) {
				t.Errorf("%s is said to slow %s: its gaps are %.2f ms then, and %.2f ms otherwise", cause, victim, during, apart)
			}
		}
	}
}

// gapsBeside are the mean gaps of a target in milliseconds while another has a prompt, and otherwise.
func gapsBeside(groups map[string]map[string]*tenancy, victim, cause string) (during, apart float64) {
	var sums, counts [2]float64
	for _, all := range groups {
		for _, tokens := range all[victim].tokens {
			for i := 1; i < len(tokens); i++ {
				k := 0
				if slices.ContainsFunc(all[cause].prefills, func(p [2]float64) bool { return p[0] < tokens[i] && tokens[i] < p[1] }) {
					k = 1
				}
				sums[k] += (tokens[i] - tokens[i-1]) / 1e6
				counts[k]++
			}
		}
	}
	return sums[1] / counts[1], sums[0] / counts[0]
}

// tenancies are the runs with all targets, by group and target.
func tenancies(t *testing.T, records string) map[string]map[string]*tenancy {
	t.Helper()
	groups, runs := map[string]map[string]*tenancy{}, map[string]*tenancy{}
	eachLine(t, records, func(line []byte) {
		var l struct {
			K, Run, Target, With, Group, Phase, Class string
			Solo                                      bool
			Sent, First                               float64
			Gaps                                      []byte
		}
		if json.Unmarshal(line, &l) != nil {
			return
		}
		if l.K == "run" && !l.Solo && l.With == "" {
			runs[l.Run] = &tenancy{}
			if groups[l.Group] == nil {
				groups[l.Group] = map[string]*tenancy{}
			}
			groups[l.Group][l.Target] = runs[l.Run]
		}
		r := runs[l.Run]
		if l.K != "req" || r == nil || l.Phase != "" || l.Class != "" {
			return
		}
		at := l.Sent + l.First
		r.prefills = append(r.prefills, [2]float64{l.Sent, at})
		arrived := []float64{at}
		for gaps := l.Gaps; len(gaps) > 0; {
			gap, n := binary.Varint(gaps)
			if n <= 0 {
				t.Fatal("gaps that are no varints")
			}
			at, gaps = at+float64(gap), gaps[n:]
			arrived = append(arrived, at)
		}
		r.tokens = append(r.tokens, arrived)
	})
	return groups
}

// eachLine calls take with each line of a file.
func eachLine(t *testing.T, name string, take func([]byte)) {
	t.Helper()
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		take(lines.Bytes())
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
}

// holdMatrix makes each cell of the matrix of latencies again, from the lines of the records.
func holdMatrix(t *testing.T, folder string) {
	t.Helper()
	type cell struct{ Ratio, Low, High float64 }
	var said struct {
		Sharing []struct {
			Slowdowns map[string]map[string]struct{ With map[string]cell }
		}
	}
	text, err := os.ReadFile(filepath.Join(folder, "sharing.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &said); err != nil || len(said.Sharing) != 1 {
		t.Fatalf("%v: %s", err, text)
	}
	byHand, cells := latencies(t, filepath.Join(folder, "records.jsonl")), 0
	for measure, of := range byHand {
		for target, row := range said.Sharing[0].Slowdowns[measure] {
			for with, got := range row.With {
				want := ratioByHand(of[target][with], of[target]["alone"])
				if math.Abs(got.Ratio/want[0]-1) > 1e-6 || math.Abs(got.Low/want[1]-1) > 1e-4 || math.Abs(got.High/want[2]-1) > 1e-4 {
					t.Errorf("%s of %s with %s: %v, by hand %v", measure, target, with, got, want)
				}
				cells++
			}
		}
	}
	if want := 2 * 3 * 3; cells != want {
		t.Errorf("%d cells, want %d", cells, want)
	}
}

// latencies are means of the runs in milliseconds, one of each repeat, by measure, target and whom it was with.
func latencies(t *testing.T, records string) map[string]map[string]map[string][]float64 {
	t.Helper()
	type run struct {
		target, with string
		ttft, tpot   []float64
	}
	var order []string
	runs := map[string]*run{}
	eachLine(t, records, func(line []byte) {
		var l struct {
			K, Run, Target, With, Phase, Class string
			Solo                               bool
			First, Last                        float64
			Out                                float64
		}
		if json.Unmarshal(line, &l) != nil {
			return
		}
		switch l.K {
		case "run":
			r := &run{target: l.Target, with: l.With}
			if l.Solo {
				r.with = "alone"
			} else if l.With == "" {
				r.with = "(all)"
			}
			runs[l.Run], order = r, append(order, l.Run)
		case "req":
			if r := runs[l.Run]; l.Phase == "" && l.Class == "" {
				r.ttft = append(r.ttft, l.First/1e6)
				if l.Out > 1 {
					r.tpot = append(r.tpot, (max(l.Last, l.First)-l.First)/(l.Out-1)/1e6)
				}
			}
		}
	})
	all := map[string]map[string]map[string][]float64{"mean_ttft": {}, "mean_tpot": {}}
	for _, id := range order {
		r := runs[id]
		for measure, values := range map[string][]float64{"mean_ttft": r.ttft, "mean_tpot": r.tpot} {
			if all[measure][r.target] == nil {
				all[measure][r.target] = map[string][]float64{}
			}
			sum := 0.0
			for _, v := range values {
				sum += v
			}
			all[measure][r.target][r.with] = append(all[measure][r.target][r.with], sum/float64(len(values)))
		}
	}
	return all
}

// ratioByHand is the geometric mean of three ratios, and its 95 % interval by the table of Student's t.
func ratioByHand(shared, alone []float64) [3]float64 {
	if len(shared) != 3 || len(alone) != 3 {
		return [3]float64{}
	}
	var logs [3]float64
	mean, squares := 0.0, 0.0
	for i := range logs {
		logs[i] = math.Log(shared[i] / alone[i])
		mean += logs[i] / 3
	}
	for _, v := range logs {
		squares += (v - mean) * (v - mean)
	}
	half := 4.302652730 * math.Sqrt(squares/2/3)
	return [3]float64{math.Exp(mean), math.Exp(mean - half), math.Exp(mean + half)}
}
