package preflight

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/servebench/servebench/loadgen"
	"github.com/servebench/servebench/loadgen/sweep"
)

// A fake is a machine that has what the maps have.
type fake struct {
	programs map[string]string // paths by their names
	files    map[string]string // texts by their paths
	printed  map[string]string // what commands print, by a part of their words
	failing  map[string]string // and which fail, with what
	env      map[string]string
	busy     map[string]bool // addresses
	disk     int64           // free
}

func (f *fake) machine() *Machine {
	return &Machine{
		Find: func(_ *sweep.Server, program string) (string, error) {
			if found := f.programs[program]; found != "" {
				return found, nil
			}
			return "", &exec.Error{Name: program, Err: exec.ErrNotFound}
		},
		Run:     f.run,
		Stat:    func(name string) (fs.FileInfo, error) { return fs.Stat(f.tree(), strings.TrimPrefix(name, "/")) },
		Getenv:  func(name string) string { return f.env[name] },
		Listens: func(address string) bool { return f.busy[address] },
		Disk:    func(string) (int64, bool) { return f.disk, true },
	}
}

func (f *fake) tree() fstest.MapFS {
	tree := fstest.MapFS{}
	for name, text := range f.files {
		tree[strings.TrimPrefix(name, "/")] = &fstest.MapFile{Data: []byte(text)}
	}
	return tree
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

// h100 is a machine with one GPU, vLLM and all that the plans need.
func h100() *fake {
	return &fake{
		programs: map[string]string{"vllm": "/venv/bin/vllm", "nvidia-smi": "/bin/nvidia-smi", "nvidia-cuda-mps-control": "/bin/nvidia-cuda-mps-control",
			"python3": "/bin/python3", "servebench": "/bin/servebench", "rm": "/bin/rm", "./guard.sh": "guard.sh"},
		files: map[string]string{},
		printed: map[string]string{
			"vllm --version":  "INFO ready\n0.30.0\n",
			"importlib":       "",
			"nvidia-smi":      "0, GPU-74d4, NVIDIA H100 80GB HBM3, 81559, 81000, 595.10, Disabled, Default\n",
			"libcuda":         "132\n",
			"nvidia-cuda-mps": "",
		},
		failing: map[string]string{"nvidia-cuda-mps-control": "Cannot find MPS control daemon process"},
		disk:    100e9,
	}
}

// plan reads the text of an experiment. Its loads know where they go and what they watch.
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
		case "--gpu-metrics":
			p.Watch.GPU = value
		}
	}
	return &sweep.Load{Plan: p}, nil
}
