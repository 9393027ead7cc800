package trust

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect/gpus"
	"github.com/servebench/servebench/metrics/gpu"
	"github.com/servebench/servebench/metrics/samples"
	"github.com/servebench/servebench/metrics/verdict"
)

// clocked is s with 1000 samples of GPU 0, which nothing slowed down, and of GPU 1, of which so many
// had these reasons.
func clocked(s *metrics.Summary, n int, slow float64, reasons gpu.Reasons) {
	all := make([][]gpu.Reasons, n)
	for i := range all {
		all[i] = []gpu.Reasons{0x2, 0}
		if i < int(slow) {
			all[i][1] = reasons
		}
	}
	sampled(s, all...)
}

// sampled is s with samples, each of which has the reasons of GPU 0, GPU 1 and so on.
func sampled(s *metrics.Summary, all ...[]gpu.Reasons) {
	c := metrics.NewCollector(s.Header, gpus.Kind)
	for _, reasons := range all {
		one := &samples.Sample{At: s.Header.Began()}
		for i := range reasons {
			one.GPUs = append(one.GPUs, samples.GPU{Index: i, Reasons: &reasons[i]})
		}
		c.AddSample(one)
	}
	for kind, aspect := range metrics.Aspects(c.Summary(1)) {
		s.Give(kind, aspect)
	}
}

// onGPU is s with a process of the server on GPU-a, and others.
func onGPU(s *metrics.Summary, others ...gpu.Process) {
	s.Evidence.GPU = &gpu.State{Processes: append([]gpu.Process{{GPU: "GPU-a", PID: 7, Name: "server", Owner: gpu.Server}}, others...)}
}

// foreign is a process of someone else.
func foreign(on string, pid int) gpu.Process {
	return gpu.Process{GPU: on, PID: pid, Name: "python3", Owner: gpu.Foreign, Memory: new(12034.0), First: time.Second, Last: 9 * time.Second}
}

// served is s with what MPS said before and after the load.
func served(s *metrics.Summary, looks ...gpu.MPS) {
	for i := range looks {
		looks[i].Pipe, looks[i].Variable, looks[i].When = "/pipe", "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=50", []string{gpu.Before, gpu.After}[i]
	}
	s.Evidence.GPU = &gpu.State{MPS: looks}
}

func mpsServer(status string, ours, clients, hidden int) gpu.MPS {
	return gpu.MPS{Servers: []gpu.MPSServer{{PID: 77, Status: status, Ours: ours, Clients: clients, Hidden: hidden}}}
}

var gpuFaults = []fault{
	{"GPU slowdown", 50, 51, func(s *metrics.Summary, v float64) { clocked(s, 1000, v, 0x20) }, "GPU 1 was slowed down in 5.10 % of 1000 samples under load: software thermal slowdown (limit 5.00 %)"},
	{"GPU slowdown", 50, 51, func(s *metrics.Summary, v float64) { clocked(s, 1000, v, 0x48) }, "hardware thermal slowdown"},
	{"GPU slowdown", 50, 51, func(s *metrics.Summary, v float64) { clocked(s, 1000, v, 0x88) }, "hardware power brake"},
	{"GPU slowdown", 50, 51, func(s *metrics.Summary, v float64) { clocked(s, 1000, v, 0x8) }, "hardware slowdown"},
	{"GPU slowdown", 1, 2, func(s *metrics.Summary, v float64) { clocked(s, 10, v, 0x20) }, "20.0 % of 10 samples under load: software thermal slowdown (limit 10.0 %)"},
	{"GPU power cap", 500, 501, func(s *metrics.Summary, v float64) { clocked(s, 1000, v, 0x4) }, "GPU 1 was at its power cap in 50.1 % of 1000 samples under load (limit 50.0 %)"},
	{"foreign processes", 0, 1, func(s *metrics.Summary, v float64) {
		onGPU(s, foreign("GPU-b", 8), gpu.Process{GPU: "GPU-a", PID: 6, Owner: gpu.Hidden})
		if v > 0 {
			onGPU(s, foreign("GPU-a", 9))
		}
	}, "1 foreign process on the GPU of the server: 9 python3 with 12034 MiB, seen from 1.0 to 9.0 s"},
	{"foreign processes", 0, 4, func(s *metrics.Summary, v float64) {
		onGPU(s)
		for pid := range int(v) {
			onGPU(s, append(s.Evidence.GPU.Processes[1:], foreign("GPU-a", pid))...)
		}
	}, "4 foreign processes on the GPU of the server: 0 python3 with"},
	{"MPS fault", 0, 1, func(s *metrics.Summary, v float64) {
		served(s, mpsServer("ACTIVE", 1, 2, 0), mpsServer([]string{"ACTIVE", gpu.Fault}[int(v)], 1, 2, 0))
	}, "MPS server 77 was in fault after the load: its clients fail"},
	{"MPS clients", 1, 0, func(s *metrics.Summary, v float64) {
		served(s, mpsServer("ACTIVE", 1, 2, 0), mpsServer("", int(v), 2, 0))
	}, "0 of 2 clients of the MPS daemon at /pipe were the server's after the load: the server ran without MPS in spite of CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=50"},
	{"MPS clients", 1, 0, func(s *metrics.Summary, v float64) {
		if served(s, mpsServer("ACTIVE", 1, 1, 0)); v == 0 {
			served(s, gpu.MPS{Absent: "Cannot find MPS control daemon process"})
		}
	}, "no MPS daemon answered at /pipe before the load (Cannot find MPS control daemon process): the server ran without MPS in spite of"},
}

// Idle clocks, applications clocks and the like slow nothing down unasked.
func TestOrdinaryReasonsAreNoSlowdown(t *testing.T) {
	s := clean()
	all := make([][]gpu.Reasons, 1000)
	for i := range all {
		all[i] = []gpu.Reasons{0x2, 0x2 | 0x10 | 0x100, 0x1} // the last is idle throughout
	}
	sampled(s, all...)
	if Judge(s); s.Trust.Verdict != verdict.Valid {
		t.Errorf("%s: %v", s.Trust.Verdict, failing(s))
	}
}

func TestRemediesForGPUs(t *testing.T) {
	const (
		cooler  = "let the GPU cool down, check its fans, or lower its clocks (nvidia-smi -lgc)"
		powered = "check the power supply of the machine"
	)
	for _, row := range []struct {
		reasons gpu.Reasons
		remedy  string
	}{{0x20, cooler}, {0x40, cooler}, {0x80, powered}, {0x88, powered}} {
		s := clean()
		clocked(s, 10, 10, row.reasons)
		if Judge(s); s.Trust.Failed()[0].Remedy != row.remedy {
			t.Errorf("%s: %s", row.reasons, s.Trust.Failed()[0].Remedy)
		}
	}
}

// What nobody can see is a note, and accuses nobody.
func TestWhatGPUsHideIsANote(t *testing.T) {
	hidden := gpu.Process{GPU: "GPU-a", PID: 6, Owner: gpu.Hidden}
	for says, set := range map[string]func(s *metrics.Summary){
		"nvidia-smi does not know x":                                        func(s *metrics.Summary) { s.Evidence.GPU = &gpu.State{Notes: []string{"nvidia-smi does not know x"}} },
		"1 process on the GPU with an id that this machine does not show":   func(s *metrics.Summary) { onGPU(s, hidden) },
		"2 processes on the GPU with an id that this machine does not show": func(s *metrics.Summary) { s.Evidence.GPU = &gpu.State{Processes: []gpu.Process{hidden, hidden}} },
		"nobody knows whether these are: 9 python3 with 12034 MiB, seen from 1.0 to 9.0 s": func(s *metrics.Summary) {
			s.Evidence.GPU = &gpu.State{Processes: []gpu.Process{foreign("GPU-a", 9)}}
		},
		"before the load, nobody knows whether the server ran under MPS (CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=50): no such program": func(s *metrics.Summary) {
			served(s, gpu.MPS{Unknown: "no such program"})
		},
		"before the load, 2 of 2 clients of MPS have ids that this machine does not show": func(s *metrics.Summary) {
			served(s, mpsServer("ACTIVE", 0, 2, 2))
		},
	} {
		s := clean()
		set(s)
		Judge(s)
		if s.Trust.Verdict != verdict.Valid || !slices.ContainsFunc(s.Trust.Notes, func(n string) bool { return strings.Contains(n, says) }) {
			t.Errorf("%s: %v, notes %q, want %q", s.Trust.Verdict, failing(s), s.Trust.Notes, says)
		}
	}
}
