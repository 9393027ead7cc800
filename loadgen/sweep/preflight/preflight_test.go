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
needs: {vllm: {from: 0.29}, python: [torch], gpu: {memory: 40, sms: 132, driver: 590}}
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

// elastic is a server without kvcached, and two with it, which reserve no memory.
const elastic = `
repeats: 3
needs: {vllm: {from: 0.29, below: 0.31}}
arms:
  - name: without
    url: http://127.0.0.1:8000
    command: |
      rm -f /dev/shm/$KVCACHED_IPC_NAME # of a server that was killed
      exec vllm serve org/model --port 8000
    env: {ENABLE_KVCACHED: "false", KVCACHED_IPC_NAME: pool}
  - name: with
    servers:
      - {ready: "http://127.0.0.1:8000", command: [vllm, serve, org/model, --port, "8000"], env: {ENABLE_KVCACHED: "true"}}
      - {ready: "http://127.0.0.1:8001", command: [vllm, serve, org/model, --port, "8001"], env: {ENABLE_KVCACHED: "true"}}
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
		{shared, func(f *fake) { f.printed["vllm --version"] = "0.11.2\n" },
			[]string{"engine: vLLM is 0.11.2, vllm>=0.29 is needed: pip install 'vllm>=0.29'"}},
		{elastic, func(f *fake) { f.printed["vllm --version"] = "0.31.0\n" },
			[]string{"engine: vLLM is 0.31.0, vllm>=0.29,<0.31 is needed: pip install 'vllm>=0.29,<0.31'"}},
		{elastic, func(f *fake) { delete(f.programs, "vllm") },
			[]string{"program: vllm is not there (not in PATH): pip install 'vllm>=0.29,<0.31'"}},
		{shared, func(f *fake) { f.failing["importlib"] = "no such module" },
			[]string{"python: torch is not there for python3 (no such module): install it, or name another Python by PYTHON"}},
		{strings.Replace(shared, "0.45\"]", "0.55\"]", 1), func(*fake) {},
			[]string{"GPU: the servers of arm both ask for 1.00 of its memory, at most 0.94 fit: lower --gpu-memory-utilization to 0.47 each"}},
		{strings.Replace(shared, "repeats: 3", "repeats: 2", 1), func(*fake) {},
			[]string{"repeats: NO VERDICT with 2 repeats: to compare two arms, servebench compare needs 3; 1 more takes about 5 min, also later: the same command with 3 repeats makes only those: raise repeats in the file"}},
		{strings.ReplaceAll(shared, "8101", "8100"), func(*fake) {},
			[]string{"port: two servers of arm both want 127.0.0.1:8100: give each server another one"}},
		{strings.Replace(shared, "needs: {", "needs: {programs: [jq], ", 1), func(*fake) {},
			[]string{"program: jq is not there (not in PATH): install it, or put its folder into PATH"}},
		{elastic, func(f *fake) { f.disk = 1e6 },
			[]string{"disk: the records take about 16 MB, and 1 MB are free: choose another folder with -o"}},
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
		f.printed["vllm --version"] = "dev\n"
		r := Run(t.Context(), plan(t, shared), t.TempDir(), f.machine())
		if missing := lines(r, Missing); missing != nil {
			t.Errorf("%q: %q", unknown, missing)
		}
		notes := strings.Join(lines(r, Note), "\n")
		for _, want := range []string{"nvidia-smi does not know how many GB GPU 0 has, which may share the machine's memory: 40 are needed", "whether GPU 0 has driver 590 or newer is not known",
			"fits into GPU 0 is not known", `vLLM says its version is "dev", so whether it is vllm>=0.29 is not known`} {
			if !strings.Contains(notes, want) {
				t.Errorf("%q: no %q in\n%s", unknown, want, notes)
			}
		}
		if fine := strings.Join(lines(r, Fine), "\n"); strings.Contains(fine, " 0 GB") || strings.Contains(fine, " 0.0 GB") {
			t.Errorf("%q: %s", unknown, fine)
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

// The build of vLLM for CPUs wants no GPU.
func TestAVLLMForCPUsWantsNoGPU(t *testing.T) {
	f := h100()
	f.printed["vllm --version"] = "0.30.0+cpu\n"
	delete(f.programs, "nvidia-smi")
	if got := lines(Run(t.Context(), plan(t, elastic), t.TempDir(), f.machine()), Missing); got != nil {
		t.Errorf("missing %q", got)
	}
}

// A vLLM that does not say its version is noted, and is for a GPU.
func TestAVLLMThatDoesNotAnswerIsANote(t *testing.T) {
	f := h100()
	f.failing["vllm --version"] = "no answer within 1m0s"
	r := Run(t.Context(), plan(t, elastic), t.TempDir(), f.machine())
	if got := lines(r, Missing); got != nil {
		t.Errorf("missing %q", got)
	}
	want := "engine: vllm --version does not answer (no answer within 1m0s)"
	if got := lines(r, Note); len(got) != 2 || got[0] != want {
		t.Errorf("notes %q, want %q and the time", got, want)
	}
	if fine := strings.Join(lines(r, Fine), "\n"); !strings.Contains(fine, "GPU: GPU 0 is NVIDIA H100") {
		t.Errorf("no GPU in\n%s", fine)
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

func TestReleases(t *testing.T) {
	for _, row := range []struct {
		wanted  releases
		version string
		has     bool
	}{
		{releases{"0.29", "0.31"}, "0.30.0", true}, {releases{"0.29", "0.31"}, "0.31.0", false}, {releases{"0.29", "0.31"}, "0.28.9", false},
		{releases{"0.29", "0.31"}, "0.29.0+cpu", true}, {releases{"0.9", ""}, "0.10.0", true}, {releases{"", "0.33.2"}, "0.33.1rc2", true}, {releases{}, "0.1", true},
	} {
		if got := row.wanted.have(row.version); got != row.has {
			t.Errorf("%s has %s: %v", row.wanted, row.version, got)
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
