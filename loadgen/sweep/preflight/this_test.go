package preflight

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// write writes a file, with its folders.
func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// The probe tells versions without importing anything, and which variables no source of vLLM names.
func TestTheProbeReadsAnEnvironment(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("there is no python3")
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "vllm", "__init__.py"), "raise SystemExit('imported')\n")
	write(t, filepath.Join(dir, "vllm", "envs.py"), "VLLM_KNOWN = 1\n")
	write(t, filepath.Join(dir, "vllm", "worker", "gpu.py"), "os.getenv('VLLM_DEEP')\n")
	write(t, filepath.Join(dir, "vllm-0.30.0.dist-info", "METADATA"), "Metadata-Version: 2.1\nName: vllm\nVersion: 0.30.0\n")
	t.Setenv("PYTHONPATH", dir)
	l := &look{ctx: t.Context(), Machine: This()}
	e := &engine{python: python}
	l.askPython(e, map[string][]string{"packages": {"vllm", "no-such-package"}, "variables": {"VLLM_KNOWN", "VLLM_DEEP", "VLLM_MADE_UP"}})
	if e.wrong != "" || len(e.Versions) != 1 || e.Versions["vllm"] != "0.30.0" || e.Hook || !slices.Equal(e.Ignored, []string{"VLLM_MADE_UP"}) {
		t.Errorf("%+v", e)
	}
	l.askPython(e, nil)
	if !strings.HasPrefix(e.wrong, python+": ") {
		t.Errorf("%q, want what went wrong", e.wrong)
	}
}

func TestListens(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	if !listens(address) {
		t.Error("a port in use is free")
	}
	if l.Close(); listens(address) {
		t.Error("a free port is in use")
	}
}

func TestModelsAreFoundWithTheirWeights(t *testing.T) {
	hub := t.TempDir()
	t.Setenv("HF_HUB_CACHE", hub)
	if _, err := model("org/name"); err == nil {
		t.Error("a model is there")
	}
	cache := filepath.Join(hub, "models--org--name")
	write(t, filepath.Join(cache, "refs", "main"), "abc\n")
	write(t, filepath.Join(cache, "snapshots", "abc", "tokenizer.json"), "{}")
	if _, err := model("org/name"); err == nil || !strings.Contains(err.Error(), "no config.json") {
		t.Errorf("%v", err)
	}
	write(t, filepath.Join(cache, "snapshots", "abc", "config.json"), "{}")
	write(t, filepath.Join(cache, "snapshots", "abc", "a.safetensors"), "1234")
	write(t, filepath.Join(cache, "snapshots", "abc", "b.safetensors"), "12")
	for _, name := range []string{"org/name", filepath.Join(cache, "snapshots", "abc")} {
		if weights, err := model(name); weights != 6 || err != nil {
			t.Errorf("%s: %d, %v", name, weights, err)
		}
	}
}

func TestTheDiskOfAFolderThatIsNotThereYet(t *testing.T) {
	here, known := freeDisk(t.TempDir())
	_, also := freeDisk(filepath.Join(t.TempDir(), "a", "b"))
	if known != also || known && here <= 0 {
		t.Errorf("%d, %v, %v", here, known, also)
	}
}
