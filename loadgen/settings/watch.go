package settings

import (
	"fmt"
	"os/exec"
	"time"

	"github.com/servebench/servebench/loadgen/naming"
)

// Watch says what to sample during the load.
type Watch struct {
	// Server samples the server's /metrics.
	Server bool

	// URLs are the server's replicas, without /metrics at their ends; nil for the server itself.
	URLs []string

	// Every is the interval between samples of the server; 0 means one second.
	Every time.Duration

	// GPU is NvidiaSMI, or the URL of a DCGM exporter without /metrics; empty for nothing.
	GPU string

	// GPUs are the indexes to ask nvidia-smi for, as 0,1; empty for all GPUs.
	GPUs string

	// OwnGPU says that GPU and GPUs are of this target alone. All other targets of a run share the
	// GPUs of the whole plan.
	OwnGPU bool

	// Profile makes the server profile the load.
	Profile bool

	// Pool is the name of the server's kvcached pool, KVCACHED_IPC_NAME, or the path of its file;
	// empty for nothing. In it, TargetMark stands for the name of the target.
	Pool string
}

// TargetMark stands for the name of the target in Watch.Pool.
const TargetMark = "{target}"

// NvidiaSMI is the program that reports on GPUs, and its name in Watch.GPU.
const NvidiaSMI = "nvidia-smi"

// Any reports whether anything is sampled.
func (w *Watch) Any() bool { return w.Server || w.GPU != "" || w.Pool != "" }

// Check checks that this machine can report on GPUs, if the plan asks for it. by spells the setting that an
// error names.
func (w *Watch) Check(by naming.Spelling) error {
	_, err := w.NvidiaSMI(by)
	return err
}

// NvidiaSMI is the path of nvidia-smi, empty if the plan does not ask for it. by spells the setting that an
// error names.
func (w *Watch) NvidiaSMI(by naming.Spelling) (string, error) {
	if w.GPU != NvidiaSMI {
		return "", nil
	}
	path, err := exec.LookPath(NvidiaSMI)
	if err != nil {
		return "", fmt.Errorf("%s: %w: it may also be http://HOST:9400/metrics of a DCGM exporter",
			by.Argument(naming.GPU), err)
	}
	return path, nil
}
