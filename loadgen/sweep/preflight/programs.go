package preflight

import (
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/servebench/servebench/loadgen"
	"github.com/servebench/servebench/loadgen/sweep"
)

// The programs of NVIDIA's driver.
const (
	mpsControl = "nvidia-cuda-mps-control"
	nvidiaSMI  = loadgen.NvidiaSMI
)

// programs looks for the programs of all commands, for what needs name, and for what watches GPUs.
func programs(l *look) (all []Finding) {
	var there, seen []string
	look := func(s *sweep.Server, names ...string) {
		for _, name := range names {
			place := s.Folder + "\n" + s.Env["PATH"] + "\n" + name
			if name == "" || slices.Contains(seen, place) {
				continue
			}
			seen = append(seen, place)
			if _, err := l.machine.Find(s, name); err != nil {
				all = append(all, missing("program", l.get(name, err), "%s is not there (%s)", name, reason(err)))
			} else {
				there = append(there, name)
			}
		}
	}
	for _, s := range l.servers {
		look(s.Server, s.programs()...)
		if len(s.calls) == 0 {
			all = append(all, note("program", "arm %s: which programs its command runs is not known", s.arm))
		}
		if s.underMPS() {
			look(&sweep.Server{}, mpsControl)
		}
	}
	for _, call := range calls(l.plan.Between.Command, l.machine.Getenv) {
		look(&sweep.Server{}, programsOf(call)...)
	}
	for _, n := range l.needs() {
		look(&sweep.Server{}, n.Programs...)
		if len(n.Python) > 0 {
			look(&sweep.Server{}, l.python())
		}
	}
	if l.plan.Any(func(p *loadgen.Plan) bool { return p.Watch.GPU == nvidiaSMI }) && !l.wantsGPU() {
		look(&sweep.Server{}, nvidiaSMI)
	}
	if len(there) > 0 {
		all = append(all, fine("program", "%s", strings.Join(unique(there), ", ")))
	}
	return all
}

// reason is an error about a program in a few words.
func reason(err error) string {
	switch {
	case errors.Is(err, fs.ErrPermission):
		return "it is not executable"
	case errors.Is(err, fs.ErrNotExist):
		return "no such file"
	}
	text := err.Error()
	if _, after, ok := strings.Cut(text, "executable file not found in "); ok {
		return "not in " + strings.TrimPrefix(after, "$")
	}
	return text
}

// get is how to get a program.
func (l *look) get(name string, err error) string {
	switch {
	case errors.Is(err, fs.ErrPermission):
		return "chmod +x " + name
	case strings.Contains(name, "/"):
		return "paths are relative to the folder of the experiment's file"
	case name == "vllm":
		for _, n := range l.needs() {
			if r := releases(n.VLLM); r != (releases{}) {
				return r.install()
			}
		}
		return releases{}.install()
	case name == mpsControl || name == nvidiaSMI:
		return "it comes with NVIDIA's driver for Linux"
	case name == "python3":
		return "install Python, or name another one by PYTHON"
	}
	return "install it, or put its folder into PATH"
}
