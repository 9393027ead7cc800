package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/servebench/servebench/tools/peers/truth"
)

// A result is one client's run of one measurement.
type result struct {
	Measurement string      `json:"measurement"`
	Client      string      `json:"client"`
	CPU         float64     `json:"cpu"`    // seconds of the whole process
	Memory      float64     `json:"memory"` // the largest, in MB
	Wait        float64     `json:"wait"`   // milliseconds from its start to its first request
	Others      float64     `json:"others"` // share of the client's core
	Figures     figures     `json:"figures"`
	Truth       truth.Truth `json:"truth"`
	Unmarked    float64     `json:"unmarked"` // error of P99 ITL of unmarked chunks, in ms
	Unit        float64     `json:"unit"`     // µs of CPU that one more costs
	Error       string      `json:"error"`    // why there are no figures
}

// A bench runs clients on one core, or on any, and the server on another.
type bench struct {
	self, dir, tokenizer string
	clientCPU, serverCPU int
	realTime             []string // begins the server's command
}

// longest is how long one run may take.
const longest = time.Minute

// anyCPU lets the kernel choose where a process runs, and Go on how many cores.
const anyCPU = -1

// measure runs a client, twice if the measurement has a smaller load.
func (b *bench) measure(m measurement, c client) result {
	r, err := b.run(m.load, c)
	if err == nil && m.less != nil {
		var few result
		if few, err = b.run(*m.less, c); err == nil {
			units := r.Truth.Requests - few.Truth.Requests
			if units == 0 {
				units = r.Truth.Chunks - few.Truth.Chunks
			}
			r.Unit = (r.CPU - few.CPU) / float64(units) * 1e6
		}
	}
	if err != nil {
		r = result{Error: err.Error()}
	}
	r.Measurement, r.Client = m.name, c.name
	return r
}

// run runs a client once.
func (b *bench) run(l load, c client) (r result, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), longest)
	defer cancel()
	dir, err := os.MkdirTemp(b.dir, "run")
	if err != nil {
		return r, err
	}
	defer os.RemoveAll(dir)
	server, err := b.serve(ctx, l.Script)
	if err != nil {
		return r, err
	}
	args := c.args(l, place{"http://127.0.0.1:" + strconv.Itoa(server.port), b.tokenizer, dir})
	if l.Answers && c.notes {
		args = append(args, "-o", filepath.Join(dir, streamFile))
	}
	before, began := coreTime(b.clientCPU), time.Now()
	used, err := b.watch(ctx, args)
	took, busy := time.Since(began), coreTime(b.clientCPU)-before
	r.CPU, r.Memory = used.cpu.Seconds(), used.memory
	r.Others = max(0, (busy-used.cpu).Seconds()/took.Seconds())
	seen, stopped := server.end()
	if err := errors.Join(err, stopped); err != nil {
		return r, err
	}
	r.Truth, r.Wait = seen, float64(seen.FirstNS-began.UnixNano())/1e6
	if r.Figures, err = c.read(dir); err != nil {
		return r, err
	}
	if l.Answers && c.notes {
		if r.Unmarked, err = unmarkedIn(dir, seen.Answers); err != nil {
			return r, err
		}
	}
	r.Truth.Answers = nil
	if seen.Requests != l.Requests || seen.Failures > 0 || r.Figures.Completed != l.Requests {
		err = fmt.Errorf("of %d requests, %d arrived, %d answers failed, and the client counted %d", l.Requests,
			seen.Requests, seen.Failures, r.Figures.Completed)
	}
	return r, err
}

// A used is what a client used.
type used struct {
	cpu    time.Duration
	memory float64 // MB
}

// watch runs a command where clients run, and measures it with its children.
func (b *bench) watch(ctx context.Context, args []string) (u used, err error) {
	cmd := pinned(ctx, b.clientCPU, args)
	talk, err := os.CreateTemp(b.dir, "talk")
	if err != nil {
		return u, err
	}
	defer os.Remove(talk.Name())
	defer talk.Close()
	cmd.Stdout, cmd.Stderr = talk, talk
	cmd.Env = append(os.Environ(), "VLLM_TARGET_DEVICE=cpu", "VLLM_NO_USAGE_STATS=1", "HF_HUB_OFFLINE=1", "HF_HOME="+
		b.cache(),
		"AIPERF_DATASET_MMAP_CACHE_ENABLED=false") // each run makes its prompts
	if err := cmd.Start(); err != nil {
		return u, err
	}
	prefer(cmd.Process.Pid)
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for tick := time.Tick(20 * time.Millisecond); ; {
		select {
		case <-tick:
			u.memory = max(u.memory, peakMemory(cmd.Process.Pid))
			continue
		case err = <-ended:
		}
		break
	}
	if err != nil {
		said, _ := os.ReadFile(talk.Name())
		err = fmt.Errorf("%s: %w: %s", filepath.Base(args[0]), err, said[max(0, len(said)-500):])
	}
	u.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return u, err
}

// pinned is a command on one core or on any, in its own session. It ends with ctx.
func pinned(ctx context.Context, cpu int, args []string) *exec.Cmd {
	if cpu != anyCPU {
		args = append([]string{"taskset", "-c", strconv.Itoa(cpu)}, args...)
	}
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	return cmd
}

// prefer gives a process, and with it its session, precedence over others, if this is allowed.
func prefer(pid int) {
	_ = syscall.Setpriority(syscall.PRIO_PROCESS, pid, -20)
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/autogroup", pid), []byte("-20"), 0)
}

// peakMemory is the sum of the largest memory of a process and its descendants, in MB.
func peakMemory(pid int) (mb float64) {
	folder := filepath.Join("/proc", strconv.Itoa(pid))
	status, _ := os.ReadFile(filepath.Join(folder, "status"))
	if _, rest, ok := strings.Cut(string(status), "VmHWM:"); ok {
		kb, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
		n, _ := strconv.ParseFloat(kb, 64)
		mb = n * 1024 / 1e6
	}
	children, _ := os.ReadFile(filepath.Join(folder, "task", strconv.Itoa(pid), "children"))
	for child := range strings.FieldsSeq(string(children)) {
		if n, err := strconv.Atoi(child); err == nil {
			mb += peakMemory(n)
		}
	}
	return mb
}

// coreTime is how long a core has been busy.
func coreTime(cpu int) time.Duration {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0
	}
	_, line, _ := strings.Cut(string(text), fmt.Sprintf("\ncpu%d ", cpu))
	var ticks [8]int64 // user, nice, system, idle, iowait, irq, softirq, steal: see proc_stat(5)
	for i, field := range strings.Fields(line)[:min(8, len(strings.Fields(line)))] {
		ticks[i], _ = strconv.ParseInt(field, 10, 64)
	}
	return time.Duration(ticks[0]+ticks[1]+ticks[2]) * 10 * time.Millisecond
}

// A running is a server in its process.
type running struct {
	cmd    *exec.Cmd
	stdin  io.Closer
	stdout *bufio.Reader
	port   int
}

// serve starts a server.
func (b *bench) serve(ctx context.Context, s truth.Script) (*running, error) {
	text, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	cmd := pinned(ctx, b.serverCPU, append(slices.Clone(b.realTime), b.self, "serve", string(text)))
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting the server: %w", err)
	}
	prefer(cmd.Process.Pid)
	r := &running{cmd, stdin, bufio.NewReader(stdout), 0}
	if _, err := fmt.Fscanln(r.stdout, &r.port); err != nil {
		return nil, errors.Join(fmt.Errorf("reading the server's port: %w", err), stdin.Close(), cmd.Wait())
	}
	return r, nil
}

// end stops the server and returns what it saw.
func (r *running) end() (t truth.Truth, err error) {
	err = r.stdin.Close()
	err = errors.Join(err, json.NewDecoder(r.stdout).Decode(&t), r.cmd.Wait())
	if err != nil {
		err = fmt.Errorf("ending the server: %w", err)
	}
	return t, err
}
