package preflight

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

// shared is two servers under MPS, and one that is alone.
const shared = `
repeats: 3
needs: {engine: ["vllm>=0.29"], python: [torch], gpu: {memory: 40, sms: 132, driver: 590}}
arms:
  - name: alone
    url: http://127.0.0.1:8100
    command: vllm serve org/model --port 8100
  - name: both
    servers:
      - ready: http://127.0.0.1:8100/health
        command: [vllm, serve, org/model, --port, "8100", --gpu-memory-utilization, "0.45"]
        env: &env {CUDA_MPS_PIPE_DIRECTORY: /tmp/pipe}
      - ready: http://127.0.0.1:8101/health
        command: [vllm, serve, org/model, --port, "8101", --gpu-memory-utilization=0.45]
        env: *env
between: {command: CUDA_MPS_PIPE_DIRECTORY=/tmp/pipe ./guard.sh}
`

// elastic is a server without and with kvcached.
const elastic = `
repeats: 3
load: {dataset-path: data.json}
arms:
  - name: without
    url: http://127.0.0.1:8000
    command: &serve |
      rm -f /dev/shm/$KVCACHED_IPC_NAME # of a server that was killed
      exec vllm serve org/model --port 8000 --enable-sleep-mode
    env: {ENABLE_KVCACHED: "false", KVCACHED_IPC_NAME: pool}
  - name: with
    url: http://127.0.0.1:8000
    command: *serve
    env: {ENABLE_KVCACHED: "true", KVCACHED_IPC_NAME: pool}
`

func lines(r Report, state State) []string {
	var all []string
	for _, f := range r {
		if f.State == state {
			all = append(all, strings.TrimSuffix(fmt.Sprintf("%s: %s: %s", f.Topic, f.Text, f.Remedy), ": "))
		}
	}
	return all
}

func TestNothingIsMissingWhereAllIsThere(t *testing.T) {
	for name, text := range map[string]string{"shared": shared, "elastic": elastic} {
		r := Run(t.Context(), plan(t, text), t.TempDir(), h100().machine())
		if found := lines(r, Missing); found != nil {
			t.Errorf("%s: %q", name, found)
		}
	}
}

// Each row takes one thing away from a machine that has everything; one line names it.
func TestEachAbsenceHasALineWithItsRemedy(t *testing.T) {
	const packages = "importlib"
	for _, row := range []struct {
		plan string
		take func(*fake)
		want []string
	}{
		{shared, func(f *fake) { f.printed["nvidia-smi"] = "0, GPU-1, NVIDIA L4, 23034, 22000, 595.10, [N/A], Default\n" },
			[]string{"GPU: GPU 0 has 24 GB, 40 GB are needed: take a larger one"}},
		{shared, func(f *fake) {
			f.printed["nvidia-smi"] = "0, GPU-1, NVIDIA H100, 81559, 20000, 580.65, Enabled, Exclusive_Process\n"
		}, []string{"GPU: GPU 0 has driver 580.65, 590 or newer is needed: update it",
			"GPU: GPU 0 has 21.0 of 85.5 GB free, arm alone asks for 78.7 GB: end what uses it: nvidia-smi names the processes",
			"GPU: GPU 0 is divided by MIG: as root: nvidia-smi -i 0 -mig 0"}},
		{shared, func(f *fake) { delete(f.programs, "nvidia-smi") },
			[]string{"GPU: no GPU is seen, as nvidia-smi is not in PATH: check again where a GPU and NVIDIA's driver are; it is to have 40 GB or more, 132 SMs, driver 590 or newer"}},
		{shared, func(f *fake) { f.failing["nvidia-smi"] = "no answer within 10s" },
			[]string{"GPU: no GPU is seen, as nvidia-smi: no answer within 10s: check again where a GPU and NVIDIA's driver are; it is to have 40 GB or more, 132 SMs, driver 590 or newer"}},
		{shared, func(f *fake) { f.printed["libcuda"] = "108\n" },
			[]string{"GPU: it has 108 SMs, 132 are needed: take another one, or leave the arm out"}},
		{shared, func(f *fake) { delete(f.programs, "nvidia-cuda-mps-control") },
			[]string{"program: nvidia-cuda-mps-control is not there (not in PATH): it comes with NVIDIA's driver for Linux"}},
		{shared, func(f *fake) { f.files["/tmp/pipe/control"] = ""; clear(f.failing) },
			[]string{"MPS: a daemon runs at /tmp/pipe already: echo quit | CUDA_MPS_PIPE_DIRECTORY=/tmp/pipe nvidia-cuda-mps-control"}},
		{shared, func(f *fake) { f.files["/tmp/pipe/control"] = "" }, nil}, // the folder alone is no daemon
		{shared, func(f *fake) { delete(f.programs, "./guard.sh") },
			[]string{"program: ./guard.sh is not there (not in PATH): paths are relative to the folder of the experiment's file"}},
		{shared, func(f *fake) { f.busy = map[string]bool{"127.0.0.1:8101": true} },
			[]string{"port: 127.0.0.1:8101 is in use: end what listens there: ss -ltnp 'sport = :8101'"}},
		{shared, func(f *fake) {
			f.printed[packages] = `{"versions": {"vllm": "0.11.2", "torch": "2.10"}, "hook": false, "ignored": []}`
		},
			[]string{"engine: vllm is 0.11.2, vllm>=0.29 is needed: pip install 'vllm>=0.29'"}},
		{shared, func(f *fake) { f.printed[packages] = `{"versions": {"vllm": "0.30.0"}, "hook": false, "ignored": []}` },
			[]string{"python: torch is not there for python3: pip install torch, or name another Python by PYTHON"}},
		{strings.Replace(shared, "0.45\"]", "0.55\"]", 1), func(*fake) {},
			[]string{"GPU: the servers of arm both ask for 1.00 of its memory, at most 0.94 fit: lower --gpu-memory-utilization to 0.47 each"}},
		{strings.Replace(shared, "repeats: 3", "repeats: 2", 1), func(*fake) {},
			[]string{"repeats: NO VERDICT with 2 repeats: to compare two arms, servebench compare needs 3; 1 more takes about 5 min, also later: the same command with 3 repeats makes only those: raise repeats in the file"}},
		{strings.ReplaceAll(shared, "8101", "8100"), func(*fake) {},
			[]string{"port: two servers of arm both want 127.0.0.1:8100: give each server another one"}},
		{shared, func(f *fake) { clear(f.models) },
			[]string{"model: org/model is not in the cache of Hugging Face (no refs/main): hf download org/model"}},
		{strings.Replace(shared, "needs: {", "needs: {gated: [org/model], ", 1), func(f *fake) { clear(f.models); clear(f.env) },
			[]string{"model: org/model is not in the cache of Hugging Face (no refs/main): hf download org/model",
				"model: there is no HF_TOKEN, which org/model needs: accept its licence at https://huggingface.co/org/model, and set HF_TOKEN to a token of yours"}},
		{strings.Replace(shared, "needs: {", "needs: {files: [spec.json], env: [KEY], programs: [jq], ", 1), func(*fake) {},
			[]string{"program: jq is not there (not in PATH): install it, or put its folder into PATH",
				"file: spec.json: no such file: put it into the folder of the experiment's file",
				"variable: KEY is not set: export KEY=..."}},
		{elastic, func(f *fake) {
			f.printed[packages] = `{"versions": {"vllm": "0.31.1", "kvcached": "0.1.6"}, "hook": true, "ignored": []}`
		},
			[]string{"kvcached: kvcached 0.1.6 patches vllm>=0.17,<0.31, and this is 0.31.1: pip install 'vllm>=0.17,<0.31'"}},
		{elastic, func(f *fake) {
			f.printed[packages] = `{"versions": {"vllm": "0.24.0", "kvcached": "0.1.6"}, "hook": true, "ignored": []}`
		},
			[]string{`kvcached: kvcached 0.1.6 patches vLLM 0.24.0 only without Model Runner V2 (arm with): put VLLM_USE_V2_MODEL_RUNNER: "0" into the env of the servers`}},
		{elastic, func(f *fake) { f.printed[packages] = `{"versions": {"vllm": "0.30.0"}, "hook": false, "ignored": []}` },
			[]string{"kvcached: kvcached is not there for vllm (arm with): pip install kvcached --no-build-isolation, after vLLM"}},
		{elastic, func(f *fake) {
			f.printed[packages] = `{"versions": {"vllm": "0.30.0", "kvcached": "0.1.6"}, "hook": false, "ignored": []}`
		},
			[]string{"kvcached: kvcached_autopatch.pth is not in site-packages of /venv/bin/python3, so vLLM would run without kvcached: pip install --force-reinstall --no-deps --no-build-isolation kvcached==0.1.6"}},
		{elastic, func(f *fake) { f.failing["kvcached.vmm"] = "ImportError: libcuda.so.1" },
			[]string{"kvcached: kvcached 0.1.6 cannot be imported (ImportError: libcuda.so.1): pip install --force-reinstall --no-deps --no-build-isolation kvcached==0.1.6, where CUDA's libraries are"}},
		{elastic, func(f *fake) { f.files["/dev/shm/pool_g1"] = strings.Repeat("x", 24) },
			[]string{"kvcached: /dev/shm/pool_g1 is there, of a server that runs or was killed: stop its server, or rm /dev/shm/pool_g1"}},
		{elastic, func(f *fake) { delete(f.files, "data.json") },
			[]string{"dataset: data.json: no such file: put it there; paths are relative to the folder of the experiment's file"}},
		{elastic, func(f *fake) { f.memory = 10e9 },
			[]string{"memory: arm without: servers that sleep at level 1 put 16.0 GB of weights into memory, and 10.0 GB are free: take a machine with more, or sleep at level 2",
				"memory: arm with: servers that sleep at level 1 put 16.0 GB of weights into memory, and 10.0 GB are free: take a machine with more, or sleep at level 2"}},
		{elastic, func(f *fake) { f.memory = 1e6; f.models["org/model"] = 1 },
			[]string{"disk: the records take about 16 MB, and 1 MB are free: choose another folder with -o"}},
		{strings.Replace(elastic, "KVCACHED_IPC_NAME: pool}", "VLLM_MADE_UP: x, KVCACHED_IPC_NAME: pool}", 1), func(f *fake) {
			f.printed[packages] = `{"versions": {"vllm": "0.30.0", "kvcached": "0.1.6"}, "hook": true, "ignored": ["VLLM_MADE_UP"]}`
		}, []string{"engine: vLLM 0.30.0 does not know VLLM_MADE_UP and would ignore it (arm without): take a vLLM that has it, or leave the arm out"}},
		{"arms: [{name: up, url: 'http://127.0.0.1:8000'}]\n", func(*fake) {},
			[]string{"server: arm up: nothing listens at 127.0.0.1:8000: start it, or give the arm a command"}},
		{"arms: [{name: up, url: 'http://127.0.0.1:8000'}]\n", func(f *fake) { f.busy = map[string]bool{"127.0.0.1:8000": true} }, nil},
		{"arms: [{name: up, url: 'http://127.0.0.1:8000'}]\nload: {gpu-metrics: nvidia-smi}\n", func(f *fake) {
			f.busy = map[string]bool{"127.0.0.1:8000": true}
			clear(f.programs)
		}, []string{"program: nvidia-smi is not there (not in PATH): it comes with NVIDIA's driver for Linux"}},
	} {
		f := h100()
		row.take(f)
		got := lines(Run(t.Context(), plan(t, row.plan), t.TempDir(), f.machine()), Missing)
		if !slices.Equal(got, row.want) {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(row.want, "\n"))
		}
	}
}

// nvidia-smi does not know the memory of a GPU that shares the machine's, as of a DGX Spark or a Jetson,
// and may not see more. That is no lack of it.
func TestWhatIsNotKnownIsNotMissing(t *testing.T) {
	for _, unknown := range []string{"[N/A]", "N/A", "[Not Supported]", "[Unknown Error]", "[Insufficient Permissions]", "", "nan", "-1"} {
		f := h100()
		f.printed["nvidia-smi"] = strings.ReplaceAll("0, GPU-1, NVIDIA GB10, ?, ?, ?, ?, ?\n", "?", unknown)
		f.printed["importlib"] = `{"versions": {"vllm": "dev", "torch": "unknown"}, "hook": false, "ignored": []}`
		r := Run(t.Context(), plan(t, shared), t.TempDir(), f.machine())
		if missing := lines(r, Missing); missing != nil {
			t.Errorf("%q: %q", unknown, missing)
		}
		notes := strings.Join(lines(r, Note), "\n")
		for _, want := range []string{"nvidia-smi does not know how many GB GPU 0 has, which may share the machine's memory: 40 are needed", "whether GPU 0 has driver 590 or newer is not known",
			"fits into GPU 0 is not known", `vllm says its version is "dev", so whether it is vllm>=0.29 is not known`} {
			if !strings.Contains(notes, want) {
				t.Errorf("%q: no %q in\n%s", unknown, want, notes)
			}
		}
		if fine := strings.Join(lines(r, Fine), "\n"); strings.Contains(fine, " 0 GB") || strings.Contains(fine, " 0.0 GB") {
			t.Errorf("%q: %s", unknown, fine)
		}
	}
	f := h100()
	f.printed["importlib"] = `{"versions": {"vllm": "dev", "kvcached": "0.1.6"}, "hook": true, "ignored": []}`
	if missing := lines(Run(t.Context(), plan(t, elastic), t.TempDir(), f.machine()), Missing); missing != nil {
		t.Errorf("a vLLM from sources: %q", missing)
	}
	f = h100()
	f.memory, f.limit = 10e9, "memory.max (10.0 GiB)"
	if missing := strings.Join(lines(Run(t.Context(), plan(t, elastic), t.TempDir(), f.machine()), Missing), "\n"); !strings.Contains(missing, "10.0 GB are free under memory.max (10.0 GiB): raise the limit") {
		t.Errorf("a container's limit: %s", missing)
	}
}

// The cache and the token are where huggingface_hub looks.
func TestTheCacheIsHuggingFaces(t *testing.T) {
	gated := strings.Replace(shared, "needs: {", "needs: {gated: [org/model], ", 1)
	f := h100()
	clear(f.models)
	f.env = map[string]string{"DATA": "/data", "HF_HOME": "$DATA/hf"}
	f.files["/data/hf/token"] = "secret"
	want := []string{"model: org/model is not in the cache of Hugging Face (no refs/main): hf download org/model"}
	if got := lines(Run(t.Context(), plan(t, gated), t.TempDir(), f.machine()), Missing); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	for variable, elsewhere := range map[string]bool{
		"HF_HOME: /data/hf": false, `HF_HUB_CACHE: "${DATA}/hf/hub"`: false, "XDG_CACHE_HOME: /other": false,
		"HF_HOME: /other": true, "HUGGINGFACE_HUB_CACHE: /other": true,
	} {
		text := strings.Replace(shared, "env: &env {", "env: &env {"+variable+", ", 1)
		notes := strings.Join(lines(Run(t.Context(), plan(t, text), t.TempDir(), f.machine()), Note), "\n")
		if strings.Contains(notes, "the cache that its server's env names is not checked") != elsewhere {
			t.Errorf("%s is another cache: %v, want %v; notes %s", variable, !elsewhere, elsewhere, notes)
		}
	}
}

// A server takes the GPUs of CUDA_VISIBLE_DEVICES, or as many as it divides its model over.
func TestServersOnSeveralGPUs(t *testing.T) {
	const text = `
arms:
  - name: two
    servers:
      - {ready: "http://h:1", command: [vllm, serve, org/model], env: {CUDA_VISIBLE_DEVICES: "0"}}
      - {ready: "http://h:2", command: [vllm, serve, org/model, -tp, "2", --gpu-memory-utilization, "0.9"], env: {CUDA_VISIBLE_DEVICES: "1,GPU-c"}}
`
	f := h100()
	f.printed["nvidia-smi"] = "0, GPU-a, H100, 80000, 79000, 595.1, Disabled, Default\n1, GPU-b, H100, 80000, 79000, 595.1, Disabled, Default\n" +
		"2, GPU-c, H100, 80000, 60000, 595.1, Disabled, Default\n"
	want := []string{"GPU: GPU 2 has 62.9 of 83.9 GB free, arm two asks for 75.5 GB: end what uses it: nvidia-smi names the processes"}
	if got := lines(Run(t.Context(), plan(t, text), t.TempDir(), f.machine()), Missing); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// A vLLM for CPUs wants no GPU, and a script around vLLM is asked for its version.
func TestWhatIsNotKnownIsANote(t *testing.T) {
	f := h100()
	f.files["/venv/bin/vllm"] = "#!/bin/sh\nexec docker run vllm \"$@\"\n"
	f.printed["vllm --version"] = "INFO ready\n0.33.0+cpu\n"
	delete(f.programs, "nvidia-smi")
	r := Run(t.Context(), plan(t, elastic), t.TempDir(), f.machine())
	if got := lines(r, Missing); got != nil {
		t.Errorf("missing %q", got)
	}
	want := "kvcached: /venv/bin/vllm is no script of Python, so whether it has kvcached is not known (arm with)"
	if got := lines(r, Note); len(got) != 2 || got[0] != want {
		t.Errorf("notes %q, want %q and the time", got, want)
	}
}

func TestCommandsOfAShell(t *testing.T) {
	env := func(name string) string { return map[string]string{"PORT": "8100", "SERVER": "first"}[name] }
	for _, row := range []struct{ text, want string }{
		{"rm -f /dev/shm/x # away\nexec vllm serve m --port $PORT \\\n  --flag", "[[rm -f /dev/shm/x] [vllm serve m --port 8100 --flag]]"},
		{`echo "starting $SERVER"; exec ../mps/daemon.sh vllm serve m`, "[[../mps/daemon.sh vllm serve m]]"},
		{`if test -e x; then f; fi; f() { jq .; }; A=1 ./guard.sh a "$SERVER"`, "[[jq .] [./guard.sh a first]]"},
		{"vllm serve m --port ${port2} $(date)", "[[vllm serve m --port ${port2}] [date]]"},
		{"for (", "[]"},
	} {
		if got := fmt.Sprint(calls([]string{"sh", "-c", row.text}, env)); got != row.want {
			t.Errorf("%q: %s, want %s", row.text, got, row.want)
		}
	}
	if got := fmt.Sprint(programsOf([]string{"../mps/daemon.sh", "-S", "./partition.sh", "8", "vllm", "serve", "org/model"})); got != "[../mps/daemon.sh ./partition.sh vllm]" {
		t.Error(got)
	}
}

func TestRequirements(t *testing.T) {
	for _, row := range []struct {
		text, version string
		holds         bool
	}{
		{"vllm>=0.29,<0.31", "0.30.0", true}, {"vllm>=0.29,<0.31", "0.31.0", false}, {"vllm>=0.29, <0.31", "0.28.9", false},
		{"vllm==0.33", "0.33.0+cpu", true}, {"vllm!=0.33", "0.33.0", false}, {"vllm<=0.33", "0.33.1rc2", false}, {"vllm", "0.1", true},
		{"vllm>0.9", "0.10.0", true},
	} {
		if r, ok := require(row.text); !ok || r.name != "vllm" || r.holds(row.version) != row.holds {
			t.Errorf("%s of %s: %v, %v", row.version, row.text, r, ok)
		}
	}
	for _, text := range []string{"", ">=1", "vllm~=0.3", "vllm>=x"} {
		if _, ok := require(text); ok {
			t.Errorf("%q is understood", text)
		}
	}
}

// No finding takes more than one line, whatever a program prints.
func TestAReportHasALineForEachFinding(t *testing.T) {
	var out strings.Builder
	r := Report{fine("port", "8000"), missing("GPU", "look", "two\nlines\x1b[2J"), note("time", "a minute")}
	if err := r.Write(&out); err != nil {
		t.Fatal(err)
	}
	want := "fine    port      8000\nMISSING GPU       two lines�[2J: look\nnote    time      a minute\n1 missing, 1 fine, 1 note\n"
	if out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}

// The time limit ends a command that hangs, also if a child keeps its output open.
func TestACommandThatHangsIsLeft(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("there is no sh")
	}
	hangs := Command{Words: []string{sh, "-c", "sleep 20 & exec sleep 20"}}
	if _, err := limited(time.Millisecond)(t.Context(), hangs); err == nil || err.Error() != "no answer within 1ms" {
		t.Errorf("%v", err)
	}
	if out, err := limited(patience)(t.Context(), Command{Words: []string{sh, "-c", "cat; echo $A"}, Env: []string{"A=b"}, Input: "in "}); out != "in b\n" || err != nil {
		t.Errorf("%q, %v", out, err)
	}
	if _, err := limited(patience)(t.Context(), Command{Words: []string{sh, "-c", "echo one >&2; echo two >&2; exit 3"}}); err == nil || err.Error() != "two" {
		t.Errorf("%v, want the last line", err)
	}
}
