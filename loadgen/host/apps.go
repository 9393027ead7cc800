package host

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/servebench/servebench/loadgen/watch"
	"github.com/servebench/servebench/metrics/gpu"
	"github.com/servebench/servebench/metrics/samples"
)

// appArgs are the arguments of nvidia-smi for the processes that compute.
var appArgs = []string{"--query-compute-apps=gpu_uuid,pid,used_gpu_memory", "--format=csv,noheader,nounits"}

// lastLook bounds the look at the processes after the load.
const lastLook = 5 * time.Second

// An AppWatch notes which processes compute on the GPUs of this machine. Sample is its sampler, and Seen what it saw.
type AppWatch struct {
	SMI NvidiaSMI

	// Owner says whose a process is. It is called once for each process of each GPU, when it is first seen.
	Owner func(pid int) gpu.Owner

	mu      sync.Mutex
	epoch   time.Time
	apps    []gpu.Process
	trouble string
}

// Sample is a sampler that asks nvidia-smi at the interval, in one process, and once more at the end. It takes no
// samples.
func (w *AppWatch) Sample(every time.Duration) watch.Sampler {
	return func(ctx context.Context, epoch time.Time, _ func(*samples.Sample)) {
		w.epoch = epoch
		w.during(ctx, every)
		<-ctx.Done()
		w.after(context.WithoutCancel(ctx))
	}
}

// during looks until the end of ctx, or of nvidia-smi.
func (w *AppWatch) during(ctx context.Context, every time.Duration) {
	err := w.look(ctx, "-lms", strconv.FormatInt(every.Milliseconds(), 10))
	if ctx.Err() == nil {
		w.trouble = cmp.Or(err, errors.New("nvidia-smi ended")).Error()
	}
}

// after looks once.
func (w *AppWatch) after(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, lastLook)
	defer cancel()
	if err := w.look(ctx); err != nil {
		w.trouble = cmp.Or(w.trouble, err.Error())
	}
}

// Seen returns the processes that were seen, once the sampler has ended. If some may be missing, it adds a note.
func (w *AppWatch) Seen(notes []string) ([]gpu.Process, []string) {
	if w.trouble != "" {
		notes = append(notes, "not all processes on the GPUs may have been seen: "+w.trouble)
	}
	return w.apps, notes
}

// OwnerAmong says whose a process is, by the processes of the servers. Under MPS, its server may
// compute for all of them.
func OwnerAmong(servers []int, mps bool) func(pid int) gpu.Owner {
	family := FamilyOf(servers...)
	return func(pid int) gpu.Owner {
		switch member, known := family.has(pid); {
		case member, mps && isMPS(programOf(pid)):
			return gpu.Server
		case known:
			return gpu.Foreign
		}
		return gpu.Hidden
	}
}

// look runs nvidia-smi until it ends, or until the end of ctx.
func (w *AppWatch) look(ctx context.Context, more ...string) error {
	out, in := io.Pipe()
	var other head
	read := make(chan struct{})
	go func() {
		defer close(read)
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			if app, ok := parseApp(lines.Text()); ok {
				w.note(app)
			} else {
				fmt.Fprintln(&other, lines.Text())
			}
		}
		io.Copy(io.Discard, out) // a line that is too long
	}()
	err := w.SMI.command(ctx, in, slices.Concat(appArgs, more)...).Run()
	in.Close()
	<-read
	if err != nil {
		return fmt.Errorf("nvidia-smi: %w: %s", err, strings.Join(strings.Fields(string(other)), " "))
	}
	return nil
}

// note keeps a process that was seen now.
func (w *AppWatch) note(seen gpu.Process) {
	w.mu.Lock()
	defer w.mu.Unlock()
	at := slices.IndexFunc(w.apps, func(p gpu.Process) bool { return p.GPU == seen.GPU && p.PID == seen.PID })
	now := time.Since(w.epoch)
	if at < 0 {
		seen.Name, seen.Owner, seen.First, seen.Last = programOf(seen.PID), w.Owner(seen.PID), now, now
		w.apps = append(w.apps, seen)
		return
	}
	p := &w.apps[at]
	p.Last = now
	if seen.Memory != nil && (p.Memory == nil || *p.Memory < *seen.Memory) {
		p.Memory = seen.Memory
	}
}

// parseApp reads `GPU-74d43ed3-…, 4242, 1024`. Memory that nvidia-smi does not know, as [N/A], is nil.
func parseApp(line string) (p gpu.Process, ok bool) {
	fields := strings.Split(line, ",")
	if len(fields) != 3 {
		return p, false
	}
	p.GPU = strings.TrimSpace(fields[0])
	pid, err := strconv.Atoi(strings.TrimSpace(fields[1]))
	if err != nil || pid <= 0 || p.GPU == "" {
		return p, false
	}
	p.PID = pid
	if v, err := strconv.ParseUint(strings.TrimSpace(fields[2]), 10, 32); err == nil {
		p.Memory = new(float64(v))
	}
	return p, true
}
