package preflight

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/servebench/servebench/loadgen"
	"github.com/servebench/servebench/loadgen/host"
	"github.com/servebench/servebench/loadgen/sweep"
)

// A fake is a machine that has what the maps have.
type fake struct {
	programs map[string]string // paths by their names
	files    map[string]string // texts by their paths
	printed  map[string]string // what commands print, by a part of their words
	failing  map[string]string // and which fail, with what
	env      map[string]string
	models   map[string]int64 // weights
	busy     map[string]bool  // addresses
	memory   int64            // free, and disk as well
	limit    string           // of the memory
}

func (f *fake) machine() *Machine {
	return &Machine{
		Find: func(_ *sweep.Server, program string) (string, error) {
			if found := f.programs[program]; found != "" {
				return found, nil
			}
			return "", &exec.Error{Name: program, Err: exec.ErrNotFound}
		},
		Run:  f.run,
		Stat: func(name string) (fs.FileInfo, error) { return fs.Stat(f.tree(), strings.TrimPrefix(name, "/")) },
		Read: func(name string) ([]byte, error) { return fs.ReadFile(f.tree(), strings.TrimPrefix(name, "/")) },
		Glob: func(pattern string) ([]string, error) {
			return rooted(fs.Glob(f.tree(), strings.TrimPrefix(pattern, "/")))
		},
		LookupEnv: func(name string) (string, bool) {
			value, set := f.env[name]
			return value, set
		},
		Listens: func(address string) bool { return f.busy[address] },
		Model: func(name string) (int64, error) {
			if weights, ok := f.models[name]; ok {
				return weights, nil
			}
			return 0, errors.New("no refs/main")
		},
		Dataset: func(name string) error { return fmt.Errorf("%s: fetch it with hf download %[1]s", name) },
		Disk:    func(string) (int64, bool) { return f.memory, true },
		Memory:  func() (host.Memory, bool) { return host.Memory{Free: f.memory, Limit: f.limit}, true },
	}
}

func (f *fake) tree() fstest.MapFS {
	tree := fstest.MapFS{}
	for name, text := range f.files {
		tree[strings.TrimPrefix(name, "/")] = &fstest.MapFile{Data: []byte(text)}
	}
	return tree
}

func rooted(names []string, err error) ([]string, error) {
	for i := range names {
		names[i] = path.Join("/", names[i])
	}
	return names, err
}

func (f *fake) run(_ context.Context, c Command) (string, error) {
	words := strings.Join(c.Words, " ")
	if strings.Contains(words, mpsControl) && (c.Input != "get_server_list\n" || !slices.Equal(c.Env, []string{"CUDA_MPS_PIPE_DIRECTORY=/tmp/pipe"})) {
		return "", fmt.Errorf("unknown command %q", c.Input)
	}
	for part, why := range f.failing {
		if strings.Contains(words, part) {
			return "", errors.New(why)
		}
	}
	for part, out := range f.printed {
		if strings.Contains(words, part) {
			return out, nil
		}
	}
	return "", fmt.Errorf("%s: nothing is known of it", c.Words[0])
}

// h100 is a machine with one GPU, vLLM, kvcached and all that the examples need.
func h100() *fake {
	return &fake{
		programs: map[string]string{"vllm": "/venv/bin/vllm", "nvidia-smi": "/bin/nvidia-smi", "nvidia-cuda-mps-control": "/bin/nvidia-cuda-mps-control",
			"python3": "/bin/python3", "servebench": "/bin/servebench", "rm": "/bin/rm", "./guard.sh": "guard.sh"},
		files: map[string]string{"/venv/bin/vllm": "#!/venv/bin/python3\nfrom vllm import main\n", "data.json": "[]"},
		printed: map[string]string{
			"importlib":       `{"versions": {"vllm": "0.30.0", "kvcached": "0.1.6", "torch": "2.10.0"}, "hook": true, "ignored": []}`,
			"kvcached.vmm":    "",
			"nvidia-smi":      "0, GPU-74d4, NVIDIA H100 80GB HBM3, 81559, 81000, 595.10, Disabled, Default\n",
			"libcuda":         "132\n",
			"nvidia-cuda-mps": "",
		},
		failing: map[string]string{"nvidia-cuda-mps-control": "Cannot find MPS control daemon process"},
		env:     map[string]string{"HF_TOKEN": "secret"},
		models:  map[string]int64{"org/model": 16e9},
		memory:  100e9,
	}
}

// plan reads the text of an experiment. Its loads know where they go and where their data is.
func plan(t *testing.T, text string) *sweep.Plan {
	t.Helper()
	p, err := sweep.Parse("plan.yaml", strings.NewReader(text), &sweep.Flags{Words: anyFlag, Load: anyLoad})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func anyFlag(name string, value *yaml.Node) (string, []string, error) {
	return name, []string{"--" + name + "=" + value.Value}, nil
}

func anyLoad(args, _ []string) (*sweep.Load, error) {
	p := &loadgen.Plan{Workload: loadgen.Workload{Dataset: "sharegpt", NumPrompts: 1000}, Traffic: loadgen.Traffic{RequestRate: 10, Duration: time.Minute}}
	for _, arg := range args {
		switch name, value, _ := strings.Cut(arg, "="); name {
		case "--base-url":
			p.Server.BaseURL = value
		case "--dataset-path":
			p.Workload.Path = value
		case "--dataset-name":
			p.Workload.Dataset = value
		case "--gpu-metrics":
			p.Watch.GPU = value
		}
	}
	return &sweep.Load{Plan: p}, nil
}
