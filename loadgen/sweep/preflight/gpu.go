package preflight

import (
	"encoding/csv"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/servebench/servebench/loadgen/sweep"
)

// A gpu is what nvidia-smi says of one. It may not know the memory, as of a GPU that shares the
// machine's: total is then 0.
type gpu struct {
	index, uuid, name string
	total, free       float64 // bytes
	freeKnown         bool
	driver            string
	mig, mode         string // as nvidia-smi writes them
}

const mebibyte = 1 << 20

func (g gpu) String() string { return "GPU " + g.index }

// wantsGPU reports whether the experiment is for a GPU: it says so, or it starts a vLLM that is not the
// build for CPUs.
func (l *look) wantsGPU() bool {
	return slices.ContainsFunc(l.needs(), func(n need) bool { return n.GPU != sweep.GPUNeeds{} }) ||
		slices.ContainsFunc(l.engines, func(e engine) bool { return !strings.HasSuffix(e.version, "+cpu") })
}

// readGPUs asks nvidia-smi, if the experiment is for a GPU.
func (l *look) readGPUs() {
	if !l.wantsGPU() {
		return
	}
	path, err := l.machine.Find(&sweep.Server{}, nvidiaSMI)
	if err != nil {
		l.noGPU = nvidiaSMI + " is " + reason(err)
		return
	}
	out, err := l.machine.Run(l.ctx, Command{Words: []string{path, "--format=csv,noheader,nounits",
		"--query-gpu=index,uuid,name,memory.total,memory.free,driver_version,mig.mode.current,compute_mode"}})
	if err != nil {
		l.noGPU = nvidiaSMI + ": " + err.Error()
		return
	}
	r := csv.NewReader(strings.NewReader(out))
	r.TrimLeadingSpace = true
	rows, err := r.ReadAll()
	for _, row := range rows {
		if len(row) == 8 {
			g := gpu{index: row[0], uuid: row[1], name: row[2], driver: row[5], mig: row[6], mode: row[7]}
			g.total, _ = mebibytes(row[3])
			g.free, g.freeKnown = mebibytes(row[4])
			l.gpus = append(l.gpus, g)
		}
	}
	if l.gpus == nil {
		l.noGPU = fmt.Sprintf("%s names none (%v)", nvidiaSMI, err)
	}
}

// mebibytes is a number of them in bytes. It is not known if the driver says [N/A] or [Not Supported].
func mebibytes(text string) (bytes float64, known bool) {
	n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || math.IsNaN(n) || math.IsInf(n, 0) || n < 0 {
		return 0, false
	}
	return n * mebibyte, true
}

// memory is how much memory the GPU has, in words.
func (g gpu) memory() string {
	if g.total == 0 {
		return "memory that nvidia-smi does not know"
	}
	return fmt.Sprintf("%.0f GB", g.total/1e9)
}

// of are the GPUs that a server takes: from CUDA_VISIBLE_DEVICES, or the first ones.
func (l *look) of(s *server) []gpu {
	visible := l.gpus
	if text := s.getenv("CUDA_VISIBLE_DEVICES"); text != "" {
		visible = nil
		for name := range strings.SplitSeq(text, ",") {
			i := slices.IndexFunc(l.gpus, func(g gpu) bool { return g.index == name || strings.HasPrefix(g.uuid, name) })
			if i >= 0 {
				visible = append(visible, l.gpus[i])
			}
		}
	}
	n := int(s.number("tensor-parallel-size", s.number("tp", 1)) * s.number("pipeline-parallel-size", s.number("pp", 1)))
	return visible[:min(len(visible), max(n, 1))]
}

// used are the GPUs of all servers, or the first one.
func (l *look) used() []gpu {
	var all []gpu
	for _, s := range l.servers {
		for _, g := range l.of(s) {
			if !slices.Contains(all, g) {
				all = append(all, g)
			}
		}
	}
	if all == nil {
		all = l.gpus[:min(len(l.gpus), 1)]
	}
	return all
}

// gpuThere checks that there is a GPU, and its memory and driver.
func gpuThere(l *look) (all []Finding) {
	if !l.wantsGPU() {
		return nil
	}
	if l.noGPU != "" {
		remedy := "check again where a GPU and NVIDIA's driver are"
		if wanted := l.wanted(); wanted != nil {
			remedy += "; it is to have " + strings.Join(wanted, ", ")
		}
		return []Finding{missing("GPU", remedy, "no GPU is seen, as %s", l.noGPU)}
	}
	used := l.used()
	if len(used) == 0 {
		return []Finding{missing("GPU", "set CUDA_VISIBLE_DEVICES to indexes of nvidia-smi", "no server has a GPU that is "+
			"there")}
	}
	for _, g := range used {
		all = append(all, fine("GPU", "%v is %s with %s, driver %s", g, g.name, g.memory(), g.driver))
		for _, n := range l.needs() {
			all = append(all, g.lacks(n)...)
		}
	}
	return all
}

// lacks are the memory and the driver that a need asks for and the GPU does not have, or may not have.
func (g gpu) lacks(n need) (all []Finding) {
	switch {
	case n.GPU.Memory == 0:
	case g.total == 0:
		all = append(all, note("GPU", "nvidia-smi does not know how many GB %v has, which may share the machine's memory: "+
			"%g are needed%s", g, n.GPU.Memory, n.who))
	case g.total < n.GPU.Memory*1e9:
		all = append(all, missing("GPU", "take a larger one", "%v has %.0f GB, %g GB are needed%s", g, g.total/1e9,
			n.GPU.Memory, n.who))
	}
	switch {
	case n.GPU.Driver == 0:
	case !numbered(g.driver):
		all = append(all, note("GPU", "whether %v has driver %d or newer is not known: nvidia-smi says %q%s", g,
			n.GPU.Driver, g.driver, n.who))
	case numbers(g.driver)[0] < n.GPU.Driver:
		all = append(all, missing("GPU", "update it", "%v has driver %s, %d or newer is needed%s", g, g.driver, n.GPU.Driver,
			n.who))
	}
	return all
}

// wanted is what the GPU has to have, in words.
func (l *look) wanted() (all []string) {
	for _, n := range l.needs() {
		if n.GPU.Memory > 0 {
			all = append(all, fmt.Sprintf("%g GB or more%s", n.GPU.Memory, n.who))
		}
		if n.GPU.SMs > 0 {
			all = append(all, fmt.Sprintf("%d SMs%s", n.GPU.SMs, n.who))
		}
		if n.GPU.Driver > 0 {
			all = append(all, fmt.Sprintf("driver %d or newer%s", n.GPU.Driver, n.who))
		}
	}
	return all
}

// gpuModes checks that processes may share the GPUs.
func gpuModes(l *look) (all []Finding) {
	for _, g := range l.used() {
		if g.mig == "Enabled" {
			all = append(all, missing("GPU", "as root: nvidia-smi -i "+g.index+" -mig 0", "%v is divided by MIG", g))
		}
		several := l.severalPlain(g)
		if g.mode == "Prohibited" || g.mode == "Exclusive_Process" && several != "" {
			all = append(all, missing("GPU", "as root: nvidia-smi -i "+g.index+" -c DEFAULT", "%v has compute mode %s%s", g,
				g.mode, several))
		}
	}
	return all
}

// severalPlain names an arm with several servers on a GPU without MPS.
func (l *look) severalPlain(g gpu) string {
	for _, a := range l.plan.Arms {
		n := 0
		for _, s := range l.servers {
			if s.arm == a.Name && !s.underMPS() && slices.Contains(l.of(s), g) {
				n++
			}
		}
		if n > 1 {
			return fmt.Sprintf(", and arm %s has %d servers on it without MPS", a.Name, n)
		}
	}
	return ""
}
