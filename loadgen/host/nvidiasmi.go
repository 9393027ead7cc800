package host

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/servebench/servebench/loadgen/watch"
	"github.com/servebench/servebench/metrics/samples"
)

// smiArgs are the arguments of nvidia-smi: https://docs.nvidia.com/deploy/nvidia-smi/index.html.
var smiArgs = []string{
	"--query-gpu=index,memory.used,memory.total,utilization.gpu,power.draw", "--format=csv,noheader,nounits",
}

// maxSMILine bounds a line of nvidia-smi, in bytes.
const maxSMILine = 4096

// NvidiaSMI runs the program of that name.
type NvidiaSMI struct {
	Path string // of the program
	Only string // indexes of the GPUs to look at, as 0,1; empty for all

	// Reasons is the driver's name of the reasons that slow a GPU down: see WithReasons. Empty if they
	// are not asked for.
	Reasons string
	// Instant asks for the power of the moment, power.draw.instant. Many drivers report the mean of the
	// last second as power.draw; older ones have only that.
	Instant bool
}

// GPUs runs it once and returns what the GPUs of this machine do. There is at least one.
func (n NvidiaSMI) GPUs(ctx context.Context) ([]samples.GPU, error) {
	lines := &smiLines{}
	var gpus []samples.GPU
	lines.found = func(g samples.GPU) { gpus = append(gpus, g) }
	err := n.run(ctx, lines)
	if err == nil && gpus == nil {
		err = errors.New("nvidia-smi knows no GPU" + lines.said())
	}
	return gpus, err
}

// Sample is a watch.Sampler of that number of GPUs, which GPUs returned. One process of nvidia-smi
// reports at the interval until ctx ends.
func (n NvidiaSMI) Sample(gpus int, every time.Duration) watch.Sampler {
	return func(ctx context.Context, epoch time.Time, take func(*samples.Sample)) {
		r := smiRound{gpus: gpus, epoch: epoch, take: take}
		lines := &smiLines{found: r.add}
		err := n.run(ctx, lines, "-lms", strconv.FormatInt(every.Milliseconds(), 10))
		if ctx.Err() == nil {
			err = cmp.Or(err, errors.New("nvidia-smi ended"+lines.said()))
			take(&samples.Sample{At: time.Since(epoch), Error: err.Error()})
		}
	}
}

func (n NvidiaSMI) run(ctx context.Context, lines *smiLines, more ...string) error {
	args := append(slices.Clone(smiArgs), more...)
	if n.Instant {
		args[0] = strings.Replace(args[0], "power.draw", "power.draw.instant", 1)
	}
	if n.Reasons != "" {
		args[0] += "," + n.Reasons
	}
	cmd := n.command(ctx, lines, args...)
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("nvidia-smi: %w%s", err, lines.said())
	}
	return nil
}

func (n NvidiaSMI) command(ctx context.Context, to io.Writer, args ...string) *exec.Cmd {
	if n.Only != "" {
		args = append(args, "--id="+n.Only)
	}
	cmd := exec.CommandContext(ctx, n.Path, args...)
	cmd.Stdout, cmd.Stderr = to, to
	// Do not wait for processes that it may have started.
	cmd.WaitDelay = time.Second
	return cmd
}

// smiRound collects what nvidia-smi reports for one GPU after the other.
type smiRound struct {
	gpus  int
	epoch time.Time
	take  func(*samples.Sample)
	whole *samples.Sample // so far; nil before the first GPU
}

func (r *smiRound) add(g samples.GPU) {
	if r.whole != nil && slices.ContainsFunc(r.whole.GPUs,
		func(of samples.GPU) bool { return of.Index == g.Index }) {
		r.whole = nil // one of its lines was lost
	}
	if r.whole == nil {
		r.whole = &samples.Sample{At: time.Since(r.epoch)}
	}
	r.whole.GPUs = append(r.whole.GPUs, g)
	if len(r.whole.GPUs) == r.gpus {
		r.take(r.whole)
		r.whole = nil
	}
}

// smiLines parses what nvidia-smi writes.
type smiLines struct {
	found func(samples.GPU)
	line  []byte
	other head // lines that are not about a GPU
}

// Write takes a part of the output.
func (l *smiLines) Write(text []byte) (int, error) {
	for line := range bytes.Lines(text) {
		l.line = append(l.line, line[:min(len(line), maxSMILine-len(l.line))]...)
		if line[len(line)-1] != '\n' {
			break
		}
		if g, ok := parseSMI(string(l.line)); ok {
			l.found(g)
		} else {
			l.other.Write(l.line)
		}
		l.line = l.line[:0]
	}
	return len(text), nil
}

// said is what else nvidia-smi printed, to append to an error.
func (l *smiLines) said() string {
	text := strings.Join(strings.Fields(string(l.other)+string(l.line)), " ")
	if text == "" {
		return ""
	}
	return ": " + text
}

// A head keeps the beginning of what is written to it.
type head []byte

func (h *head) Write(text []byte) (int, error) {
	const most = 300
	*h = append(*h, text[:min(len(text), most-len(*h))]...)
	return len(text), nil
}

// parseSMI reads `0, 1024, 81559, 35, 120.50`, and perhaps `, 0x0000000000000004`. A value that
// nvidia-smi does not know, as [N/A] or [Not Supported], is nil, and so is a total of 0.
func parseSMI(line string) (g samples.GPU, ok bool) {
	fields := strings.Split(line, ",")
	if len(fields) != 5 && len(fields) != 6 {
		return g, false
	}
	index, err := strconv.Atoi(strings.TrimSpace(fields[0]))
	if err != nil || index < 0 {
		return g, false
	}
	g.Index = index
	for i, to := range []**float64{&g.MemoryUsed, &g.MemoryTotal, &g.Utilization, &g.Power} {
		v, err := strconv.ParseFloat(strings.TrimSpace(fields[i+1]), 64)
		if err == nil && v >= 0 && !math.IsInf(v, 0) {
			*to = &v
		}
	}
	if g.MemoryTotal != nil && *g.MemoryTotal == 0 {
		g.MemoryTotal = nil // of a GPU that shares the memory of the machine
	}
	if g.Utilization != nil {
		*g.Utilization /= 100
	}
	if len(fields) == 6 {
		g.Reasons = parseReasons(fields[5])
	}
	return g, true
}
